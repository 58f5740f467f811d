/** Types and lint over one program: each finds what it is there for, and rules that ask for types get them. */
import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { lintOf, typesOf } from '../types-and-lint.mjs';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** What `eslint.config.mjs` has of rules that ask for types. */
const LINT = `import tseslint from '${ROOT}node_modules/typescript-eslint/dist/index.js';
export default tseslint.config({
  files: ['**/*.ts'],
  extends: [tseslint.configs.base],
  languageOptions: { parserOptions: { project: './tsconfig.base.json', tsconfigRootDir: import.meta.dirname } },
  rules: { '@typescript-eslint/no-floating-promises': 'error', eqeqeq: 'warn' },
});`;
const TYPES = {
  compilerOptions: {
    strict: true,
    target: 'es2022',
    incremental: true,
    noEmit: true,
    types: [],
    tsBuildInfoFile: 'built',
  },
  include: ['*.ts'],
};

/** What either is there for, a file each. */
const PLANTED = {
  'right.ts': 'export const hatch = async (): Promise<number> => 1;\nvoid hatch();\n',
  'mistyped.ts': "export const eggs: number = 'three';\n",
  'broken.ts': 'export const eggs = ;\n',
  'unawaited.ts': "import { hatch } from './right';\nhatch();\n",
  'loose.ts': 'export const same = (a: number, b: number) => a == b;\n',
};
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'rookery-types-')));
const configuration = join(folder, 'tsconfig.base.json');
const files = { 'tsconfig.base.json': JSON.stringify(TYPES), 'eslint.config.mjs': LINT, ...PLANTED };
for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
after(() => rmSync(folder, { recursive: true, force: true }));

describe('types and lint', () => {
  // The second look has what the first one has noted down.
  for (const look of ['first', 'second']) {
    it(`tell at the ${look} look what does not compile, and what only a rule with types sees`, async () => {
      const { program, report } = typesOf(configuration);
      assert.match(report, /mistyped\.ts\(1,14\): error TS2322/);
      assert.match(report, /broken\.ts\(1,21\): error TS1109/);
      assert.doesNotMatch(report, /right|unawaited|loose/);
      const lint = await lintOf(folder, program);
      assert.match(lint, /unawaited\.ts\n +2:1 +error .*no-floating-promises/);
      assert.match(lint, /loose\.ts\n +1:\d+ +warning .*eqeqeq/);
      assert.doesNotMatch(lint, /right\.ts|mistyped\.ts/);
    });
  }

  it('tell of a configuration that is none', () => {
    assert.match(typesOf(join(folder, 'no-such.json')).report, /Cannot read file/);
  });
});
