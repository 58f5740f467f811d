/** `npm run typecheck`, whose rules are in .oxlintrc.json: what does not compile is found, and what only a rule with types sees. */
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

/** What each is there for, a file each. */
const PLANTED = {
  'src/right.ts': RIGHT,
  'src/mistyped.ts': "export const eggs: number = 'three';\n",
  'src/broken.ts': 'export const eggs = ;\n',
  'src/unawaited.ts': "import { hatch } from './right';\nhatch();\n",
  'src/misused.ts': "import { hatch } from './right';\nexport const laid = hatch() ? 1 : 2;\n",
  'src/waited.ts': 'export const wait = async (): Promise<number> => await 1;\n',
  // Of what is like a promise, only the requests of tests are judged.
  'src/thenable.ts': `export {};\n${THENABLE}`,
  'test/thenable.ts': `export {};\n${THENABLE}`,
};

/** Answers what the check says of the files, a line each: `file:line:column: message [severity/rule]`. */
function saidOf(files) {
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
  return { status, said: stdout };
}

describe('types', () => {
  it('tell what does not compile, and what only a rule with types sees', () => {
    const { status, said } = saidOf(PLANTED);
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
    assert.deepEqual(said.match(/^.+typescript.+$/gm).sort(), found);
  });

  it('say nothing of what is right', () => {
    assert.equal(saidOf({ 'src/right.ts': RIGHT, 'test/right.ts': RIGHT }).status, 0);
  });
});
