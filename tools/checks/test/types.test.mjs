/** `npm run typecheck`, with the rules of .oxlintrc.json: finds compile errors, and violations of rules that need types. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const TYPES = { compilerOptions: { strict: true, target: 'es2022', noEmit: true, types: [] } };
const THENABLE = 'declare const request: { then(done: () => void, failed: () => void): void };\nrequest;\n';
const RIGHT = 'export const hatch = async (): Promise<number> => 1;\nvoid hatch();\n';

/** One sample file for each rule. */
const SAMPLES = {
  'src/right.ts': RIGHT,
  'src/mistyped.ts': "export const eggs: number = 'three';\n",
  'src/broken.ts': 'export const eggs = ;\n',
  'src/unawaited.ts': "import { hatch } from './right';\nhatch();\n",
  'src/misused.ts': "import { hatch } from './right';\nexport const laid = hatch() ? 1 : 2;\n",
  'src/waited.ts': 'export const wait = async (): Promise<number> => await 1;\n',
  // Thenables are checked only in tests, because of supertest's requests.
  'src/thenable.ts': `export {};\n${THENABLE}`,
  'test/thenable.ts': `export {};\n${THENABLE}`,
};

/**
 * Runs the check. `output` has lines of the form `file:line:column: message [severity/rule]`.
 * @param {Record<string, string>} files
 */
function checkTypesOf(files) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'rookery-types-')));
  after(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(`${ROOT}node_modules`, join(folder, 'node_modules'));
  for (const [name, text] of Object.entries({ 'tsconfig.json': JSON.stringify(TYPES), ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const { status, stdout } = spawnSync(
    `${ROOT}node_modules/.bin/oxlint`,
    ['--config', `${ROOT}.oxlintrc.json`, '--format', 'unix', 'src', 'test'],
    { cwd: folder, encoding: 'utf8' },
  );
  return { status, output: stdout };
}

describe('types', () => {
  it('find compile errors, and violations of rules that need types', () => {
    const { status, output } = checkTypesOf(SAMPLES);
    assert.equal(status, 1);
    const found = [
      'src/broken.ts:1:21: Expression expected. [Error/typescript(TS1109)]',
      "src/mistyped.ts:1:14: Type 'string' is not assignable to type 'number'. [Error/typescript(TS2322)]",
      'src/misused.ts:2:21: Expected non-Promise value in a boolean conditional. [Error/typescript(no-misused-promises)]',
      "src/misused.ts:2:21: This condition will always return true since this 'Promise<number>' is always defined. [Error/typescript(TS2801)]",
      'src/unawaited.ts:2:1: Promises must be awaited, add void operator to ignore. [Error/typescript(no-floating-promises)]',
      'src/waited.ts:1:56: Unexpected `await` of a non-Promise (non-"Thenable") value. [Error/typescript(await-thenable)]',
      'test/thenable.ts:3:1: Promises must be awaited, add void operator to ignore. [Error/typescript(no-floating-promises)]',
    ];
    assert.deepEqual(output.match(/^.+typescript.+$/gm)?.sort(), found);
  });

  it('accept correct files', () => {
    assert.equal(checkTypesOf({ 'src/right.ts': RIGHT, 'test/right.ts': RIGHT }).status, 0);
  });
});
