import { makeViewer, registerListPagingTests, registerVisibilityTests } from '@rookery/testing';
import { maker } from '../support/groups-and-projects';
import type { MadeProject } from '../support/groups-and-projects';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';
import { standpoint } from '../support/standings';

let identity: IdentityApp;
let ada: Person;
let bob: Person;
const { group, project, join, person, unique } = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
  bob = await identity.person('bob');
});
afterAll(() => identity.close());

const idsOf = (rows: readonly MadeProject[]) => rows.map((row) => row.id);
const setStatistics = (id: number, columns: Readonly<Record<string, number>>) =>
  identity.db.query(
    `update project_statistics set ${Object.entries(columns).map(([name, value]) => `${name} = ${value}`)} where project_id = $1`,
    [id],
  );

describe('the projects of a member', () => {
  it('are listed once each, however they are reached, and counted on every page', async () => {
    const me = await person();
    const [top, other, invited] = [await group(ada), await group(ada), await group(ada)];
    const below = await group(ada, { parent_id: top.id });
    const at = (namespace_id: number) => project(ada, { namespace_id });
    const twice = await at(top.id);
    const inherited = await at(below.id);
    const [alone, shared] = [await at(other.id), await at(other.id)];
    await project(ada, { visibility: 'public' });
    const own = await project(me);
    await join(`/api/v4/groups/${top.id}`, me, 30);
    await join(`/api/v4/groups/${invited.id}`, me, 40);
    for (const { id } of [twice, alone]) await join(`/api/v4/projects/${id}`, me, 30);
    for (const { id } of [twice, shared]) {
      await ada.client
        .post(`/api/v4/projects/${id}/share`)
        .send({ group_id: invited.id, group_access: 30 })
        .expect(201);
    }
    const list = async (query: Record<string, unknown>) => {
      const { body, headers } = await me.client.get('/api/v4/projects').query({ membership: true, ...query });
      return [idsOf(body), headers['x-total'], headers['x-next-page']];
    };
    const all = idsOf([own, shared, alone, inherited, twice]);
    expect(await list({})).toEqual([all, '5', '']);
    expect(await list({ sort: 'asc', order_by: 'id', min_access_level: 30 })).toEqual([[...all].reverse(), '5', '']);
    expect(await list({ per_page: 2 })).toEqual([all.slice(0, 2), '5', '2']);
    expect(await list({ per_page: 2, page: 3 })).toEqual([all.slice(4), '5', '']);
    expect(await list({ per_page: 2, page: 9 })).toEqual([[], '5', '']);
    expect(await list({ owned: true })).toEqual([[own.id], '1', '']);
    expect(await list({ search: 'no such project' })).toEqual([[], '0', '']);
    expect(await list({ order_by: 'last_activity_at', visibility: 'private' })).toEqual([all, '5', '']);
    const keyset = await me.client
      .get('/api/v4/projects')
      .query({ membership: true, pagination: 'keyset', per_page: 5 });
    expect(idsOf(keyset.body)).toEqual(all);
    const first = await me.client.get('/api/v4/projects?membership=true&pagination=keyset&per_page=3');
    const [, next] = /<http:\/\/localhost:8080([^>]+)>; rel="next"/.exec(first.headers['link']!)!;
    expect(next).toContain('order_by=id&');
    expect(idsOf((await me.client.get(next!).expect(200)).body)).toEqual(all.slice(3));
  });
});

describe('an out-of-range id', () => {
  it.each(['', '/forks', '/starrers', '/groups', '/users', '/badges', '/avatar'])(
    'answers 404 at /projects/:id%s',
    async (rest) => {
      const { status, body } = await ada.client.get(`/api/v4/projects/99999999999999999999${rest}`);
      expect([status, body]).toEqual([404, { message: '404 Project Not Found' }]);
    },
  );
});

describe('GET /projects', () => {
  let ids: Record<string, number>;
  const list = async (query: Record<string, unknown>, client = ada.client) => {
    const { status, body } = await client.get('/api/v4/projects').query({ search: 'heron', ...query });
    expect([status, body]).toEqual([200, expect.any(Array)]);
    return idsOf(body).map((id) => Object.keys(ids).find((name) => ids[name] === id));
  };
  beforeAll(async () => {
    const made = async (name: string, over: object, by = ada) =>
      (await project(by, { name: `heron ${name}`, ...over })).id;
    ids = {
      one: await made('one', { topics: ['Rivers', 'fish'], visibility: 'public' }),
      two: await made('two', { topics: ['fish'] }),
      three: await made('three', { topics: 'RIVERS,fish,mud' }),
      theirs: await made('theirs', { topics: ['rivers'], visibility: 'public' }, bob),
      hidden: await made('hidden', { topics: ['rivers', 'fish'] }, bob),
    };
    await ada.client.post(`/api/v4/projects/${ids['theirs']}/star`).expect(201);
    await ada.client.post(`/api/v4/projects/${ids['two']}/star`).expect(201);
    await identity.root
      .put(`/api/v4/projects/${ids['one']}/custom_attributes/site`)
      .send({ value: 'north' })
      .expect(200);
    await identity.root
      .put(`/api/v4/projects/${ids['hidden']}/custom_attributes/site`)
      .send({ value: 'north' })
      .expect(200);
    await setStatistics(ids['two']!, { repository_size: 700, wiki_size: 5 });
    await setStatistics(ids['one']!, { repository_size: 30, packages_size: 9000 });
  });

  it.each<[Record<string, unknown>, string[]]>([
    [{ topic: 'fish' }, ['three', 'two', 'one']],
    [{ topic: 'FISH,rivers' }, ['three', 'one']],
    [{ 'topic[]': ['rivers', 'fish', 'mud'] }, ['three']],
    [{ topic: 'fish, no such topic' }, []],
    [{ topic: '' }, ['theirs', 'three', 'two', 'one']],
    [{ topic_id: 999999 }, []],
    [{ starred: true }, ['theirs', 'two']],
    [{ starred: '1', topic: 'fish' }, ['two']],
    [{ with_programming_language: 'ruby' }, []],
    [{ imported: true }, []],
    [{ owned: true }, ['three', 'two', 'one']],
    [{ min_access_level: 5 }, ['three', 'two', 'one']],
    [{ active: true }, ['theirs', 'three', 'two', 'one']],
    [{ active: false }, []],
    [{ marked_for_deletion_on: '2020-01-01' }, []],
    [{ include_hidden: true }, ['theirs', 'three', 'two', 'one']],
    [{ order_by: 'star_count', sort: 'desc', per_page: 2 }, ['theirs', 'two']],
    [{ order_by: 'repository_size' }, ['theirs', 'three', 'two', 'one']],
    [{ custom_attributes: { site: 'north' } }, ['theirs', 'three', 'two', 'one']],
    [{ order_by: 'similarity', search: 'heron t', sort: 'asc' }, ['theirs', 'three', 'two']],
    [{ order_by: 'similarity', search: '' }, expect.any(Array)],
  ])('filters and orders by %j', async (query, expected) => expect(await list(query)).toEqual(expected));

  it('filters by the id of a topic', async () => {
    const [{ id }] = (await identity.anonymous.get('/api/v4/topics?search=mud')).body;
    expect(await list({ topic_id: id })).toEqual(['three']);
    expect(await list({ topic_id: `${id}`, topic: 'fish' }, identity.anonymous)).toEqual([]);
  });

  it('lists only public projects for anonymous callers', async () => {
    expect(await list({ topic: 'rivers' }, identity.anonymous)).toEqual(['theirs', 'one']);
    for (const filter of [{ owned: true }, { membership: true }, { min_access_level: 40 }])
      expect(await list(filter, identity.anonymous)).toEqual(['theirs', 'one']);
    expect(await list({ starred: true }, identity.anonymous)).toEqual([]);
  });

  it('lists all projects for administrators, with sizes and custom attributes', async () => {
    expect(await list({}, identity.root)).toEqual(['hidden', 'theirs', 'three', 'two', 'one']);
    expect(await list({ order_by: 'repository_size' }, identity.root)).toEqual([
      'two',
      'one',
      'hidden',
      'theirs',
      'three',
    ]);
    expect(await list({ order_by: 'storage_size', sort: 'asc', per_page: 4 }, identity.root)).toEqual([
      'three',
      'theirs',
      'hidden',
      'two',
    ]);
    expect(await list({ order_by: 'packages_size', per_page: 1 }, identity.root)).toEqual(['one']);
    expect(await list({ order_by: 'wiki_size', per_page: 1 }, identity.root)).toEqual(['two']);
    expect(await list({ custom_attributes: { site: 'north' } }, identity.root)).toEqual(['hidden', 'one']);
    expect(await list({ custom_attributes: { site: 'south' } }, identity.root)).toEqual([]);
    expect(await list({ owned: true }, identity.root)).toEqual([]);
    expect(await list({ simple: true }, identity.root)).toHaveLength(5);
    const shown = async (client = identity.root) =>
      (await client.get('/api/v4/projects').query({ search: 'heron one', with_custom_attributes: 'True' })).body[0];
    expect((await shown()).custom_attributes).toEqual([{ key: 'site', value: 'north' }]);
    expect(await shown(ada.client)).not.toHaveProperty('custom_attributes');
  });

  it('shows sizes to reporters on request', async () => {
    const guest = await person();
    await join(`/api/v4/projects/${ids['one']!}`, guest, 10);
    const shown = async (client: Person['client'], query: Record<string, unknown> = { statistics: true }) =>
      (await client.get('/api/v4/projects').query({ search: 'heron one', ...query })).body[0];
    expect((await shown(ada.client)).statistics).toEqual({
      commit_count: 0,
      storage_size: 9030,
      repository_size: 30,
      wiki_size: 0,
      lfs_objects_size: 0,
      job_artifacts_size: 0,
      pipeline_artifacts_size: 0,
      packages_size: 9000,
      snippets_size: 0,
      uploads_size: 0,
      container_registry_size: 0,
    });
    expect(await shown(ada.client, {})).not.toHaveProperty('statistics');
    for (const client of [guest.client, bob.client, identity.anonymous])
      expect(await shown(client)).not.toHaveProperty('statistics');
    await identity.root
      .put(`/api/v4/projects/${ids['one']}/members/${guest.id}`)
      .send({ access_level: 20 })
      .expect(200);
    expect(await shown(guest.client)).toHaveProperty('statistics');
  });

  it('filters by imports of the caller, and by archived or marked projects', async () => {
    const mine = await project(ada, { name: 'heron imported' });
    await identity.db.query(`update projects set import_type = 'remote' where id = any($1)`, [
      [mine.id, ids['theirs']],
    ]);
    const found = async (query: Record<string, unknown>) =>
      idsOf((await ada.client.get('/api/v4/projects').query(query)).body);
    expect(await found({ imported: true })).toEqual([mine.id]);
    await identity.db.query(
      `update projects set archived = true, marked_for_deletion_on = '2026-01-02' where id = $1`,
      [mine.id],
    );
    expect(await found({ active: false })).toEqual([mine.id]);
    expect(await found({ active: true })).not.toContain(mine.id);
    expect(await found({ marked_for_deletion_on: '2026-01-02' })).toEqual([mine.id]);
    await identity.db.query(`delete from projects where id = $1`, [mine.id]);
  });

  it.each([
    [{ topic: { a: 'b' } }, 'topic is invalid'],
    [{ topic_id: 'x' }, 'topic_id is invalid'],
    [{ order_by: 'size' }, 'order_by does not have a valid value'],
    [{ starred: 'perhaps' }, 'starred is invalid'],
    [{ min_access_level: 7 }, 'min_access_level does not have a valid value'],
    [{ marked_for_deletion_on: 'x' }, 'marked_for_deletion_on is invalid'],
    [{ custom_attributes: 'x' }, 'custom_attributes is invalid'],
    [{ visibility: 'open' }, 'visibility does not have a valid value'],
  ])('refuses %j', async (query, error) => {
    const { status, body } = await ada.client.get('/api/v4/projects').query(query);
    expect([status, body]).toEqual([400, { error }]);
  });

  it('accepts or refuses odd values without 5xx', async () => {
    for (const query of [
      { topic: 'a\0b' },
      { search: 'a\0b' },
      { topic_id: '99999999999999999999' },
      { custom_attributes: { 'a\0': 'b' } },
      { id_after: '9007199254740993' },
      { 'topic[]': Array.from({ length: 25 }, (_, i) => `t${i}`) },
    ]) {
      expect((await identity.root.get('/api/v4/projects').query(query)).status).toBeLessThan(500);
    }
  });
});

describe('GET /projects/:id/forks', () => {
  let origin: MadeProject;
  const forks: MadeProject[] = [];
  beforeAll(async () => {
    origin = await project(ada, { visibility: 'public' });
    for (const visibility of ['public', 'private', 'public', 'internal', 'public']) {
      const namespace = (await group(bob, { visibility: 'public' })).full_path;
      const fork = bob.client
        .post(`/api/v4/projects/${origin.id}/fork`)
        .send({ namespace, name: unique('fork'), visibility });
      forks.push((await fork.expect(201)).body as MadeProject);
    }
  });
  const list = async (client: Person['client'], query = {}) =>
    idsOf((await client.get(`/api/v4/projects/${origin.id}/forks`).query(query)).body);

  it('lists the forks that the caller can see, newest first', async () => {
    const newest = [...forks].reverse().map((fork) => fork.id);
    expect(await list(bob.client)).toEqual(newest);
    expect(await list(identity.root)).toEqual(newest);
    expect(await list(ada.client)).toEqual(newest.filter((id) => id !== forks[1]!.id));
    expect(await list(identity.anonymous)).toEqual([forks[4], forks[2], forks[0]].map((fork) => fork!.id));
    expect(await list(bob.client, { visibility: 'private' })).toEqual([forks[1]!.id]);
    expect(await list(bob.client, { order_by: 'id', sort: 'asc', per_page: 1 })).toEqual([forks[0]!.id]);
    expect(await list(ada.client, { owned: true })).toEqual([]);
  });

  it('shows the source of each to callers who can see it', async () => {
    const [fork] = (await bob.client.get(`/api/v4/projects/${encodeURIComponent(origin.path_with_namespace)}/forks`))
      .body;
    expect(fork.forked_from_project).toMatchObject({
      id: origin.id,
      path_with_namespace: origin.path_with_namespace,
      topics: [],
      forks_count: 5,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
      namespace: { id: ada.namespaceId, web_url: 'http://localhost:8080/ada' },
    });
    const [plain] = (await identity.anonymous.get(`/api/v4/projects/${origin.id}/forks`)).body;
    expect(plain).not.toHaveProperty('forked_from_project');
    expect((await ada.client.get(`/api/v4/projects/${origin.id}`)).body).toMatchObject({ forks_count: 5 });
    await ada.client.put(`/api/v4/projects/${origin.id}`).send({ visibility: 'private' }).expect(200);
    const hidden = (await bob.client.get(`/api/v4/projects/${forks[0]!.id}`)).body;
    expect(hidden).not.toHaveProperty('forked_from_project');
    await ada.client.put(`/api/v4/projects/${origin.id}`).send({ visibility: 'public' }).expect(200);
  });

  it('is available to callers who can see the project', async () => {
    expect((await identity.anonymous.get('/api/v4/projects/999999/forks')).body).toEqual({
      message: '404 Project Not Found',
    });
    expect((await identity.anonymous.head(`/api/v4/projects/${origin.id}/forks`)).get('x-total')).toBe('3');
    expect((await bob.client.get(`/api/v4/projects/${origin.id}/forks?order_by=x`)).body).toEqual({
      error: 'order_by does not have a valid value',
    });
  });

  registerVisibilityTests({
    app: () => identity.app,
    from: async (level, standing) => {
      const { id } = await project(ada, { visibility: level });
      return standpoint(identity, standing, `/api/v4/projects/${id}`, `/api/v4/projects/${id}/forks`);
    },
  });

  registerListPagingTests(() => ({
    app: identity.app,
    viewer: makeViewer({ userId: bob.id, username: 'bob' }),
    path: `/api/v4/projects/${origin.id}/forks`,
    query: { simple: true },
    rows: 5,
  }));
});
