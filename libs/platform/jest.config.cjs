module.exports = require('../../tools/jest/project.cjs')('platform', __dirname);
