module.exports = require('../../tools/jest/project.cjs')('persistence', __dirname);
