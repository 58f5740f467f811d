module.exports = require('../../tools/jest/project.cjs')('blobs', __dirname);
