import { makeViewer, registerListPagingTests, registerParameterEncodingTests, requestOf } from '@rookery/testing';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
});
afterAll(() => identity.close());

interface Topic {
  readonly id: number;
  readonly name: string;
}
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
let serial = 0;
const uniqueName = (stem = 'topic') => `${stem}${++serial}`;
const createTopic = async (over: Readonly<Record<string, unknown>> = {}): Promise<Topic> => {
  const name = uniqueName();
  const { body } = await identity.root
    .post('/api/v4/topics')
    .send({ name, title: `Title of ${name}`, ...over })
    .expect(201);
  return body;
};
const fetchTopic = async (id: number) => (await identity.anonymous.get(`/api/v4/topics/${id}`)).body;
const FIELDS = ['id', 'name', 'title', 'description', 'total_projects_count', 'organization_id', 'avatar_url'];

describe('POST /topics', () => {
  it('creates a topic', async () => {
    const { status, body } = await identity.root
      .post('/api/v4/topics')
      .send({ name: 'ruby-lang', title: 'Ruby', description: 'a\r\nlanguage' });
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(Number),
        name: 'ruby-lang',
        title: 'Ruby',
        description: 'a\r\nlanguage',
        total_projects_count: 0,
        organization_id: 1,
        avatar_url: null,
      },
    ]);
    expect(Object.keys(body)).toEqual(FIELDS);
    expect(await fetchTopic(body.id)).toEqual(body);
  });

  it('accepts an avatar', async () => {
    const { body: made }: { body: { id: number; avatar_url: string } } = await identity.root
      .post('/api/v4/topics')
      .field({ name: uniqueName(), title: 'With picture' })
      .attach('avatar', PNG, 'a.png')
      .expect(201);
    expect(made.avatar_url).toBe(`http://localhost:8080/uploads/-/system/topics/topic/avatar/${made.id}/a.png`);
    const { status, body } = await identity.root
      .post('/api/v4/topics')
      .field({ name: uniqueName(), title: 'x' })
      .attach('avatar', Buffer.from('none'), 'a.png');
    expect([status, Object.keys(body.message)]).toEqual([400, ['avatar']]);
  });

  it('refuses invalid values', async () => {
    await createTopic({ name: 'Taken' });
    const [blank, long] = [["can't be blank"], ['is too long (maximum is 255 characters)']];
    const cases: [object, unknown][] = [
      [{}, { error: 'name is missing, title is missing' }],
      [{ name: 'x' }, { error: 'title is missing' }],
      [{ name: ' ', title: '' }, { message: { name: blank, title: blank } }],
      [{ name: 'n'.repeat(256), title: 't'.repeat(256) }, { message: { name: long, title: long } }],
      [{ name: 'tAKEN', title: 't' }, { message: { name: ['has already been taken'] } }],
      [{ name: 'a\nb', title: 't' }, { message: { name: ['has characters that are not allowed'] } }],
      [
        { name: 'x', title: 't', description: 'd'.repeat(1025) },
        { message: { description: ['is too long (maximum is 1024 characters)'] } },
      ],
      [{ name: 'x', title: 't', organization_id: 'x' }, { error: 'organization_id is invalid' }],
    ];
    for (const [body, expected] of cases) {
      const response = await identity.root.post('/api/v4/topics').send(body);
      expect([body, response.status, response.body]).toEqual([body, 400, expected]);
    }
    const elsewhere = await identity.root
      .post('/api/v4/topics')
      .send({ name: uniqueName(), title: 't', organization_id: 2 });
    expect([elsewhere.status, elsewhere.body]).toEqual([404, { message: '404 Organization Not Found' }]);
    await identity.root.post('/api/v4/topics').send({ name: 'a\0', title: 't' }).expect(400);
  });

  it('gives a name to one of several concurrent requests', async () => {
    const body = { name: uniqueName('race'), title: 't' };
    const answers = await Promise.all(Array.from({ length: 6 }, () => identity.root.post('/api/v4/topics').send(body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400]);
    expect(answers.find(({ status }) => status === 400)!.body).toEqual({
      message: { name: ['has already been taken'] },
    });
  });

  registerParameterEncodingTests({
    app: () => identity.app,
    to: (encoding) => ({
      viewer: makeViewer({ userId: 1, username: 'root', isAdmin: true }),
      method: 'POST',
      path: '/api/v4/topics',
      params: { name: uniqueName(encoding.replace(/\W/g, '')), title: 'T', description: 'd', organization_id: 1 },
    }),
    seen: (body) => [body['title'], body['description'], body['organization_id']],
    expected: ['T', 'd', 1],
  });
});

describe('permission to change topics', () => {
  const requests = (id: number): [string, 'POST' | 'PUT' | 'DELETE', string, Record<string, unknown>][] => [
    ['create', 'POST', '/api/v4/topics', { name: uniqueName(), title: 't' }],
    ['update', 'PUT', `/api/v4/topics/${id}`, { title: 'new' }],
    ['merge', 'POST', '/api/v4/topics/merge', { source_topic_id: id, target_topic_id: id }],
    ['delete', 'DELETE', `/api/v4/topics/${id}`, {}],
  ];
  it('is limited to administrators', async () => {
    const { id } = await createTopic();
    for (const [what, method, path, params] of requests(id)) {
      const anonymous = await requestOf(identity.anonymous, method, path).send(params);
      expect([what, anonymous.status, anonymous.body]).toEqual([what, 401, { message: '401 Unauthorized' }]);
      const person = await requestOf(ada.client, method, path).send(params);
      expect([what, person.status, person.body]).toEqual([what, 403, { message: '403 Forbidden' }]);
      const reading = await requestOf(
        identity.as({ userId: 1, username: 'root', isAdmin: true, scopes: ['read_api'] }),
        method,
        path,
      ).send(params);
      expect([what, reading.status, reading.body.error]).toEqual([what, 403, 'insufficient_scope']);
    }
  });

  it('is checked after the parameters', async () => {
    for (const client of [identity.anonymous, ada.client]) {
      expect((await client.post('/api/v4/topics').send({})).body).toEqual({
        error: 'name is missing, title is missing',
      });
      expect((await client.post('/api/v4/topics/merge').send({ source_topic_id: 1 })).body).toEqual({
        error: 'target_topic_id is missing',
      });
      expect((await client.delete('/api/v4/topics/x')).body).toEqual({ error: 'id is invalid' });
    }
  });

  it('answers 404 for missing topics', async () => {
    const missing = { message: '404 Not found' };
    const { id } = await createTopic();
    const both = (source_topic_id: number, target_topic_id: number) =>
      identity.root.post('/api/v4/topics/merge').send({ source_topic_id, target_topic_id });
    for (const request of [
      identity.anonymous.get('/api/v4/topics/999999'),
      identity.anonymous.get('/api/v4/topics/9007199254740991'),
      identity.root.put('/api/v4/topics/999999').send({ title: 'x' }),
      identity.root.delete('/api/v4/topics/999999'),
      both(id, 999999),
      both(999999, id),
    ]) {
      const { status, body } = await request;
      expect([status, body]).toEqual([404, missing]);
    }
    expect((await identity.anonymous.get('/api/v4/topics/none')).body).toEqual({ error: 'id is invalid' });
  });
});

describe('PUT /topics/:id', () => {
  it('changes the sent fields', async () => {
    const { id, name } = await createTopic({ description: 'old' });
    const { status, body } = await identity.root.put(`/api/v4/topics/${id}`).send({ title: 'New' });
    expect([status, body]).toEqual([
      200,
      { id, name, title: 'New', description: 'old', total_projects_count: 0, organization_id: 1, avatar_url: null },
    ]);
    expect(
      (await identity.root.put(`/api/v4/topics/${id}`).send({ title: ' ', description: null })).body,
    ).toMatchObject({
      title: name,
      description: null,
    });
    expect(await fetchTopic(id)).toMatchObject({ title: name, description: null });
    const renamed = uniqueName();
    expect((await identity.root.put(`/api/v4/topics/${id}`).query({ name: renamed })).body.name).toBe(renamed);
    await identity.root.put(`/api/v4/topics/${id}`).send({ name: renamed.toUpperCase() }).expect(200);
  });

  it('sets and removes the avatar', async () => {
    const { id } = await createTopic();
    const put = () => identity.root.put(`/api/v4/topics/${id}`);
    const url = `http://localhost:8080/uploads/-/system/topics/topic/avatar/${id}/a.png`;
    const withPicture = () => put().field({ file: '' }).attach('avatar', PNG, 'a.png');
    for (const removal of [() => put().send({ avatar: '' }), () => put().field({ avatar: '' })]) {
      expect((await withPicture()).body.avatar_url).toBe(url);
      expect((await put().send({ description: 'x' })).body.avatar_url).toBe(url);
      expect((await removal()).body.avatar_url).toBeNull();
      expect((await fetchTopic(id)).avatar_url).toBeNull();
    }
    const bad = await put().attach('avatar', Buffer.alloc(300 * 1024), 'a.png');
    expect([bad.status, bad.body.message.avatar[0]]).toEqual([400, expect.stringContaining('200 KiB')]);
  });

  it('refuses invalid values', async () => {
    const [taken, { id }] = [await createTopic(), await createTopic()];
    const cases: [object, unknown][] = [
      [{ name: '' }, { message: { name: ["can't be blank"] } }],
      [{ name: taken.name.toUpperCase() }, { message: { name: ['has already been taken'] } }],
      [{ title: 't'.repeat(256) }, { message: { title: ['is too long (maximum is 255 characters)'] } }],
    ];
    for (const [body, expected] of cases) {
      const response = await identity.root.put(`/api/v4/topics/${id}`).send(body);
      expect([response.status, response.body]).toEqual([400, expected]);
    }
  });

  registerParameterEncodingTests({
    app: () => identity.app,
    to: async () => ({
      viewer: makeViewer({ userId: 1, username: 'root', isAdmin: true }),
      method: 'PUT',
      path: `/api/v4/topics/${(await createTopic()).id}`,
      params: { title: 'T', description: 'd' },
    }),
    seen: (body) => [body['title'], body['description']],
    expected: ['T', 'd'],
  });
});

describe('DELETE /topics/:id', () => {
  it('deletes the topic with its avatar and keeps the projects', async () => {
    const { id, name } = await createTopic();
    await identity.root.put(`/api/v4/topics/${id}`).attach('avatar', PNG, 'a.png');
    const { body: project }: { body: { id: number } } = await ada.client
      .post('/api/v4/projects')
      .send({ name: uniqueName('p') })
      .expect(201);
    await identity.db.query(
      `insert into project_topics (project_id, topic_id, position, is_open) values ($1, $2, 1, false)`,
      [project.id, id],
    );
    const { status, text } = await identity.root.delete(`/api/v4/topics/${id}`).send({});
    expect([status, text]).toEqual([204, '']);
    await identity.anonymous.get(`/api/v4/topics/${id}`).expect(404);
    expect((await ada.client.get(`/api/v4/projects/${project.id}`)).body.topics).not.toContain(name);
    expect(await identity.db.query(`select 1 from avatars where topic_id = $1`, [id])).toEqual([]);
  });

  it('refuses if the topic changed after the given time', async () => {
    const { id } = await createTopic();
    const stale = await identity.root
      .delete(`/api/v4/topics/${id}`)
      .set('if-unmodified-since', 'Sat, 01 Jan 2000 00:00:00 GMT');
    expect([stale.status, stale.body]).toEqual([412, { message: '412 Precondition Failed' }]);
    const now = new Date(Date.now() + 5000).toUTCString();
    await identity.root.delete(`/api/v4/topics/${id}`).set('if-unmodified-since', now).expect(204);
  });
});

describe('POST /topics/merge', () => {
  const assign = (projectId: number, topicId: number) =>
    identity.db.query(
      `insert into project_topics (project_id, topic_id, position, is_open)
       select id, $2, 1, visibility <> 'private' from projects where id = $1`,
      [projectId, topicId],
    );
  const project = async (visibility: string) =>
    (
      await ada.client
        .post('/api/v4/projects')
        .send({ name: uniqueName('p'), visibility })
        .expect(201)
    ).body.id;

  it('moves the projects and updates the counts', async () => {
    const [source, target] = [await createTopic(), await createTopic()];
    const [both, one, other] = [await project('public'), await project('public'), await project('private')];
    for (const id of [both, one, other]) await assign(id, source.id);
    await assign(both, target.id);
    const { status, body } = await identity.root
      .post('/api/v4/topics/merge')
      .send({ source_topic_id: source.id, target_topic_id: `${target.id}` });
    expect([status, body]).toEqual([201, { ...(await fetchTopic(target.id)), total_projects_count: 3 }]);
    await identity.anonymous.get(`/api/v4/topics/${source.id}`).expect(404);
    const [row] = await identity.db.query(`select open_projects_count from topics where id = $1`, [target.id]);
    expect(row).toEqual({ open_projects_count: 2 });
  });

  it('refuses a topic with itself, and topics of different organizations', async () => {
    const [one, foreign] = [await createTopic(), await createTopic()];
    await identity.db.query(`update topics set organization_id = 2 where id = $1`, [foreign.id]);
    const merge = async (target_topic_id: number) =>
      (await identity.root.post('/api/v4/topics/merge').type('form').send({ source_topic_id: one.id, target_topic_id }))
        .body;
    expect(await merge(one.id)).toEqual({ message: 'The source topic and the target topic are identical.' });
    expect(await merge(foreign.id)).toEqual({
      message: 'The source topic and the target topic must belong to the same organization.',
    });
    const none = await identity.root.post('/api/v4/topics/merge').send({});
    expect(none.body).toEqual({ error: 'source_topic_id is missing, target_topic_id is missing' });
  });
});

describe('GET /topics', () => {
  const names = async (query: Record<string, unknown>) =>
    (await identity.anonymous.get('/api/v4/topics').query({ per_page: 100, ...query })).body.map(
      (topic: Topic) => topic.name,
    );
  beforeAll(async () => {
    for (const name of ['xq-bird', 'xq', 'bird-xq', 'XQ-fish', 'plain']) {
      await createTopic({ name, title: name === 'plain' ? 'Called XQ' : `T ${uniqueName()}` });
    }
    const put = async (name: string, open: number, hidden: number) => {
      for (let i = 0; i < open + hidden; i++) {
        await identity.db.query(
          `with p as (insert into projects (namespace_id, name, path, visibility)
             values ($1, $2, $2, $3) returning id)
           insert into project_topics (project_id, topic_id, position, is_open)
             select p.id, t.id, 1, $4 from p, topics t where t.name = $5`,
          [ada.namespaceId, uniqueName('listed'), i < open ? 'internal' : 'private', i < open, name],
        );
      }
    };
    await put('XQ-fish', 2, 0);
    await put('bird-xq', 1, 5);
    await put('plain', 1, 1);
  });

  it('orders by number of projects that are not private, then by id', async () => {
    const counts = (await identity.anonymous.get('/api/v4/topics').query({ per_page: 3, search: 'plain' })).body;
    expect(counts).toEqual([expect.objectContaining({ name: 'plain', title: 'Called XQ', total_projects_count: 2 })]);
    const all = await names({});
    expect(all.filter((name: string) => ['XQ-fish', 'bird-xq', 'plain'].includes(name))).toEqual([
      'XQ-fish',
      'bird-xq',
      'plain',
    ]);
  });

  it('finds parts of names and titles, the most similar name first', async () => {
    expect(await names({ search: 'xq' })).toEqual(['xq', 'XQ-fish', 'xq-bird', 'bird-xq', 'plain']);
    expect(await names({ search: '%' })).toEqual([]);
    expect(await names({ search: 'xq', without_projects: true })).toEqual(['xq', 'xq-bird']);
    expect(await names({ search: 'xq', without_projects: 'False' })).toHaveLength(5);
    expect(await names({ search: 'xq', organization_id: 7 })).toEqual([]);
    expect(await names({ search: 'xq', organization_id: 1 })).toHaveLength(5);
    expect((await identity.anonymous.get('/api/v4/topics').query({ without_projects: 'x' })).body).toEqual({
      error: 'without_projects is invalid',
    });
  });

  it('answers HEAD', async () => {
    const { status, text, headers } = await identity.anonymous.head('/api/v4/topics?search=xq');
    expect([status, text, headers['x-total']]).toEqual([200, undefined, '5']);
    const [{ id }] = (await identity.anonymous.get('/api/v4/topics?search=xq')).body;
    await identity.anonymous.head(`/api/v4/topics/${id}`).expect(200);
  });

  registerListPagingTests(() => ({
    app: identity.app,
    viewer: makeViewer({ userId: ada.id, username: 'ada' }),
    path: '/api/v4/topics',
    query: { search: 'xq' },
    rows: 5,
  }));
});
