import { anonymousViewer, makeViewer, registerParameterEncodingTests, requestOf } from '@rookery/testing';
import { ListQuery } from '@rookery/persistence';
import { customAttributesFilter, customAttributesSql } from '../../src/custom-attributes/custom-attributes-sql';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;
/** Paths of the attributes of each kind, and those of another owner of that kind. */
const bases: Record<string, { base: string; other: string; encoded?: string }> = {};
const ids: Record<string, [number, number]> = {};
const admin = makeViewer({ userId: 1, username: 'root', isAdmin: true });

beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
  const bob = await identity.person('bob');
  const group = async (path: string) =>
    (await ada.client.post('/api/v4/groups').send({ name: path, path }).expect(201)).body as {
      id: number;
      full_path: string;
    };
  const [one, two] = [await group('team-one'), await group('team-two')];
  const project = async (name: string) =>
    (await ada.client.post('/api/v4/projects').send({ name, namespace_id: one.id }).expect(201)).body as { id: number };
  const [web, api] = [await project('web'), await project('api')];
  Object.assign(ids, { user: [ada.id, bob.id], group: [one.id, two.id], project: [web.id, api.id] });
  for (const kind of ['user', 'group', 'project']) {
    const path = (id: number | string) => `/api/v4/${kind}s/${id}/custom_attributes`;
    const encoded = { group: 'team-one', project: 'team-one%2Fweb' }[kind];
    bases[kind] = {
      base: path(ids[kind]![0]),
      other: path(ids[kind]![1]),
      ...(encoded ? { encoded: path(encoded) } : {}),
    };
  }
});
afterAll(() => identity.close());

describe.each(['user', 'group', 'project'] as const)('custom attributes of a %s', (kind) => {
  const base = () => bases[kind]!.base;
  const missing = `404 ${{ user: 'User', group: 'Group', project: 'Project' }[kind]} Not Found`;

  it('can be added, replaced, read and deleted', async () => {
    expect((await identity.root.get(base())).body).toEqual([]);
    const put = (key: string, value: string) => identity.root.put(`${base()}/${key}`).send({ value });
    const added = await put('location', 'Antarctica');
    expect([added.status, added.body]).toEqual([200, { key: 'location', value: 'Antarctica' }]);
    expect((await put('location', 'Arctic')).body).toEqual({ key: 'location', value: 'Arctic' });
    await put('a.b%2Fc', 'd');
    const both = [
      { key: 'a.b/c', value: 'd' },
      { key: 'location', value: 'Arctic' },
    ];
    expect((await identity.root.get(base())).body).toEqual(both);
    expect((await identity.root.get(`${base()}/location`)).body).toEqual(both[1]);
    expect((await identity.root.get(bases[kind]!.other)).body).toEqual([]);
    for (const method of ['GET', 'DELETE'] as const) {
      const foreign = await requestOf(identity.root, method, `${bases[kind]!.other}/location`);
      expect([foreign.status, foreign.body]).toEqual([404, { message: '404 Not found' }]);
    }
    const head = await identity.root.head(base());
    expect([head.status, head.text]).toEqual([200, undefined]);

    const removed = await identity.root.delete(`${base()}/a.b%2Fc`);
    expect([removed.status, removed.text]).toEqual([204, '']);
    expect((await identity.root.delete(`${base()}/a.b%2Fc`)).body).toEqual({ message: '404 Not found' });
    expect((await identity.root.get(base())).body).toEqual([both[1]]);
  });

  it('are for administrators; the permission is checked before parameters', async () => {
    const calls = [
      ['GET', base()],
      ['GET', `${base()}/x`],
      ['PUT', `${base()}/x`],
      ['DELETE', `${base()}/x`],
      ['GET', `/api/v4/${kind}s/987654321/custom_attributes`],
    ] as const;
    for (const [method, path] of calls) {
      const refused = await requestOf(ada.client, method, path);
      expect([method, refused.status, refused.body]).toEqual([method, 403, { message: '403 Forbidden' }]);
      const anonymous = await requestOf(identity.app.as(anonymousViewer()), method, path);
      expect([method, anonymous.status, anonymous.body]).toEqual([method, 401, { message: '401 Unauthorized' }]);
      const narrow = await requestOf(identity.app.as({ ...admin, scopes: ['read_registry'] }), method, path);
      expect([method, narrow.status, narrow.body]).toEqual([
        method,
        403,
        expect.objectContaining({ error: 'insufficient_scope' }),
      ]);
    }
  });

  it('answer 404 for a missing owner', async () => {
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/x'],
      ['PUT', '/x'],
      ['DELETE', '/x'],
    ] as const) {
      const gone = await requestOf(identity.root, method, `/api/v4/${kind}s/987654321/custom_attributes${path}`).query({
        value: 'v',
      });
      expect([method, gone.status, gone.body]).toEqual([method, 404, { message: missing }]);
    }
    const huge = await identity.root.get(`/api/v4/${kind}s/99999999999999999999/custom_attributes`);
    expect([400, 404]).toContain(huge.status);
  });

  it.each<[string, string, object, object]>([
    ['no value', 'k', {}, { error: 'value is missing' }],
    ['a list', 'k', { value: ['a'] }, { error: 'value is invalid' }],
    ['a NUL', 'k', { value: 'a\0' }, { error: 'value is invalid' }],
    ['blanks', 'k', { value: ' ' }, { message: { value: ["can't be blank"] } }],
    [
      'a long value',
      'k',
      { value: 'x'.repeat(4097) },
      { message: { value: ['is too long (maximum is 4096 characters)'] } },
    ],
    ['a blank key', '%20', { value: 'v' }, { message: { key: ["can't be blank"] } }],
    ['a long key', 'k'.repeat(256), { value: 'v' }, { message: { key: ['is too long (maximum is 255 characters)'] } }],
  ])('refuse %s', async (_, key, body, expected) => {
    const response = await identity.root.put(`${base()}/${key}`).send(body);
    expect([response.status, response.body]).toEqual([400, expected]);
  });

  it('are measured in characters', async () => {
    const response = await identity.root.put(`${base()}/${encodeURIComponent('\u{1F95A}'.repeat(255))}`).send({
      value: '\u{1F95A}'.repeat(4096),
    });
    expect(response.status).toBe(200);
  });

  registerParameterEncodingTests({
    app: () => identity.app,
    to: (encoding) => ({
      viewer: admin,
      method: 'PUT',
      path: `${base()}/${encodeURIComponent(encoding)}`,
      params: { value: '5' },
    }),
    seen: (body) => body['value'],
    expected: '5',
  });

  it('stay one when set concurrently', async () => {
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((value) => identity.root.put(`${base()}/raced`).send({ value })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { body: all }: { body: { key: string }[] } = await identity.root.get(base()).expect(200);
    expect(all.filter(({ key }) => key === 'raced')).toHaveLength(1);
  });

  it('filter lists by exact values, all of which must match, and are shown in rows on request', async () => {
    const [first, second] = ids[kind]!;
    await identity.root.put(`${base()}/team`).send({ value: 'red' }).expect(200);
    await identity.root.put(`${base()}/floor`).send({ value: '2' }).expect(200);
    await identity.root.put(`${bases[kind]!.other}/team`).send({ value: 'red' }).expect(200);
    const table = { user: 'users', group: 'namespaces', project: 'projects' }[kind];
    const found = async (wanted: Record<string, string> | undefined) => {
      const columns = `t.id, ${customAttributesSql(kind, 't.id')} as attributes`;
      const list = new ListQuery<{ id: number; attributes: unknown }>({
        name: 'attributed',
        from: `${table} t`,
        columns,
      })
        .where((bind) => `t.id in (${bind(first)}, ${bind(second)})`)
        .narrow({ wanted: customAttributesFilter(kind, 't.id') }, { wanted });
      return (await list.readPage(identity.db, { page: 1, perPage: 20 })).rows;
    };
    const keysOf = async (wanted: Record<string, string> | undefined) => (await found(wanted)).map(({ id }) => id);
    expect(await keysOf(undefined)).toEqual([first, second]);
    expect(await keysOf({ team: 'red' })).toEqual([first, second]);
    expect(await keysOf({ team: 'red', floor: '2' })).toEqual([first]);
    expect(await keysOf({ team: 'RED' })).toEqual([]);
    expect(await keysOf({ team: 're' })).toEqual([]);
    expect(await found({ team: 'red', floor: '2' })).toEqual([
      {
        id: first,
        attributes: expect.arrayContaining([
          { key: 'floor', value: '2' },
          { key: 'team', value: 'red' },
        ]),
      },
    ]);
  });
});

it.each(['group', 'project'] as const)('are found for a %s by its encoded path', async (kind) => {
  const { base, encoded } = bases[kind]!;
  await identity.root.put(`${encoded!}/by-path`).send({ value: 'yes' }).expect(200);
  expect((await identity.root.get(`${base}/by-path`)).body).toEqual({ key: 'by-path', value: 'yes' });
});

it('are deleted with their owner', async () => {
  const { body: group }: { body: { id: number } } = await ada.client
    .post('/api/v4/groups')
    .send({ name: 'gone', path: 'gone' })
    .expect(201);
  await identity.root.put(`/api/v4/groups/${group.id}/custom_attributes/k`).send({ value: 'v' }).expect(200);
  await identity.db.query('delete from namespaces where id = $1', [group.id]);
  expect(await identity.db.query('select 1 from custom_attributes where namespace_id = $1', [group.id])).toEqual([]);
});
