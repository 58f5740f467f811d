module.exports = require('../../tools/jest/project.cjs')('admin', __dirname);
