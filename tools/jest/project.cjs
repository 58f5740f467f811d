/**
 * The jest configuration of each app and library, called from its jest.config.cjs. Sources are transformed by swc, and
 * libraries are read from their sources, so that tests need no build.
 */
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const root = join(__dirname, '../..');
const swc = JSON.parse(readFileSync(join(root, '.swcrc'), 'utf8'));
delete swc.$schema;

/**
 * @param {string} name
 * @param {string} directory
 */
const jestProject = (name, directory) => ({
  displayName: name,
  rootDir: directory,
  testEnvironment: join(root, 'tools/jest/environment.cjs'),
  runtime: join(root, 'tools/jest/runtime.cjs'),
  runner: join(root, 'tools/jest/timed-runner.cjs'),
  testMatch: ['<rootDir>/**/*.{spec,db-spec,api-spec,contract-spec,e2e-spec}.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  transform: { '^.+\\.ts$': ['@swc/jest', { ...swc, swcrc: false, sourceMaps: 'inline' }] },
  moduleNameMapper: { '^@rookery/([a-z0-9-]+)$': join(root, 'libs/$1/src/index.ts') },
  globalSetup: join(root, 'tools/jest/global-setup.cjs'),
  setupFiles: [join(root, 'tools/jest/setup.cjs')],
  testTimeout: 180_000,
});

module.exports = jestProject;
/**
 * The API specs of an app or library, whose requests are calls within one process.
 * @param {string} name
 * @param {string} directory
 */
module.exports.overLocalCalls = (name, directory) => {
  const { setupFiles, ...same } = jestProject(`${name} local`, directory);
  const setup = [...setupFiles, join(__dirname, 'local-calls.cjs')];
  return { ...same, testMatch: ['<rootDir>/test/api/*.api-spec.ts'], setupFiles: setup };
};
