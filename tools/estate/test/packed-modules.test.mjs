import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A service of its own installation; it says what it found and, asked to, stays until its modules are kept. */
const FILES = {
  'node_modules/.package-lock.json': '{}',
  'node_modules/dep/package.json': '{ "main": "lib/index.js" }',
  'node_modules/dep/lib/index.js': '#!/usr/bin/env node\nexports.at = __filename; exports.told = "früh → spät 🦆";',
  'node_modules/modern/package.json': '{ "type": "module", "exports": "./index.js" }',
  'node_modules/modern/index.js': 'export const kind = "module";',
  'apps/thing/dist/data.json': '{ "value": 7 }',
  'apps/thing/dist/a.js': 'exports.early = true; exports.b = require("./b"); exports.late = true;',
  'apps/thing/dist/b.js':
    'const a = require("./a"); exports.seen = Object.keys(a); exports.fail = () => {\n  throw new Error("b");\n};',
  'apps/thing/dist/main.js': `
    const a = require('./a');
    let line;
    try { a.b.fail(); } catch (error) { line = error.stack.split('\\n')[1]; }
    const { at, told } = require('dep');
    console.log(JSON.stringify({ a, at, told, line, kind: require('modern').kind, value: require('./data').value,
      isMain: require.main === module, resolved: require.resolve('dep'), cached: require.resolve('./b') in require.cache }));
    if (process.argv[2] === 'stay') setInterval(() => { if (require('fs').existsSync(process.argv[3])) process.exit(); }, 20);
  `,
};
/** Whole seconds, which can be set again. */
const LONG_AGO = 1_700_000_000;
let folder;
let pack;
before(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'rookery-pack-')));
  pack = join(folder, 'node_modules/.cache/rookery/modules/thing.pack');
  for (const [file, text] of Object.entries(FILES)) {
    write(file, text);
    utimesSync(join(folder, file), LONG_AGO, LONG_AGO);
  }
  mkdirSync(join(folder, 'tools/estate'), { recursive: true });
  copyFileSync(new URL('../packed-modules.cjs', import.meta.url), join(folder, 'tools/estate/packed-modules.cjs'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

function write(file, text) {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

async function start(...words) {
  const program = join(folder, 'apps/thing/dist/main.js');
  const preload = ['--no-warnings', '--require', join(folder, 'tools/estate/packed-modules.cjs')];
  const { stdout } = await run(process.execPath, [...preload, program, ...words], { timeout: 60_000 });
  return JSON.parse(stdout);
}

/** Stays until there is a pack. */
async function startAndKeep() {
  rmSync(pack, { force: true });
  return start('stay', pack);
}

const plain = async () =>
  JSON.parse((await run(process.execPath, ['--no-warnings', join(folder, 'apps/thing/dist/main.js')])).stdout);

test('a start from a pack finds what one without it finds, and reads no source', async () => {
  const usual = await plain();
  assert.equal(usual.line.includes('apps/thing/dist/b.js:2:9'), true);
  assert.deepEqual(await startAndKeep(), usual);
  assert.deepEqual(await start(), usual);
  // What is told is the pack's, as long as the file looks as it did.
  write('apps/thing/dist/a.js', FILES['apps/thing/dist/a.js'].replace('true', 'null'));
  utimesSync(join(folder, 'apps/thing/dist/a.js'), LONG_AGO, LONG_AGO);
  assert.deepEqual(await start(), usual);
});

test('a file that changed is read anew, one that went is looked for anew', async () => {
  write('apps/thing/dist/a.js', 'exports.early = "changed"; exports.b = require("./b");');
  assert.equal((await start()).a.early, 'changed');
  rmSync(join(folder, 'apps/thing/dist/b.js'));
  await assert.rejects(start(), /Cannot find module '.\/b'/);
  write('apps/thing/dist/b.js', FILES['apps/thing/dist/b.js']);
  write('apps/thing/dist/a.js', FILES['apps/thing/dist/a.js']);
  assert.deepEqual(await start(), await plain());
});

test('a pack of another installation, a torn one and none at all are no hindrance', async () => {
  const whole = readFileSync(pack);
  for (const bad of [
    whole.subarray(0, 2),
    whole.subarray(0, whole.length - 5),
    Buffer.from('nonsense'),
    Buffer.alloc(0),
  ]) {
    writeFileSync(pack, bad);
    assert.deepEqual(await start(), await plain());
  }
  writeFileSync(pack, whole);
  write('node_modules/dep/package.json', '{ "main": "other.js" }');
  write('node_modules/dep/other.js', 'exports.at = "other";');
  await delay(20);
  write('node_modules/.package-lock.json', '{ "changed": 1 }');
  assert.equal((await start()).at, 'other');
});

test('where no pack can be written, the service runs all the same', async () => {
  rmSync(dirname(pack), { recursive: true, force: true });
  writeFileSync(dirname(pack), 'a file where the folder should be');
  const program = join(folder, 'apps/thing/dist/main.js');
  const preload = ['--no-warnings', '--require', join(folder, 'tools/estate/packed-modules.cjs')];
  const done = join(folder, 'done');
  setTimeout(() => writeFileSync(done, ''), 11_000);
  await run(process.execPath, [...preload, program, 'stay', done], { timeout: 60_000 });
  assert.equal(existsSync(pack), false);
});
