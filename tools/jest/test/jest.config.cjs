/** For isolation.test.mjs: spec files with the usual configuration, but without servers. */
const { globalSetup, ...project } = require('../project.cjs')('isolation', __dirname);

module.exports = { ...project, testMatch: ['<rootDir>/files/*.spec.cjs'] };
