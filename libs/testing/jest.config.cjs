module.exports = require('../../tools/jest/project.cjs')('testing', __dirname);
