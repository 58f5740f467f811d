/** Recipients of tokens and passwords: only the running estate of the data folder, or the address that the operator named. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { databaseVariable, PROCESSES } from '../../processes/environment.mjs';
import { describeProcess, writeRecord } from '../../processes/process-records.mjs';

const ROOKERY = fileURLToPath(new URL('../rookery.mjs', import.meta.url));
const TOKEN = 'glpat-token-of-root-0000';
const dataDir = mkdtempSync(join(tmpdir(), 'rookery-recipients-'));
const lock = join(dataDir, 'run/supervisor.lock');
/** Server that holds the recorded ports, with the number of its connections and the tokens that it received. */
const holder = recordingServer();
/** Server to which the holder redirects. */
const target = recordingServer();

function recordingServer() {
  const seen = { connections: 0, tokens: /** @type {unknown[]} */ ([]), location: '' };
  const server = createServer((request, response) => {
    seen.tokens.push(request.headers['private-token']);
    if (seen.location) response.writeHead(307, { location: seen.location });
    response.end('[]');
  });
  server.on('connection', () => (seen.connections += 1));
  return { seen, server, address: () => `http://127.0.0.1:${port(server)}` };
}

/** @param {import('node:http').Server} server */
const port = (server) => /** @type {import('node:net').AddressInfo} */ (server.address()).port;

before(async () => {
  for (const { server } of [holder, target]) await once(server.listen(0, '127.0.0.1'), 'listening');
  /** @param {string} name */
  const settings = (name) => ({
    PORT: String(port(holder.server)),
    [databaseVariable(name)]: `postgres://${name}:<databases.${name}>@127.0.0.1:${port(holder.server)}/${name}`,
  });
  const environments = PROCESSES.map((name) => [name, { settings: settings(name), given: [] }]);
  writeRecord(join(dataDir, 'run/environments.json'), Object.fromEntries(environments));
  writeRecord(join(dataDir, 'secrets.json'), { rootToken: TOKEN });
  writeFileSync(join(dataDir, 'token'), TOKEN);
});
beforeEach(() => {
  rmSync(lock, { force: true });
  for (const { seen } of [holder, target]) Object.assign(seen, { connections: 0, tokens: [], location: '' });
});
after(() => {
  for (const { server } of [holder, target]) server.close();
  rmSync(dataDir, { recursive: true });
});

/**
 * @param {...string} words
 * @returns {Promise<{ status: number | null, stdout: string, stderr: string }>}
 */
function rookery(...words) {
  const env = { PATH: process.env['PATH'], ROOKERY_DATA: dataDir };
  const child = spawn(process.execPath, [ROOKERY, ...words], { env });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (text) => (output.stdout += text));
  child.stderr.on('data', (text) => (output.stderr += text));
  return new Promise((resolve) => child.once('close', (status) => resolve({ status, ...output })));
}

describe('the program that holds the ports of an estate', () => {
  it('receives no token and no password after the estate ended or was killed', async () => {
    const refused = { status: 69, stdout: '', stderr: `No estate runs on ${dataDir}\n` };
    assert.deepEqual(await rookery('projects'), refused);
    writeRecord(lock, { pid: process.pid, mark: 'another process with this id' });
    const commands = [['projects'], ['projects', '--token-file', join(dataDir, 'token')], ['rebuild']];
    const outcomes = await Promise.all(
      [...commands, ['dead-letters', 'list', 'admin']].map((words) => rookery(...words)),
    );
    assert.deepEqual(outcomes, [refused, refused, refused, refused]);
    const doctor = await rookery('doctor');
    assert.match(doctor.stdout, new RegExp(`^problem +database of admin +No estate runs on ${dataDir}$`, 'm'));
    assert.equal(holder.seen.connections, 0);
  });

  it('receives the token while the supervisor is alive', async () => {
    writeRecord(lock, describeProcess(process.pid));
    const { status, stdout } = await rookery('projects');
    assert.deepEqual([status, stdout, holder.seen.tokens], [0, 'none\n', [TOKEN]]);
  });
});

it('a redirect is refused, and its target receives nothing', async () => {
  const words = ['projects', '--url', holder.address(), '--token-file', join(dataDir, 'token')];
  for (const address of [target.address(), '/api/v4/elsewhere']) {
    holder.seen.location = address;
    const { status, stderr } = await rookery(...words);
    const about = `${holder.address()} redirects to another address: name the final one, --url https://…\n`;
    assert.deepEqual([status, stderr], [1, about]);
  }
  assert.deepEqual([holder.seen.tokens, target.seen.connections], [[TOKEN, TOKEN], 0]);
});
