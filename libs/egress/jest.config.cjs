module.exports = require('../../tools/jest/project.cjs')('egress', __dirname);
