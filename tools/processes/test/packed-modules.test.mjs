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

/**
 * A service with its own installation. It prints the loaded values and, with `stay`, runs until its pack is written.
 * @type {Record<string, string>}
 */
const FILES = {
  'node_modules/.package-lock.json': '{}',
  'node_modules/dep/package.json': '{ "main": "lib/index.js" }',
  'node_modules/dep/lib/index.js': '#!/usr/bin/env node\nexports.at = __filename; exports.text = "früh → spät 🦆";',
  'node_modules/modern/package.json': '{ "type": "module", "exports": "./index.js" }',
  'node_modules/modern/index.js': 'export const kind = "module";',
  'apps/sample/dist/data.json': '{ "value": 7 }',
  'apps/sample/dist/a.js': 'exports.early = true; exports.b = require("./b"); exports.late = true;',
  'apps/sample/dist/b.js':
    'const a = require("./a"); exports.seen = Object.keys(a); exports.fail = () => {\n  throw new Error("b");\n};',
  'apps/sample/dist/main.js': `
    const a = require('./a');
    let line;
    try { a.b.fail(); } catch (error) { line = error.stack.split('\\n')[1]; }
    const { at, text } = require('dep');
    console.log(JSON.stringify({ a, at, text, line, kind: require('modern').kind, value: require('./data').value,
      isMain: require.main === module, resolved: require.resolve('dep'), cached: require.resolve('./b') in require.cache }));
    if (process.argv[2] === 'stay') setInterval(() => { if (require('fs').existsSync(process.argv[3])) process.exit(); }, 20);
  `,
};
/** A modification time in whole seconds, which file systems store exactly. */
const LONG_AGO = 1_700_000_000;
/** @type {string} */
let folder;
/** @type {string} */
let pack;
before(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'rookery-pack-')));
  pack = join(folder, 'node_modules/.cache/rookery/modules/sample.pack');
  for (const [file, text] of Object.entries(FILES)) {
    writeFixture(file, text);
    utimesSync(join(folder, file), LONG_AGO, LONG_AGO);
  }
  mkdirSync(join(folder, 'tools/processes'), { recursive: true });
  copyFileSync(new URL('../packed-modules.cjs', import.meta.url), join(folder, 'tools/processes/packed-modules.cjs'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

/**
 * @param {string} file
 * @param {string} text
 */
function writeFixture(file, text) {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

/** @param {...string} words */
async function startSample(...words) {
  const program = join(folder, 'apps/sample/dist/main.js');
  const preload = ['--no-warnings', '--require', join(folder, 'tools/processes/packed-modules.cjs')];
  const { stdout } = await run(process.execPath, [...preload, program, ...words], { timeout: 60_000 });
  return JSON.parse(stdout);
}

/** Starts the service and lets it run until it has written a pack. */
async function startAndKeep() {
  rmSync(pack, { force: true });
  return startSample('stay', pack);
}

/** @param {string} module */
const fixtureSourceOf = (module) => FILES[`apps/sample/dist/${module}.js`] ?? '';

const startWithoutPack = async () =>
  JSON.parse((await run(process.execPath, ['--no-warnings', join(folder, 'apps/sample/dist/main.js')])).stdout);

test('a start from a pack loads the same modules as one without it, and reads no source', async () => {
  const usual = await startWithoutPack();
  assert.equal(usual.line.includes('apps/sample/dist/b.js:2:9'), true);
  assert.deepEqual(await startAndKeep(), usual);
  assert.deepEqual(await startSample(), usual);
  // The content of the pack is used as long as the file has the same size and time.
  writeFixture('apps/sample/dist/a.js', fixtureSourceOf('a').replace('true', 'null'));
  utimesSync(join(folder, 'apps/sample/dist/a.js'), LONG_AGO, LONG_AGO);
  assert.deepEqual(await startSample(), usual);
});

test('a changed file is read again, and a deleted file is resolved again', async () => {
  writeFixture('apps/sample/dist/a.js', 'exports.early = "changed"; exports.b = require("./b");');
  assert.equal((await startSample()).a.early, 'changed');
  rmSync(join(folder, 'apps/sample/dist/b.js'));
  await assert.rejects(startSample(), /Cannot find module '.\/b'/);
  writeFixture('apps/sample/dist/b.js', fixtureSourceOf('b'));
  writeFixture('apps/sample/dist/a.js', fixtureSourceOf('a'));
  assert.deepEqual(await startSample(), await startWithoutPack());
});

test('another preloaded module may change modules, which are then not taken from the pack', async () => {
  const changing = join(folder, 'changing.cjs');
  writeFileSync(
    changing,
    `const Module = require('node:module');
     const compile = Module.prototype._compile;
     Module.prototype._compile = function (text, name) {
       return compile.call(this, name.endsWith('/a.js') ? text.replace('early = true', 'early = "changed"') : text, name);
     };`,
  );
  const usual = await startAndKeep();
  process.env['NODE_OPTIONS'] = `--require ${changing}`;
  try {
    assert.deepEqual([(await startWithoutPack()).a.early, (await startSample()).a.early], ['changed', 'changed']);
  } finally {
    delete process.env['NODE_OPTIONS'];
  }
  assert.deepEqual(await startSample(), usual);
});

test('a pack of another installation, a damaged pack and a missing pack do not prevent a start', async () => {
  const whole = readFileSync(pack);
  for (const bad of [
    whole.subarray(0, 2),
    whole.subarray(0, whole.length - 5),
    Buffer.from('nonsense'),
    Buffer.alloc(0),
  ]) {
    writeFileSync(pack, bad);
    assert.deepEqual(await startSample(), await startWithoutPack());
  }
  writeFileSync(pack, whole);
  writeFixture('node_modules/dep/package.json', '{ "main": "other.js" }');
  writeFixture('node_modules/dep/other.js', 'exports.at = "other";');
  await delay(20);
  writeFixture('node_modules/.package-lock.json', '{ "changed": 1 }');
  assert.equal((await startSample()).at, 'other');
});

test('the service runs even if no pack can be written', async () => {
  rmSync(dirname(pack), { recursive: true, force: true });
  writeFileSync(dirname(pack), 'a file where the folder should be');
  const program = join(folder, 'apps/sample/dist/main.js');
  const preload = ['--no-warnings', '--require', join(folder, 'tools/processes/packed-modules.cjs')];
  const done = join(folder, 'done');
  setTimeout(() => writeFileSync(done, ''), 11_000);
  await run(process.execPath, [...preload, program, 'stay', done], { timeout: 60_000 });
  assert.equal(existsSync(pack), false);
});
