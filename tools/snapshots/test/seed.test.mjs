/** Content of seed files and their application, against an API in memory, so no estate is needed. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readSeed } from '../seed-file.mjs';
import { applySeed } from '../seed.mjs';

const EXAMPLE = fileURLToPath(new URL('../../../docs/examples/seed.yaml', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'rookery-seed-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** @param {string} text */
function seedOf(text) {
  const file = join(folder, 'seed.yaml');
  writeFileSync(file, text);
  return readSeed(file);
}

/**
 * @param {string} text
 * @returns {string[]}
 */
function complaintsAbout(text) {
  try {
    seedOf(text);
  } catch (error) {
    return /** @type {Error} */ (error).message.split('\n');
  }
  return [];
}

describe('a seed file', () => {
  it('may be the example of the documents', () => {
    const { users, groups, projects, name } = readSeed(EXAMPLE);
    assert.deepEqual([name, users.length, groups.length, projects.length], ['seed.yaml', 3, 2, 2]);
  });

  it('may be empty', () => {
    assert.deepEqual(seedOf('').users, []);
    assert.deepEqual(seedOf('users: []').projects, []);
  });

  for (const [kind, text, complaints] of /** @type {[string, string, (string | RegExp)[]][]} */ ([
    ['unknown', 'users:\n  - username: wren\n    nam: Wren\n', ['seed.yaml:3: users[0].nam is not known']],
    ['missing', 'users:\n  - name: Wren\n', ['seed.yaml:2: users[0].username is missing']],
    [
      'of another form',
      'users:\n  - username: wren\n    token: short\n',
      [/^seed\.yaml:3: users\[0\]\.token must match pattern/],
    ],
    [
      'without a field that it needs',
      'users:\n  - username: wren\n    scopes: [api]\n',
      [/^seed\.yaml:2: users\[0\] must have property token/],
    ],
    [
      'outside a list of values',
      'groups:\n- path: a\n  visibility: secret\n',
      ['seed.yaml:3: groups[0].visibility is none of private, internal, public'],
    ],
    ['no list', 'users: wren\n', ['seed.yaml:1: users must be array']],
    [
      'duplicate',
      'groups:\n  - path: a\n  - path: A\n',
      ['seed.yaml:3: groups[1].path is also that of groups[0].path'],
    ],
    ['no path of a project', 'projects:\n  - path: eggs\n', [/^seed\.yaml:2: projects\[0\]\.path must match pattern/]],
    ['no YAML', 'users:\n\t- x: [\n', [/^seed\.yaml:2: is no YAML: TAB_AS_INDENT/]],
    ['a duplicate key', 'users: []\nusers: []\n', ['seed.yaml:2: is no YAML: DUPLICATE_KEY']],
  ]))
    it(`is refused with line and field for a part that is ${kind}`, () => {
      const found = complaintsAbout(text);
      for (const [index, complaint] of complaints.entries())
        if (complaint instanceof RegExp) assert.match(found[index] ?? '', complaint);
        else assert.equal(found[index], complaint);
    });

  it('is refused without its tokens in the message', () => {
    const secret = 'glpat-secret-secret-secret';
    for (const text of [
      `users:\n  - username: a\n    token: ${secret}!\n`,
      `users:\n  - username: a\n    token: ${secret}\n  - username: b\n    token: ${secret}\n`,
      `users:\n  - username: a\n    token: *${secret}\n`,
      `users:\n  - username: a\n    token: "${secret}\n`,
      `users:\n  - username: a\n    token: {${secret}: 1}\n`,
    ]) {
      assert.notDeepEqual(complaintsAbout(text), [], text);
      assert.equal(complaintsAbout(text).join('\n').includes('secret'), false, complaintsAbout(text).join('\n'));
    }
  });

  it('is refused if it is missing or its aliases expand too far', () => {
    assert.throws(() => readSeed(join(folder, 'none.yaml')), /cannot be read: ENOENT/);
    const grows = [
      'a: &a [x,x,x,x,x,x,x,x,x]',
      ...'bcdefgh'.split('').map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[i]}`)}]`),
    ];
    assert.deepEqual(complaintsAbout(grows.join('\n')), ['seed.yaml: holds an alias that leads nowhere or too far']);
  });
});

/**
 * An API whose only rule is that names are unique. Every write after the first `breaksAfter` fails.
 * @param {{ breaksAfter?: number }} [options]
 */
async function startFakeApi({ breaksAfter = Infinity } = {}) {
  /** @type {Record<string, any[]>} */
  const made = { users: [{ id: 1, username: 'root' }], groups: [], projects: [], members: [], issues: [] };
  /** @type {string[]} */
  const calls = [];
  let writes = 0;
  /** @param {string} kind */
  const rowsOf = (kind) => made[kind] ?? [];
  /**
   * @param {string | undefined} method
   * @param {string} path
   * @param {URLSearchParams} query
   * @param {any} body
   * @param {unknown} sudo
   * @returns {[status: number, body: unknown]}
   */
  const answer = (method, path, query, body, sudo) => {
    const [kind = '', id, sub, subId] = path.slice(1).split('/').map(decodeURIComponent);
    if (method !== 'GET' && ++writes > breaksAfter) return [500, { message: 'broken off' }];
    if (kind === 'users' && method === 'GET')
      return [200, rowsOf('users').filter((user) => user.username === query.get('username'))];
    if (kind === 'users') return [201, add('users', body)];
    if (kind === 'namespaces') {
      const group = rowsOf('groups').find((one) => one.full_path === id);
      const user = rowsOf('users').find((one) => one.username === id);
      return (group ?? user) ? [200, { id: group?.id ?? -user.id }] : [404, { message: '404' }];
    }
    if (!id) {
      const above = rowsOf('groups').find((group) => group.id === (body.parent_id ?? body.namespace_id));
      const user = rowsOf('users').find((one) => one.id === -body.namespace_id);
      const front = above?.full_path ?? user?.username;
      return [201, add(kind, { ...body, full_path: front ? `${front}/${body.path}` : body.path })];
    }
    if (!sub) {
      const found = rowsOf(kind).find((one) => one.full_path === id);
      return found ? [200, found] : [404, { message: '404' }];
    }
    const rows = rowsOf(sub).filter((one) => one.of === `${kind}/${id}`);
    const known = rows.find((one) => String(one.user_id ?? one.iid) === subId);
    if (method === 'GET') return known ? [200, known] : [404, { message: '404' }];
    if (method === 'PUT') {
      if (body.state_event === 'close') known.state = 'closed';
      else Object.assign(known, body);
      return [200, known];
    }
    if (sub === 'issues')
      return [201, add('issues', { ...body, of: `${kind}/${id}`, iid: rows.length + 1, state: 'opened', by: sudo })];
    return [201, add('members', { ...body, of: `${kind}/${id}` })];
  };
  /**
   * @param {string} kind
   * @param {object} body
   */
  const add = (kind, body) => {
    const row = { id: rowsOf(kind).length + 1, ...body };
    rowsOf(kind).push(row);
    return row;
  };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const url = new URL(request.url ?? '', 'http://x');
    calls.push(`${request.method} ${url.pathname}`);
    const path = url.pathname.replace('/api/v4', '');
    const [status, body] = answer(
      request.method,
      path,
      url.searchParams,
      text && JSON.parse(text),
      request.headers.sudo,
    );
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  after(() => void server.close());
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    made,
    calls,
    baseUrl: `http://127.0.0.1:${port}`,
    repair: () => (breaksAfter = Infinity),
  };
}

describe('a seed', () => {
  const seed = readSeed(EXAMPLE);

  it('is applied in the order of the file, without sending tokens to the API', async () => {
    const { made, calls, baseUrl } = await startFakeApi();
    /** @type {import('../seed.mjs').FixedToken[]} */
    const tokens = [];
    const words = await applySeed(seed, { baseUrl, token: 't', giveTokens: async (given) => tokens.push(...given) });
    assert.equal(words, '3 users, 2 groups, 2 projects, 2 issues');
    assert.deepEqual(
      made.users?.map((user) => user.username),
      ['root', 'wren', 'robin', 'owl'],
    );
    assert.deepEqual(
      tokens.map(({ username, scopes }) => [username, scopes]),
      [
        ['wren', undefined],
        ['robin', ['read_api']],
        ['owl', undefined],
      ],
    );
    assert.equal(JSON.stringify(made).includes('glpat'), false);
    assert.equal(calls.join().includes('glpat'), false);
    assert.deepEqual(
      made.projects?.map((project) => project.full_path),
      ['colony/eggs', 'wren/notes'],
    );
    assert.deepEqual(
      made.issues?.map(({ iid, state, by }) => [iid, state, by]),
      [
        [1, 'opened', '2'],
        [2, 'closed', undefined],
      ],
    );
    assert.deepEqual(
      made.members?.map(({ of, user_id: user, access_level: level }) => [of, user, level]),
      [
        ['groups/1', 2, 40],
        ['projects/1', 3, 20],
      ],
    );
  });

  it('is completed after an interruption at any write, without duplicates', async () => {
    const whole = await startFakeApi();
    await applySeed(seed, { baseUrl: whole.baseUrl, token: 't', giveTokens: async () => {} });
    for (let breaksAfter = 0; breaksAfter < 12; breaksAfter++) {
      const broken = await startFakeApi({ breaksAfter });
      const about = { baseUrl: broken.baseUrl, token: 't', giveTokens: async () => {} };
      await assert.rejects(applySeed(seed, about), /^Error: seed\.yaml:\d+: \S+ was refused: 500 "broken off"$/);
      broken.repair();
      await applySeed(seed, about);
      assert.deepEqual(broken.made, whole.made);
    }
  });

  it('reports line and field of references to missing resources', async () => {
    const { baseUrl } = await startFakeApi();
    /** @param {string} text */
    const apply = (text) => applySeed(seedOf(text), { baseUrl, token: 't', giveTokens: async () => {} });
    await assert.rejects(
      apply('groups:\n  - path: a/b\n'),
      /seed\.yaml:2: groups\[0\]\.path is in a, which does not exist/,
    );
    const project = 'groups:\n  - path: a\nprojects:\n  - path: a/b\n';
    await assert.rejects(
      apply(`${project}    members:\n      - username: nobody\n        access_level: 30\n`),
      /seed\.yaml:6: projects\[0\]\.members\[0\]\.username is no user/,
    );
    await assert.rejects(
      apply(`${project}    issues:\n      - title: x\n        assignees: [root, nobody]\n`),
      /seed\.yaml:7: projects\[0\]\.issues\[0\]\.assignees\[1\] is no user/,
    );
  });
});
