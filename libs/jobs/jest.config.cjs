module.exports = require('../../tools/jest/project.cjs')('jobs', __dirname);
