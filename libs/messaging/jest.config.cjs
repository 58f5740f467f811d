module.exports = require('../../tools/jest/project.cjs')('messaging', __dirname);
