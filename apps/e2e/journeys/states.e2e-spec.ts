import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call as callAt, eventually } from '../support/estate';
import type { Answer } from '../support/estate';

const ROOT = join(__dirname, '../../..');
const WREN = 'glpat-wren-0000000000000000';
const ROBIN = 'glpat-robin-000000000000000';
const EGGS = '/projects/colony%2Feggs';

/** An estate started as by `npm start`, with the seed of the documentation and its own data directory. */
let estate: ChildProcess;
let startOutput = '';
let base: string;
const dataDir = mkdtempSync(join(tmpdir(), 'rookery-e2e-states-'));

type Options = Parameters<typeof callAt>[2];
const call = (method: string, path: string, options: Options = {}): Promise<Answer> =>
  callAt(method, path, { token: WREN, ...options, base });

/** Runs the command line as `npm run reset` and `npm run snapshot -- …` do. Returns its output. */
async function states(...words: string[]): Promise<string> {
  const env = { ...process.env, ROOKERY_DATA: dataDir };
  const child = spawn(process.execPath, [join(ROOT, 'tools/cli/rookery.mjs'), ...words], { env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`${code}: ${output}`);
  return output;
}

/** Names of the e-mails about issues of the tests. The members of the seed got others. */
const mails = (): string[] => {
  const folder = join(dataDir, 'mail');
  const names = readdirSync(folder).filter((name) => name.endsWith('.eml'));
  return names.filter((name) => readFileSync(join(folder, name), 'utf8').includes('for @robin'));
};
const todosOf = async (token: string): Promise<number> => (await call('GET', '/todos', { token })).body.length;

beforeAll(async () => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  base = `http://127.0.0.1:${port}`;
  const env = { ...process.env, PORT: String(port), ROOKERY_DATA: dataDir, ROOKERY_SEED: 'docs/examples/seed.yaml' };
  delete (env as NodeJS.ProcessEnv)['NODE_ENV'];
  estate = spawn(process.execPath, ['tools/processes/start.mjs'], { cwd: ROOT, env });
  for (const stream of [estate.stdout!, estate.stderr!])
    stream.on('data', (text: Buffer) => (startOutput += text.toString()));
  await eventually(
    () => startOutput,
    (text) => text.includes('base URL') || estate.exitCode !== null,
    250_000,
  );
});
afterAll(async () => {
  const ended = once(estate, 'close');
  if (estate.exitCode === null) {
    estate.kill('SIGTERM');
    await ended;
  }
  rmSync(dataDir, { recursive: true, force: true });
});

describe('a seed', () => {
  it('is the initial state of the estate, and its tokens are not printed', async () => {
    expect(startOutput).toContain('seed.yaml applied: 3 users, 2 groups, 2 projects, 2 issues');
    expect(startOutput).not.toContain(WREN);
    expect((await call('GET', '/user')).body).toMatchObject({ id: 2, username: 'wren' });
    const issues = await call('GET', `${EGGS}/issues?sort=asc`, { token: ROBIN });
    expect(issues.body).toMatchObject([
      { iid: 1, title: 'First egg', author: { username: 'wren' }, labels: ['north', 'warm'], state: 'opened' },
      { iid: 2, title: 'Empty nest', author: { username: 'root' }, state: 'closed' },
    ]);
    expect((await call('GET', '/groups/colony/members/2')).body).toMatchObject({ access_level: 40 });
  });

  it('gives tokens their scopes', async () => {
    expect((await call('POST', `${EGGS}/issues`, { token: ROBIN, json: { title: 'x' } })).status).toBe(403);
    expect((await call('GET', '/users/2', { token: 'glpat-owl-00000000000000000' })).body).toHaveProperty('is_admin');
  });
});

describe('npm run reset', () => {
  it('restores the initial state while the estate runs, without effects of earlier writes', async () => {
    const token = { json: { name: 'x', scopes: ['api'] }, token: 'glpat-owl-00000000000000000' };
    const fresh: string = (await call('POST', '/users/2/personal_access_tokens', token)).body.token;
    const fields = { title: 'for @robin', description: '@robin' };
    const first = await call('POST', `${EGGS}/issues`, { token: fresh, json: fields });
    expect((await call('GET', `${EGGS}/issues/3`, { token: fresh })).status).toBe(200);
    // Leases and copies contain these writes by now, and effects are still pending.
    expect(await states('reset')).toMatch(/^reset in /);
    expect((await call('GET', '/user', { token: fresh })).status).toBe(401);
    expect((await call('GET', `${EGGS}/issues/3`)).status).toBe(404);
    expect(await todosOf(ROBIN)).toBe(0);
    // The same writes get the same ids, and their effects happen once.
    const again = await call('POST', `${EGGS}/issues`, { json: fields });
    expect([again.body.id, again.body.iid]).toEqual([first.body.id, 3]);
    expect(
      await eventually(
        () => todosOf(ROBIN),
        (count) => count > 0,
      ),
    ).toBe(1);
    await eventually(mails, (files) => files.length > 0);
    await states('reset');
    expect(await todosOf(ROBIN)).toBe(0);
    expect(mails()).toEqual([]);
  });

  it('gives callers during a reset no stale and no broken answers', async () => {
    await call('POST', `${EGGS}/issues`, { json: { title: 'third' } });
    let isReset = false;
    let isOver = false;
    const seen = { before: new Set<number>(), after: new Set<number>() };
    const asking = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const side = isReset ? seen.after : seen.before;
        // A connection may be refused or broken off meanwhile.
        const answer = await call('GET', `${EGGS}/issues/3`).catch(() => null);
        if (answer) side.add(answer.status);
      }
    });
    try {
      await eventually(
        () => seen.before,
        (statuses) => statuses.has(200),
      );
      await states('reset');
      isReset = true;
      await eventually(
        () => seen.after,
        (statuses) => statuses.size > 0,
      );
    } finally {
      isOver = true;
    }
    await Promise.all(asking);
    expect([...seen.after]).toEqual([404]);
    expect([...seen.before].filter((status) => ![200, 404, 502, 503].includes(status))).toEqual([]);
  });
});

describe('npm run snapshot', () => {
  it('saves a state with its pending effects, and restores it', async () => {
    await call('POST', `${EGGS}/issues`, { json: { title: 'kept', description: '@robin' } });
    expect(await states('snapshot', 'save', 'kept')).toMatch(/^saved kept in /);
    expect(
      await eventually(
        () => todosOf(ROBIN),
        (count) => count > 0,
      ),
    ).toBe(1);
    await call('DELETE', `${EGGS}/issues/3`, { token: 'glpat-owl-00000000000000000' });
    await call('POST', `${EGGS}/issues`, { json: { title: 'later', description: '@robin' } });
    expect(await states('snapshot', 'restore', 'kept')).toMatch(/^restored kept in /);
    expect((await call('GET', `${EGGS}/issues/3`)).body).toMatchObject({ title: 'kept' });
    expect((await call('GET', `${EGGS}/issues/4`)).status).toBe(404);
    expect(
      await eventually(
        () => todosOf(ROBIN),
        (count) => count > 0,
      ),
    ).toBe(1);
    const next = await call('POST', `${EGGS}/issues`, { json: { title: 'next' } });
    expect(next.body.iid).toBe(4);
    expect(await states('snapshot', 'list')).toMatch(/ initial\n.* kept\n/);
    await states('snapshot', 'delete', 'kept');
    await expect(states('snapshot', 'restore', 'kept')).rejects.toThrow(
      '1: There is no snapshot "kept"; there are: initial',
    );
  });
});
