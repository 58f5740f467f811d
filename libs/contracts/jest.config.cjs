module.exports = require('../../tools/jest/project.cjs')('contracts', __dirname);
