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

const createPublicProject = (over = {}) => project(ada, { visibility: 'public', ...over });
const encodedPathOf = ({ path_with_namespace }: MadeProject) => encodeURIComponent(path_with_namespace);
const postFork = (by: Person, id: number | string, body: object = {}) =>
  by.client.post(`/api/v4/projects/${id}/fork`).send(body);
const readProjectColumn = async (id: number, name: string): Promise<unknown> =>
  (await identity.db.query<Record<string, unknown>>(`select ${name} as value from projects where id = $1`, [id]))[0]![
    'value'
  ];
const uniqueNameAndPath = (): object => {
  const name = unique('own');
  return { name, path: name };
};
const TAKEN = 'has already been taken';
const NO_TARGET = { status: 404, body: { message: '404 Target Namespace Not Found' } };

describe('POST /projects/:id/fork', () => {
  it('creates a project of the caller with values of the source, and counts the fork', async () => {
    const source = await createPublicProject({
      name: 'Bird House',
      description: 'text\r\nmore',
      wiki_access_level: 'private',
      issues_access_level: 'disabled',
      ci_config_path: 'ci.yml',
      merge_method: 'ff',
    });
    const { body } = await postFork(bob, encodedPathOf(source)).expect(201);
    expect(body).toMatchObject({
      name: 'Bird House',
      path: 'bird-house',
      path_with_namespace: 'bob/bird-house',
      description: 'text\r\nmore',
      visibility: 'public',
      wiki_access_level: 'private',
      issues_access_level: 'disabled',
      ci_config_path: 'ci.yml',
      merge_method: 'merge',
      archived: false,
      import_status: 'finished',
      creator_id: bob.id,
      owner: { id: bob.id },
      forks_count: 0,
      star_count: 0,
      permissions: { project_access: { access_level: 50, notification_level: 3 }, group_access: null },
    });
    expect(body).toEqual((await bob.client.get(`/api/v4/projects/${body.id}`)).body);
    expect(await readProjectColumn(body.id, 'forked_from_project_id')).toBe(source.id);
    expect((await ada.client.get(`/api/v4/projects/${source.id}`)).body.forks_count).toBe(1);
    const events = await identity.db.query<{ subject: string; payload: unknown }>(
      `select subject, payload from outbox where aggregate_type = 'project' and aggregate_id = $1 order by id`,
      [body.id],
    );
    const facts = { project_id: body.id, namespace_id: bob.namespaceId, creator_id: bob.id };
    expect(events).toEqual([
      { subject: 'identity.project.created.v1', payload: { ...facts, created_at: expect.any(String) } },
      {
        subject: 'identity.project.forked.v1',
        payload: { ...facts, source_project_id: source.id, forked_at: expect.any(String) },
      },
    ]);
  });

  it('accepts its own name, path, description and visibility, and a namespace by id, path or either', async () => {
    const source = await createPublicProject();
    const home = await group(bob, { visibility: 'internal' });
    const wishes = { name: 'Other name', path: 'other', description: null, visibility: 'private' };
    const first = await postFork(bob, source.id, { ...wishes, namespace_id: home.id, namespace: 'nobody' });
    expect([first.status, first.body]).toEqual([
      201,
      expect.objectContaining({ ...wishes, path_with_namespace: `${home.full_path}/other` }),
    ]);
    const paths: string[] = [];
    for (const where of [
      { namespace_path: home.full_path.toUpperCase() },
      { namespace: home.full_path },
      { namespace: String(home.id) },
      { namespace: 'bob' },
      { namespace_id: null, namespace_path: '' },
    ]) {
      const path = unique('into');
      const { status, body } = await postFork(bob, source.id, { ...where, name: path, path });
      expect([where, status]).toEqual([where, 201]);
      paths.push(body.namespace.full_path);
    }
    expect(paths).toEqual([home.full_path, home.full_path, home.full_path, 'bob', 'bob']);
  });

  it.each([
    ['public', 'public', undefined, 'public'],
    ['public', 'internal', undefined, 'internal'],
    ['public', 'private', 'public', 'private'],
    ['internal', 'public', 'public', 'internal'],
    ['private', 'public', 'internal', 'private'],
    ['public', 'public', 'internal', 'internal'],
  ])('of a %s source in a %s group, asked for %s, is %s', async (from, where, asked, expected) => {
    const source = await project(ada, { visibility: from });
    const home = await group(ada, { visibility: where });
    const { body } = await postFork(ada, source.id, { namespace_id: home.id, ...(asked ? { visibility: asked } : {}) });
    expect(body.visibility).toBe(expected);
  });

  it('has one branch if `branches` names it, and the size of its source', async () => {
    const source = await createPublicProject();
    await identity.db.query(
      'update project_statistics set commit_count = 3, repository_size = 700 where project_id = $1',
      [source.id],
    );
    const { body } = await postFork(bob, source.id, { ...uniqueNameAndPath(), branches: 'feature/a' }).expect(201);
    expect(body).toMatchObject({ default_branch: 'feature/a', empty_repo: false });
    const [event] = await identity.db.query<{ payload: unknown }>(
      `select payload from outbox where subject = 'identity.project.forked.v1' and aggregate_id = $1`,
      [body.id],
    );
    expect(event!.payload).toMatchObject({ branch: 'feature/a' });
    const long = await postFork(bob, source.id, { ...uniqueNameAndPath(), branches: 'x'.repeat(256) });
    expect([long.status, long.body]).toEqual([
      409,
      { message: { default_branch: ['is too long (maximum is 255 characters)'] } },
    ]);
  });

  it('stays at most as visible as its source', async () => {
    const source = await createPublicProject({ visibility: 'internal' });
    const { body } = await postFork(bob, source.id, { visibility: 'private' });
    const change = (visibility: string) => bob.client.put(`/api/v4/projects/${body.id}`).send({ visibility });
    const refusal = await change('public');
    expect([refusal.status, refusal.body]).toEqual([
      400,
      { message: { visibility_level: ['public is not allowed since the fork source project has lower visibility.'] } },
    ]);
    expect((await change('internal').expect(200)).body.visibility).toBe('internal');
  });

  it('copies the avatar', async () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
    const { body: source }: { body: MadeProject } = await ada.client
      .post('/api/v4/projects')
      .field({ name: unique('pictured'), visibility: 'public' })
      .attach('avatar', png, 'a.png')
      .expect(201);
    const { body } = await postFork(bob, source.id);
    expect(body.avatar_url).toBe(`http://localhost:8080/uploads/-/system/project/avatar/${body.id}/a.png`);
  });

  it('is 409 by field when the name or path is taken or reserved, and when the namespace is full', async () => {
    const source = await createPublicProject({ name: 'Twice Forked' });
    await postFork(bob, source.id).expect(201);
    const cases: [object, object][] = [
      [{}, { 'project_namespace.name': [TAKEN], name: [TAKEN], path: [TAKEN] }],
      [{ name: 'New' }, { path: [TAKEN] }],
      [{ path: 'newer' }, { 'project_namespace.name': [TAKEN], name: [TAKEN] }],
      [{ name: 'New', path: 'tree' }, { path: ['tree is a reserved name'] }],
    ];
    for (const [body, message] of cases) {
      const refused = await postFork(bob, source.id, body);
      expect([body, refused.status, refused.body]).toEqual([body, 409, { message }]);
    }
    const full = await person({ projects_limit: 0 });
    expect(await postFork(full, source.id)).toMatchObject({
      status: 409,
      body: {
        message: {
          limit_reached: ['Personal project creation is not allowed. Please contact your administrator with questions'],
        },
      },
    });
  });

  it('hides namespaces that the caller cannot see, and refuses those in which the caller may not create projects', async () => {
    const source = await createPublicProject();
    const [secret, shown] = [await group(ada), await group(ada, { visibility: 'public' })];
    const unknown = { status: 404, body: { message: '404 Namespace Not Found' } };
    for (const where of [{ namespace_id: secret.id }, { namespace: 'none/such' }, { namespace: 'ada' }])
      expect(await postFork(bob, source.id, where)).toMatchObject(unknown);
    expect(await postFork(bob, source.id, { namespace: shown.full_path })).toMatchObject(NO_TARGET);
    await join(`/api/v4/groups/${shown.id}`, bob, 20);
    expect(await postFork(bob, source.id, { namespace: shown.full_path })).toMatchObject(NO_TARGET);
    const bot = identity.as({ userId: 9_999, username: 'bot', isBot: true });
    expect((await bot.post(`/api/v4/projects/${source.id}/fork`)).body).toEqual(NO_TARGET.body);
  });

  it('lets an administrator fork into any namespace', async () => {
    const source = await project(ada);
    const { status, body } = await identity.root.post(`/api/v4/projects/${source.id}/fork`).send({ namespace: 'bob' });
    expect([status, body.path_with_namespace, body.creator_id]).toEqual([
      201,
      source.path_with_namespace.replace('ada/', 'bob/'),
      1,
    ]);
    expect((await bob.client.get(`/api/v4/projects/${body.id}`)).body.permissions.project_access.access_level).toBe(50);
  });

  it.each<[Readonly<Record<string, unknown>>, number, number]>([
    [{ visibility: 'public' }, 0, 201],
    [{ visibility: 'internal' }, 0, 201],
    [{ visibility: 'private' }, 10, 404],
    [{ visibility: 'private' }, 15, 404],
    [{ visibility: 'private' }, 20, 201],
    [{ visibility: 'public', forking_access_level: 'private' }, 0, 404],
    [{ visibility: 'public', forking_access_level: 'private' }, 10, 404],
    [{ visibility: 'public', forking_access_level: 'private' }, 20, 201],
    [{ visibility: 'public', forking_access_level: 'disabled' }, 50, 404],
    [{ visibility: 'public', repository_access_level: 'private' }, 0, 404],
    [{ visibility: 'public', repository_access_level: 'disabled' }, 50, 404],
  ])('of %j with level %i: %i', async (over, level, expected) => {
    const source = await project(ada, over);
    const one = await person();
    if (level > 0) await join(`/api/v4/projects/${source.id}`, one, level);
    const { status, body } = await postFork(one, source.id);
    expect(status).toBe(expected);
    if (expected === 404) expect(body).toEqual({ message: '404 Not Found' });
  });

  it('stays within a top-level group that requires it, except for administrators', async () => {
    const root = await group(ada, { visibility: 'public' });
    const sub = await group(ada, { visibility: 'public', parent_id: root.id });
    await ada.client.put(`/api/v4/groups/${root.id}`).send({ prevent_forking_outside_group: true }).expect(200);
    const source = await project(ada, { namespace_id: root.id, visibility: 'public' });
    expect(await postFork(ada, source.id)).toMatchObject(NO_TARGET);
    await postFork(ada, source.id, { namespace_id: sub.id }).expect(201);
    await identity.root.post(`/api/v4/projects/${source.id}/fork`).expect(201);
  });

  it('works for archived projects and forks, and survives the removal of its source', async () => {
    const source = await createPublicProject();
    await ada.client.post(`/api/v4/projects/${source.id}/archive`).expect(201);
    const first = await postFork(bob, source.id);
    expect([first.status, first.body.archived]).toEqual([201, false]);
    const second = await postFork(ada, first.body.id, { path: unique('again'), name: unique('again') });
    expect(await readProjectColumn(second.body.id, 'forked_from_project_id')).toBe(first.body.id);
    await identity.root.delete(`/api/v4/projects/${first.body.id}`);
    const gone = {
      permanently_remove: true,
      full_path: `${first.body.path_with_namespace}-deletion_scheduled-${first.body.id}`,
    };
    await identity.root.delete(`/api/v4/projects/${first.body.id}`).send(gone);
    expect(await readProjectColumn(second.body.id, 'forked_from_project_id')).toBeNull();
    expect(await readProjectColumn(source.id, 'forks_count')).toBe(0);
  });

  it('counts exactly for concurrent forks, of which one gets a taken name', async () => {
    const source = await createPublicProject();
    const people = await Promise.all(Array.from({ length: 5 }, () => person()));
    const answers = await Promise.all([...people, ...people].map((one) => postFork(one, source.id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(5).fill(201), ...Array(5).fill(409)]);
    expect(await readProjectColumn(source.id, 'forks_count')).toBe(5);
  });

  it('enforces the limit of a personal namespace for concurrent requests', async () => {
    const sources = await Promise.all(Array.from({ length: 5 }, () => createPublicProject()));
    const small = await person({ projects_limit: 2 });
    const answers = await Promise.all(sources.map(({ id }) => postFork(small, id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409]);
  });

  it('refuses invalid values', async () => {
    const { id } = await createPublicProject();
    expect((await postFork(bob, id, { visibility: 'secret' })).body).toEqual({
      error: 'visibility does not have a valid value',
    });
    expect((await postFork(bob, id, { namespace_id: 'x' })).body).toEqual({ error: 'namespace_id is invalid' });
    expect((await postFork(bob, id, { name: 'a\0' })).body).toEqual({ error: 'name is invalid' });
    await postFork(bob, id, { namespace_id: 9_007_199_254_740_991 }).expect(404);
  });

  registerParameterEncodingTests({
    app: () => identity.app,
    to: async (encoding) => {
      const { id } = await createPublicProject();
      const name = `enc ${encoding.replace(/\W/g, '')}`;
      const viewer = makeViewer({ userId: bob.id, username: 'bob' });
      return {
        viewer,
        method: 'POST',
        path: `/api/v4/projects/${id}/fork`,
        params: { name, path: unique('enc'), visibility: 'private', namespace_id: bob.namespaceId },
      };
    },
    seen: (body) => [body['visibility'], (body['namespace'] as { id: number }).id === bob.namespaceId],
    expected: ['private', true],
  });

  registerRefusalOrderTests(
    () => identity.app,
    async () => ({
      method: 'POST',
      path: `/api/v4/projects/${(await project(ada)).id}/fork`,
      good: {},
      bad: { visibility: 'secret' },
      anonymous: anonymousViewer(),
      outsider: makeViewer({ userId: (await person()).id }),
      allowed: makeViewer({ userId: 1, isAdmin: true, username: 'root' }),
    }),
  );
});
