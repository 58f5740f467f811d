/** Journeys wait for whole chains of services: on a busy machine each step may take its whole bound. */
module.exports = {
  ...require('../../tools/jest/project.cjs')('e2e', __dirname),
  setupFilesAfterEnv: ['<rootDir>/support/checked-answers.ts'],
  testTimeout: 300_000,
};
