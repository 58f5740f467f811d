import {
  anonymousViewer,
  makeViewer,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
} from '@rookery/testing';
import { maker } from '../support/groups-and-projects';
import type { MadeProject } from '../support/groups-and-projects';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;
let bob: Person;
const { person, group, project, join, unique } = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
  bob = await identity.person('bob');
});
afterAll(() => identity.close());

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const postProject = (body: object, by: Person = ada) =>
  by.client.post('/api/v4/projects').send({ name: unique('p'), ...body });
const putProject = (id: number, body: object, by: Person = ada) => by.client.put(`/api/v4/projects/${id}`).send(body);
const encodedPathOf = ({ path_with_namespace }: MadeProject) => encodeURIComponent(path_with_namespace);
const listCreatedEvents = (id: number) =>
  identity.db.query<{ payload: Record<string, unknown>; actor_id: number }>(
    `select payload, actor_id from outbox where subject = 'identity.project.created.v1' and aggregate_id = $1`,
    [id],
  );

it('a new path is announced, and other changes are not', async () => {
  const made = await project(ada);
  const renames = () =>
    identity.db.query<{ payload: Record<string, unknown>; actor_id: number }>(
      `select payload, actor_id from outbox where subject = 'identity.project.renamed.v1' and aggregate_id = $1`,
      [made.id],
    );
  await putProject(made.id, { name: unique('named'), description: 'x' }).expect(200);
  expect(await renames()).toEqual([]);
  await putProject(made.id, { path: unique('renamed') }).expect(200);
  const payload = { project_id: made.id, namespace_id: ada.namespaceId };
  expect(await renames()).toEqual([{ payload, actor_id: ada.id }]);
});

describe('POST /projects', () => {
  it.each([
    [{ topics: ['Birds', 'sea'] }, ['Birds', 'sea']],
    [{ topics: 'Birds, sea' }, ['Birds', 'sea']],
    [{ tag_list: ['birds', 'BIRDS'] }, ['birds']],
    [{ topics: [] }, []],
  ])('accepts topics as %j', async (sent, expected) => {
    const { status, body } = await postProject(sent);
    expect([status, body.topics.map((one: string) => one.toLowerCase())]).toEqual([
      201,
      expected.map((one) => one.toLowerCase()),
    ]);
    expect(body.tag_list).toEqual(body.topics);
  });

  it('accepts an avatar by multipart, with other fields as texts and an empty part', async () => {
    const { status, body } = await ada.client
      .post('/api/v4/projects')
      .field({
        name: unique('p'),
        file: '',
        issues_enabled: '0',
        lfs_enabled: '1',
        build_timeout: '700',
        topics: 'one,two',
      })
      .attach('avatar', PNG, 'avatar.png');
    expect([status, body.issues_enabled, body.lfs_enabled, body.build_timeout]).toEqual([201, false, true, 700]);
    expect(body.topics).toEqual(['one', 'two']);
    expect(body.avatar_url).toBe(`http://localhost:8080/uploads/-/system/project/avatar/${body.id}/avatar.png`);
  });

  it('begins with a README on request, which the event and the directory say', async () => {
    const [plain, wished] = [await postProject({}), await postProject({ initialize_with_readme: 'true' })];
    expect(plain.body).toMatchObject({ empty_repo: true, default_branch: null });
    expect(wished.body).toMatchObject({ empty_repo: false, default_branch: 'main' });
    const named = await postProject({ initialize_with_readme: true, default_branch: 'trunk' });
    expect(named.body).toMatchObject({ empty_repo: false, default_branch: 'trunk' });
    expect((await listCreatedEvents(plain.body.id))[0]!.payload).not.toHaveProperty('initialize_with_readme');
    expect((await listCreatedEvents(wished.body.id))[0]!.payload).toMatchObject({ initialize_with_readme: true });
  });

  it('treats a blank name or path as omitted, and null as not sent', async () => {
    const path = unique('only');
    expect((await postProject({ name: '', path })).body).toMatchObject({ name: path, path });
    const name = unique('only');
    const made = await postProject({
      name,
      path: '',
      namespace_id: null,
      import_url: '',
      template_name: null,
      avatar: '',
    });
    expect([made.status, made.body.path, made.body.avatar_url]).toEqual([201, name, null]);
  });

  it.each<[object, object]>([
    [{ template_name: 'rails' }, { template_name: ["'rails' is unknown or invalid"] }],
    [{ description: 'x'.repeat(2001) }, { description: ['is too long (maximum is 2000 characters)'] }],
    [{ ci_config_path: 'x'.repeat(256) }, { ci_config_path: ['is too long (maximum is 255 characters)'] }],
    [{ topics: ['x'.repeat(256)] }, { topics: ['is too long (maximum is 255 characters)'] }],
    [
      { name: '', path: '' },
      { name: ["can't be blank"], path: ["can't be blank"] },
    ],
  ])('refuses %j', async (sent, message) => {
    const { status, body } = await postProject(sent);
    expect([status, body]).toEqual([400, { message }]);
  });

  it('refuses an invalid avatar, and another organization', async () => {
    const { status, body } = await ada.client
      .post('/api/v4/projects')
      .field({ name: unique('p') })
      .attach('avatar', Buffer.from('no picture'), 'avatar.png');
    expect([status, Object.keys(body.message)]).toEqual([400, ['avatar']]);
    await postProject({ organization_id: 1 }).expect(201);
    expect(await postProject({ organization_id: 2 })).toMatchObject({
      status: 404,
      body: { message: '404 Organization Not Found' },
    });
  });

  it('creates nothing when one of its parts is refused', async () => {
    const name = unique('whole');
    await postProject({ name, topics: ['a\u0007b'] }).expect(400);
    await postProject({ name }).expect(201);
  });

  it.each([
    ['pages_access_level', 'public', 201],
    ['wiki_access_level', 'public', 400],
    ['forking_access_level', 'private', 201],
    ['merge_method', 'rebase_merge', 201],
    ['merge_method', 'octopus', 400],
    ['squash_option', 'default_on', 201],
    ['squash_option', 'perhaps', 400],
    ['build_timeout', 599, 400],
    ['lfs_enabled', 'perhaps', 400],
    ['namespace_id', 'x', 400],
    ['name', ['x'], 400],
    ['description', { a: 1 }, 400],
    ['name', 'a\0b', 400],
    ['namespace_id', 9_007_199_254_740_991, 400],
  ])('with %s %j is %i', async (field, value, expected) => {
    const { status, body } = await postProject({ [field]: value });
    expect(status).toBe(expected);
    if (expected === 201) expect(body[field]).toBe(value);
  });

  it('enforces the limit for concurrent requests', async () => {
    const small = await person({ projects_limit: 3 });
    const answers = await Promise.all(Array.from({ length: 8 }, () => postProject({}, small)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 400, 400, 400, 400, 400]);
    expect(answers.find(({ status }) => status === 400)!.body).toEqual({
      message: {
        limit_reached: ['Your project limit is 3 projects! Please contact your administrator to increase it'],
      },
    });
  });
});

describe('POST /projects/user/:user_id', () => {
  const make = (id: number | string, body: object, client = identity.root) =>
    client.post(`/api/v4/projects/user/${id}`).send(body);

  it("creates a project in that user's own namespace", async () => {
    const { status, body } = await make(bob.id, { name: unique('theirs'), description: 'given' });
    expect([status, body.creator_id, body.namespace.full_path, body.owner.id]).toEqual([201, bob.id, 'bob', bob.id]);
    expect(body).toEqual((await identity.root.get(`/api/v4/projects/${body.id}`)).body);
    expect((await bob.client.get(`/api/v4/projects/${body.id}`)).body.permissions.project_access.access_level).toBe(50);
    expect((await listCreatedEvents(body.id))[0]).toMatchObject({ actor_id: 1, payload: { creator_id: bob.id } });
  });

  it("checks that user's permissions and limit", async () => {
    const [home, full] = [await group(ada), await person({ projects_limit: 0 })];
    const notValid = { status: 400, body: { message: { namespace: ['is not valid'] } } };
    expect(await make(bob.id, { name: 'x', namespace_id: home.id })).toMatchObject(notValid);
    await make(ada.id, { name: 'x', namespace_id: home.id }).expect(201);
    expect(Object.keys((await make(full.id, { name: 'x' })).body.message)).toEqual(['limit_reached']);
  });

  it('checks in the usual order', async () => {
    expect((await make(bob.id, {}, identity.anonymous)).body).toEqual({ message: '401 Unauthorized' });
    expect(await make(bob.id, {}, bob.client)).toMatchObject({ status: 403, body: { message: '403 Forbidden' } });
    expect((await make('x', { name: 'x' })).body).toEqual({ error: 'user_id is invalid' });
    expect((await make(bob.id, {})).body).toEqual({
      error: 'name, path are missing, at least one parameter must be provided',
    });
    expect(await make(999_999, { name: 'x' })).toMatchObject({ status: 404, body: { message: '404 User Not Found' } });
  });

  registerParameterEncodingTests({
    app: () => identity.app,
    to: () => ({
      viewer: makeViewer({ userId: 1, username: 'root', isAdmin: true }),
      method: 'POST',
      path: `/api/v4/projects/user/${bob.id}`,
      params: { name: unique('enc'), wiki_enabled: false, topics: ['one', 'two'] },
    }),
    seen: (body) => [body['wiki_access_level'], body['topics'], body['creator_id'] === bob.id],
    expected: ['disabled', ['one', 'two'], true],
  });
});

describe('PUT /projects/:id', () => {
  it('replaces topics, sets and removes the avatar, and keeps omitted fields', async () => {
    const made = await project(ada, { topics: ['old'], description: 'kept' });
    const set = await ada.client
      .put(`/api/v4/projects/${encodedPathOf(made)}`)
      .field({ topics: 'new,newer' })
      .attach('avatar', PNG, 'b.png');
    expect([set.status, set.body.topics, set.body.description]).toEqual([200, ['new', 'newer'], 'kept']);
    expect(set.body.avatar_url).toMatch(/\/b\.png$/);
    expect((await putProject(made.id, { name: unique('q') })).body).toMatchObject({ avatar_url: set.body.avatar_url });
    expect((await putProject(made.id, { avatar: '', topics: '' })).body).toMatchObject({
      avatar_url: null,
      topics: [],
    });
    const states = await identity.db.query<{ url: string | null }>(
      `select state ->> 'avatar_url' as url from directory_changes where kind = 'project' and entity_id = $1 order by version`,
      [made.id],
    );
    expect(states.map(({ url }) => url !== null)).toEqual([false, true, true, false]);
  });

  it('refuses by field, and then changes nothing', async () => {
    const home = await group(ada, { visibility: 'internal' });
    const made = await project(ada, { namespace_id: home.id });
    const cases: [object, object][] = [
      [{ name: '' }, { name: ["can't be blank"] }],
      [{ path: 'tree' }, { path: ['tree is a reserved name'] }],
      [{ visibility: 'public' }, { visibility_level: ['public is not allowed in a internal group.'] }],
      [
        { merge_commit_template: 'x'.repeat(501) },
        { merge_commit_template: ['is too long (maximum is 500 characters)'] },
      ],
      [{ import_url: 'https://example.com/a.git' }, { import_url: ['git import source is disabled'] }],
      [{ topics: ['x'.repeat(256)], description: 'x' }, { topics: ['is too long (maximum is 255 characters)'] }],
    ];
    const before = (await ada.client.get(`/api/v4/projects/${made.id}`)).body;
    for (const [sent, message] of cases) {
      const { status, body } = await putProject(made.id, sent);
      expect([sent, status, body]).toEqual([sent, 400, { message }]);
    }
    expect((await ada.client.get(`/api/v4/projects/${made.id}`)).body).toEqual(before);
  });

  it('accepts an unchanged name that would be invalid now', async () => {
    const made = await project(ada);
    await identity.db.query(`update projects set name = '(old)' where id = $1`, [made.id]);
    await putProject(made.id, { name: '(old)', description: 'x' }).expect(200);
    await putProject(made.id, { name: '(new)' }).expect(400);
  });

  it('changes the case of a name and path without a redirect', async () => {
    const made = await project(ada);
    const path = made.path_with_namespace.split('/')[1]!.toUpperCase();
    expect((await putProject(made.id, { name: path, path })).body).toMatchObject({ name: path, path });
    expect((await ada.client.get(`/api/v4/projects/${encodedPathOf(made)}`)).body.id).toBe(made.id);
  });

  it('requires maintainers, and owners for the visibility', async () => {
    const made = await project(ada);
    const one = await person();
    await join(`/api/v4/projects/${made.id}`, one, 40);
    await putProject(made.id, { visibility: 'private', description: 'x' }, one).expect(200);
    expect(await putProject(made.id, { visibility: 'public' }, one)).toMatchObject({
      status: 403,
      body: { message: '403 Forbidden' },
    });
  });

  registerRefusalOrderTests(
    () => identity.app,
    async () => {
      const [made, reader] = [await project(ada), await person()];
      await join(`/api/v4/projects/${made.id}`, reader, 30);
      return {
        method: 'PUT',
        path: `/api/v4/projects/${made.id}`,
        good: { description: 'x' },
        bad: { visibility: 'secret' },
        anonymous: anonymousViewer(),
        outsider: makeViewer({ userId: (await person()).id }),
        reader: makeViewer({ userId: reader.id }),
        allowed: makeViewer({ userId: ada.id, username: 'ada' }),
      };
    },
  );

  registerParameterEncodingTests({
    app: () => identity.app,
    to: async () => ({
      viewer: makeViewer({ userId: ada.id, username: 'ada' }),
      method: 'PUT',
      path: `/api/v4/projects/${encodedPathOf(await project(ada))}`,
      params: { jobs_enabled: false, build_timeout: 900, topics: ['one', 'two'], squash_option: 'always' },
    }),
    seen: (body) => [body['jobs_enabled'], body['build_timeout'], body['topics'], body['squash_option']],
    expected: [false, 900, ['one', 'two'], 'always'],
  });
});
