/** For isolation.test.mjs: spec files as all others, but plain ones, which need no server. */
const { globalSetup, ...project } = require('../project.cjs')('isolation', __dirname);

module.exports = { ...project, testMatch: ['<rootDir>/files/*.spec.cjs'] };
