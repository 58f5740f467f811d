module.exports = require('../../tools/jest/project.cjs')('import', __dirname);
