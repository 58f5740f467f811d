/** For timed.test.mjs: spec files that outlast the time of their run, without servers. */
const { globalSetup, ...project } = require('../project.cjs')('timed', __dirname);

module.exports = {
  ...project,
  testMatch: ['<rootDir>/timed/*.spec.cjs'],
  testSequencer: require.resolve('../spec-order.cjs'),
};
