import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import {
  describeProcess,
  endProcess,
  freePort,
  freePorts,
  isAlive,
  readRecord,
  tryLock,
  unlock,
  until,
} from '../process-records.mjs';
import { ServiceProcess } from '../service-process.mjs';

const folder = mkdtempSync(join(tmpdir(), 'rookery-processes-'));
after(() => rmSync(folder, { recursive: true }));

function spawnSleeper(script = 'setInterval(() => {}, 1000)') {
  return spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
}

describe('process records', () => {
  it('identify the process to end', async () => {
    const record = describeProcess(spawnSleeper().pid);
    assert.equal(isAlive(record), true);
    await endProcess(record);
    assert.equal(isAlive(record), false);
  });

  it('protect another process with the same id', async () => {
    const child = spawnSleeper();
    await endProcess({ pid: Number(child.pid), mark: 'another start' });
    assert.equal(isAlive(describeProcess(child.pid)), true);
    child.kill('SIGKILL');
  });

  it('end a process that ignores SIGTERM', async () => {
    const child = spawnSleeper(`process.on('SIGTERM', () => {}); console.log('deaf'); setInterval(() => {}, 1000)`);
    await new Promise((resolve) => child.stdout.once('data', resolve));
    const record = describeProcess(child.pid);
    await endProcess(record, { graceMs: 100 });
    assert.equal(isAlive(record), false);
  });
});

describe('a paused process', () => {
  const obedient = `process.on('message', ({ type }) => process.send({ type: type === 'rest' ? 'resting' : 'ready' }))`;
  const failing = `process.on('message', ({ type }) => type === 'rest' ? process.send({ type: 'resting' }) : process.exit(1))`;
  for (const { kind, script, isReplaced } of [
    { kind: 'obedient', script: obedient, isReplaced: false },
    { kind: 'busy', script: `process.on('message', () => {})`, isReplaced: true },
    { kind: 'failing', script: failing, isReplaced: true },
  ])
    it(`is ${isReplaced ? 'replaced' : 'resumed'} when it is ${kind}`, async () => {
      const program = join(folder, `${kind}.cjs`);
      writeFileSync(program, `${script};process.send({ type: 'ready' })`);
      /** @type {string[]} */
      const crashes = [];
      const service = new ServiceProcess({
        name: kind,
        env: {},
        logs: folder,
        program,
        onCrash: (text) => crashes.push(text),
      });
      await service.start();
      const { record } = service;
      await service.rest(200);
      assert.equal(isAlive(record), kind !== 'busy');
      await service.rest(200);
      await service.resume();
      assert.equal(service.pid === record?.pid, !isReplaced);
      assert.equal(isAlive(service.record), true);
      // It is supervised as before.
      process.kill(Number(service.pid), 'SIGKILL');
      const { pid } = service;
      assert.ok(await until(() => service.isReady && service.pid !== pid, 20_000));
      assert.equal(crashes.length, 1);
      await service.stop();
      assert.equal(isAlive(service.record), false);
    });
});

it('a process that was ready is restarted until it is ready again, and one that never was ready is not', async () => {
  const program = join(folder, 'frail.cjs');
  const starts = join(folder, 'starts');
  /** @param {string} fails */
  const frail = (fails) => `const { appendFileSync, statSync } = require('node:fs'); appendFileSync('${starts}', '.');
    if ([${fails}].includes(statSync('${starts}').size)) process.exit(1);
    process.send({ type: 'ready' }); setInterval(() => {}, 1000);`;
  /** @type {string[]} */
  const crashes = [];
  const service = new ServiceProcess({
    name: 'frail',
    env: {},
    logs: folder,
    program,
    onCrash: (text) => crashes.push(text),
  });
  writeFileSync(program, frail('2, 3, 5'));
  await service.start();
  process.kill(Number(service.pid), 'SIGKILL');
  const { pid } = service;
  assert.ok(await until(() => service.isReady && service.pid !== pid, 20_000));
  assert.deepEqual(
    crashes.map((text) => text.split(';')[0]),
    ['it ended with SIGKILL', 'did not become ready: it ended with 1', 'did not become ready: it ended with 1'].map(
      (how, index) => `frail${index === 0 ? ':' : ''} ${how}`,
    ),
  );
  await service.stop();
  await assert.rejects(service.start(), /did not become ready/);
  assert.equal(isAlive(service.record), false);
  assert.equal(crashes.length, 3);
});

it('a process is replaced after its maximum number of resumptions', async () => {
  const program = join(folder, 'mortal.cjs');
  writeFileSync(
    program,
    `process.on('message', ({ type }) => process.send({ type: type === 'rest' ? 'resting' : 'ready' })); process.send({ type: 'ready' })`,
  );
  const service = new ServiceProcess({ name: 'mortal', env: {}, logs: folder, program, mostLives: 2 });
  await service.start();
  const pids = [];
  for (let times = 0; times < 4; times++) {
    pids.push(service.pid);
    await service.rest(5000);
    await service.resume();
  }
  await service.stop();
  assert.deepEqual([pids[0] === pids[1], pids[1] === pids[2], pids[2] === pids[3]], [true, false, true]);
});

describe('lock files', () => {
  it('return the living holder to a second process', async () => {
    const file = join(folder, 'held.lock');
    const child = spawnSleeper();
    writeFileSync(file, JSON.stringify(describeProcess(child.pid, { url: 'http://localhost:1' })));
    assert.equal(tryLock(file)?.url, 'http://localhost:1');
    child.kill('SIGKILL');
    await until(() => tryLock(file) === null, 60_000);
    assert.equal(readRecord(file).pid, process.pid);
    unlock(file);
    assert.equal(readRecord(file), null);
  });

  it('are taken by one of many processes that find the lock of a dead process', async () => {
    const file = join(folder, 'contested.lock');
    writeFileSync(file, JSON.stringify({ pid: 1, mark: 'long ago' }));
    const module = JSON.stringify(new URL('../process-records.mjs', import.meta.url).href);
    const script = `import(${module}).then(({ tryLock }) => { console.log(tryLock(${JSON.stringify(file)}) === null); setInterval(() => {}, 1000) })`;
    const children = Array.from({ length: 6 }, () => spawnSleeper(script));
    const answers = await Promise.all(
      children.map((child) => new Promise((resolve) => child.stdout.once('data', (text) => resolve(`${text}`.trim())))),
    );
    for (const child of children) child.kill('SIGKILL');
    assert.deepEqual(answers.filter((answer) => answer === 'true').length, 1);
  });
});

it('freePorts returns different ports below those of outgoing connections', async () => {
  const ports = await freePorts(12);
  assert.equal(new Set(ports).size, 12);
  assert.ok(ports.every((port) => port >= 20_000 && port < 32_000));
});

it('freePort returns no port twice, though no server listens on it yet', async () => {
  const ports = [];
  while (ports.length < 500) ports.push(await freePort());
  assert.equal(new Set(ports).size, ports.length);
});
