/** For repeats.test.mjs: spec files that fail, without servers. */
const { globalSetup, ...project } = require('../project.cjs')('failing', __dirname);

module.exports = { ...project, testMatch: ['<rootDir>/failing/*.spec.cjs'] };
