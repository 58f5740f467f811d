module.exports = require('../../tools/jest/project.cjs')('kernel', __dirname);
