module.exports = require('../../tools/jest/project.cjs')('package', __dirname);
