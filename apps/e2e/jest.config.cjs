module.exports = require('../../tools/jest/project.cjs')('e2e', __dirname);
