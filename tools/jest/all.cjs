/** Every project in one jest run: `npm test`. A single project: `npx jest -c libs/kernel/jest.config.cjs`. */
const { readdirSync, existsSync } = require('node:fs');
const { join } = require('node:path');

const root = join(__dirname, '../..');
module.exports = {
  rootDir: root,
  // A setting of the whole run: jest ignores it in a project.
  testTimeout: 180_000,
  testSequencer: join(__dirname, 'spec-order.cjs'),
  projects: ['libs', 'apps'].flatMap((kind) =>
    readdirSync(join(root, kind))
      .filter((name) => name !== 'e2e')
      .flatMap((name) => ['jest.config.cjs', 'jest.local.config.cjs'].map((file) => join(root, kind, name, file)))
      .filter((config) => existsSync(config)),
  ),
};
