module.exports = require('../../tools/jest/project.cjs')('identity', __dirname);
