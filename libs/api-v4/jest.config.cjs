module.exports = require('../../tools/jest/project.cjs')('api-v4', __dirname);
