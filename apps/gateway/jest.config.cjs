module.exports = require('../../tools/jest/project.cjs')('gateway', __dirname);
