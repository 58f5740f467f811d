module.exports = require('../../tools/jest/project.cjs')('directory', __dirname);
