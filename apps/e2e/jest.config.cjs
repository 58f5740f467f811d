const project = require('../../tools/jest/project.cjs')('e2e', __dirname);

/** A stopped service stops all others where all are in one process. */
const IN_SIX_PROCESSES = process.env.TEST_LAYOUT === 'one' ? ['stopped-services'] : [];

/** Journeys wait for whole chains of services: on a busy machine each step may take its whole bound. */
module.exports = {
  ...project,
  testPathIgnorePatterns: [...project.testPathIgnorePatterns, ...IN_SIX_PROCESSES],
  setupFilesAfterEnv: ['<rootDir>/support/checked-answers.ts'],
  testTimeout: 300_000,
  testSequencer: require.resolve('../../tools/jest/spec-order.cjs'),
};
