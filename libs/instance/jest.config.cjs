module.exports = require('../../tools/jest/project.cjs')('instance', __dirname);
