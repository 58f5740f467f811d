/** For repeats.test.mjs: spec files that fail, and need no server. */
const { globalSetup, ...project } = require('../project.cjs')('failing', __dirname);

module.exports = { ...project, testMatch: ['<rootDir>/failing/*.spec.cjs'] };
