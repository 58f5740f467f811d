module.exports = require('../../tools/jest/project.cjs')('git', __dirname);
