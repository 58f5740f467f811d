module.exports = require('../../tools/jest/project.cjs')('collaboration', __dirname);
