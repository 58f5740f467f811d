/** Types and lint over one program: each finds what it is there for, and rules that ask for types get them. */
import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
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

const folders = [];
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** What is told of a file, by both, as the step tells it; and again, when the first look has left its notes. */
async function told(code) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'rookery-types-')));
  folders.push(folder);
  const configuration = join(folder, 'tsconfig.base.json');
  writeFileSync(configuration, JSON.stringify(TYPES));
  writeFileSync(join(folder, 'eslint.config.mjs'), LINT);
  writeFileSync(join(folder, 'egg.ts'), code);
  const looks = [];
  for (const look of [1, 2]) {
    const { program, report } = typesOf(configuration);
    looks[look - 1] = report + (await lintOf(folder, program));
  }
  assert.equal(looks[1], looks[0]);
  return looks[0];
}

describe('types and lint', () => {
  it('say nothing of a file that is right', async () => {
    assert.equal(await told('export const hatch = async (): Promise<number> => 1;\nvoid hatch();\n'), '');
  });

  it('tell what does not compile', async () => {
    assert.match(await told("export const eggs: number = 'three';\n"), /TS2322/);
    assert.match(await told('export const eggs = ;\n'), /TS1109/);
  });

  it('tell what only a rule with types sees', async () => {
    const text = await told('export const hatch = async (): Promise<number> => 1;\nhatch();\n');
    assert.match(text, /no-floating-promises/);
    assert.doesNotMatch(text, /TS\d/);
  });

  it('tell warnings', async () => {
    assert.match(await told('export const same = (a: number, b: number) => a == b;\n'), /eqeqeq/);
  });

  it('tell of a configuration that is none', () => {
    assert.match(typesOf(join(tmpdir(), 'no-such-tsconfig.json')).report, /TS5083|TS6053|Cannot read file/);
  });
});
