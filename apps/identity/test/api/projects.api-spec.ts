import { makeViewer, registerListPagingTests, registerParameterEncodingTests } from '@rookery/testing';
import { DueRemovalsJob } from '../../src/removal/due-removals.job';
import { inDays } from '../support/groups-and-projects';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;
let bob: Person;
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
  bob = await identity.person('bob');
});
afterAll(() => identity.close());

interface Project {
  readonly id: number;
  readonly path_with_namespace: string;
}
let serial = 0;
const uniqueName = (stem = 'p') => `${stem}-${++serial}`;
const createProject = async (over: Readonly<Record<string, unknown>> = {}, by: Person = ada) =>
  (
    await by.client
      .post('/api/v4/projects')
      .send({ name: uniqueName(), ...over })
      .expect(201)
  ).body as Project;
interface Group {
  readonly id: number;
  readonly full_path: string;
}
const createGroup = async (over: Readonly<Record<string, unknown>> = {}, by: Person = ada): Promise<Group> => {
  const path = uniqueName('g');
  const { body } = await by.client
    .post('/api/v4/groups')
    .send({ name: path, path, ...over })
    .expect(201);
  return body;
};
const addMember = (kind: 'groups' | 'projects', id: number, person: Person, access_level: number) =>
  identity.root.post(`/api/v4/${kind}/${id}/members`).send({ user_id: person.id, access_level }).expect(201);
const encodedPathOf = (project: Project) => encodeURIComponent(project.path_with_namespace);

const BASIC = [
  'id',
  'description',
  'name',
  'name_with_namespace',
  'path',
  'path_with_namespace',
  'created_at',
  'default_branch',
  'tag_list',
  'topics',
  'ssh_url_to_repo',
  'http_url_to_repo',
  'web_url',
  'readme_url',
  'forks_count',
  'avatar_url',
  'star_count',
  'last_activity_at',
  'visibility',
  'namespace',
];

describe('POST /projects', () => {
  it("creates a project in the caller's own namespace, where the caller gets level 50", async () => {
    const { body } = await ada.client
      .post('/api/v4/projects')
      .send({ name: 'My Project', description: 'a *b*\r\nc' })
      .expect(201);
    expect(body).toMatchObject({
      name: 'My Project',
      path: 'my-project',
      path_with_namespace: 'ada/my-project',
      name_with_namespace: 'Name of ada / My Project',
      description: 'a *b*\r\nc',
      description_html: '<p>a <em>b</em>\nc</p>',
      visibility: 'private',
      ssh_url_to_repo: 'git@localhost:ada/my-project.git',
      http_url_to_repo: 'http://localhost:8080/ada/my-project.git',
      web_url: 'http://localhost:8080/ada/my-project',
      owner: { id: ada.id, username: 'ada' },
      creator_id: ada.id,
      issues_enabled: true,
      issues_access_level: 'enabled',
      import_status: 'none',
      namespace: {
        id: ada.namespaceId,
        kind: 'user',
        full_path: 'ada',
        parent_id: null,
        web_url: 'http://localhost:8080/ada',
      },
      permissions: { project_access: { access_level: 50, notification_level: 3 }, group_access: null },
      _links: { self: `http://localhost:8080/api/v4/projects/${body.id}`, issues: expect.any(String) },
      runners_token: expect.any(String),
    });
    expect(Object.keys(body)).toEqual(expect.arrayContaining(BASIC));
    expect((await ada.client.get(`/api/v4/projects/${body.id}/members`)).body).toEqual([
      expect.objectContaining({ id: ada.id, access_level: 50 }),
    ]);
  });

  it('creates a project in a group, also with a path only', async () => {
    const home = await createGroup({ visibility: 'internal' });
    const { body } = await ada.client
      .post('/api/v4/projects')
      .send({ path: 'Web', namespace_id: home.id, visibility: 'internal' });
    expect(body).toMatchObject({ name: 'Web', path: 'Web', namespace: { kind: 'group', parent_id: null } });
    expect(body).not.toHaveProperty('owner');
    expect(body.permissions).toEqual({
      project_access: null,
      group_access: { access_level: 50, notification_level: 3 },
    });
  });

  it('converts deprecated switches', async () => {
    const { id } = await createProject({
      issues_enabled: false,
      wiki_enabled: '0',
      jobs_enabled: 'False',
      merge_method: 'ff',
    });
    expect((await ada.client.get(`/api/v4/projects/${id}`)).body).toMatchObject({
      issues_enabled: false,
      issues_access_level: 'disabled',
      wiki_enabled: false,
      wiki_access_level: 'disabled',
      jobs_enabled: false,
      merge_method: 'ff',
    });
  });

  it('refuses invalid values', async () => {
    const taken = {
      'project_namespace.name': ['has already been taken'],
      name: ['has already been taken'],
      path: ['has already been taken'],
    };
    await createProject({ name: 'twice' });
    const home = await createGroup();
    const cases: [object, unknown][] = [
      [{}, { error: 'name, path are missing, at least one parameter must be provided' }],
      [{ name: 'Twice' }, { message: taken }],
      [{ name: 'x', namespace_id: 99999 }, { message: { namespace: ['is not valid'] } }],
      [{ name: 'x', namespace_id: bob.namespaceId }, { message: { namespace: ['is not valid'] } }],
      [
        { name: 'x', namespace_id: home.id, visibility: 'public' },
        { message: { visibility_level: ['public is not allowed in a private group.'] } },
      ],
      [{ name: 'tree' }, { message: { path: ['tree is a reserved name'] } }],
      [{ name: 'x', path: '-x' }, { message: { path: [expect.stringContaining('can contain only letters')] } }],
      [{ name: 'x', issues_access_level: 'public' }, { error: 'issues_access_level does not have a valid value' }],
    ];
    for (const [body, expected] of cases) {
      const response = await ada.client.post('/api/v4/projects').send(body);
      expect([body, response.status, response.body]).toEqual([body, 400, expected]);
    }
    await identity.anonymous.post('/api/v4/projects').send({}).expect(401);
  });

  it('shares its paths with subgroups', async () => {
    const home = await createGroup();
    await ada.client.post('/api/v4/groups').send({ name: 'sub', path: 'sub', parent_id: home.id }).expect(201);
    const { body } = await ada.client
      .post('/api/v4/projects')
      .send({ name: 'Other name', path: 'SUB', namespace_id: home.id });
    expect(body).toEqual({ message: { path: ['has already been taken'] } });
  });

  it('enforces the limit of personal projects', async () => {
    const none = await identity.person('none', { projects_limit: 0 });
    expect((await none.client.post('/api/v4/projects').send({ name: 'x' })).body).toEqual({
      message: {
        limit_reached: ['Personal project creation is not allowed. Please contact your administrator with questions'],
      },
    });
  });

  it.each([
    [20, 'developer', 400],
    [30, 'developer', 201],
    [30, 'maintainer', 400],
    [40, 'maintainer', 201],
    [50, 'noone', 400],
  ])('with level %i in a group for %s: %i', async (level, project_creation_level, expected) => {
    const home = await createGroup({ project_creation_level });
    const member = await identity.person(uniqueName('member'));
    await addMember('groups', home.id, member, level);
    await member.client.post('/api/v4/projects').send({ name: 'x', namespace_id: home.id }).expect(expected);
  });

  it('gives a path to one of several concurrent requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => ada.client.post('/api/v4/projects').send({ name: 'race' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400, 400, 400, 400, 400]);
  });

  registerParameterEncodingTests({
    app: () => identity.app,
    to: (encoding) => ({
      viewer: makeViewer({ userId: ada.id, username: 'ada' }),
      method: 'POST',
      path: '/api/v4/projects',
      params: { name: `enc ${encoding.replace(/\W/g, '')} ${++serial}`, issues_enabled: false, build_timeout: 700 },
    }),
    seen: (body) => [body['issues_enabled'], body['build_timeout']],
    expected: [false, 700],
  });
});

describe('permissions on a project', () => {
  const levels = { anonymous: -1, stranger: 0, guest: 10, developer: 30, maintainer: 40, owner: 50 } as const;
  it.each(['private', 'internal', 'public'])('%s', async (visibility) => {
    for (const [who, level] of Object.entries(levels)) {
      const project = await createProject({ visibility });
      const person = await identity.person(uniqueName('who'));
      if (level > 0) await addMember('projects', project.id, person, level);
      const client = level < 0 ? identity.anonymous : person.client;
      const isSeen = level > 0 || visibility === 'public' || (visibility === 'internal' && level === 0);
      const may = (needed: number, success: number) =>
        level < 0 ? 401 : !isSeen ? 404 : level >= needed ? success : 403;
      const got = {
        get: (await client.get(`/api/v4/projects/${project.id}`)).status,
        put: (await client.put(`/api/v4/projects/${project.id}`).send({ description: 'new' })).status,
        visibility: (
          await client
            .put(`/api/v4/projects/${project.id}`)
            .send({ visibility: visibility === 'public' ? 'private' : 'public' })
        ).status,
        delete: (await client.delete(`/api/v4/projects/${project.id}`)).status,
      };
      const afterwards = got.visibility === 200;
      expect([who, got]).toEqual([
        who,
        { get: isSeen ? 200 : 404, put: may(40, 200), visibility: may(50, 200), delete: may(50, 202) },
      ]);
      expect(afterwards).toBe(level >= 50);
    }
  });
});

describe('GET /projects/:id', () => {
  it('shows the basic shape to anonymous callers', async () => {
    const project = await createProject({ visibility: 'public' });
    expect(Object.keys((await identity.anonymous.get(`/api/v4/projects/${encodedPathOf(project)}`)).body)).toEqual(
      BASIC,
    );
    expect((await identity.anonymous.get('/api/v4/projects/none%2Fsuch')).body).toEqual({
      message: '404 Project Not Found',
    });
  });

  it('shows administrative fields only to callers who administer it', async () => {
    const project = await createProject({ visibility: 'public' });
    const { body } = await bob.client.get(`/api/v4/projects/${project.id}`);
    for (const key of ['runners_token', 'import_url', 'ci_default_git_depth']) expect(body).not.toHaveProperty(key);
    expect(body.permissions).toEqual({ project_access: null, group_access: null });
  });

  it('redirects from a former path to the present one, for callers who can see it', async () => {
    const project = await createProject();
    const { body } = await ada.client
      .put(`/api/v4/projects/${encodedPathOf(project)}`)
      .send({ path: uniqueName('moved') });
    expect(body.id).toBe(project.id);
    const moved = await ada.client.get(`/api/v4/projects/${encodedPathOf(project)}`);
    expect([moved.status, moved.get('location')]).toEqual([301, `http://localhost:8080/api/v4/projects/${project.id}`]);
    expect(moved.get('content-type')).toBe('text/plain');
    const asked = await ada.client
      .get(`/api/v4/projects/${encodedPathOf(project)}`)
      .query({ statistics: '1', license: false });
    expect(asked.get('location')).toBe(
      `http://localhost:8080/api/v4/projects/${project.id}?statistics=1&license=false`,
    );
    await bob.client.get(`/api/v4/projects/${encodedPathOf(project)}`).expect(404);
    await ada.client
      .put(`/api/v4/projects/${encodedPathOf(project)}`)
      .send({ name: 'x' })
      .expect(405);
    const members = await ada.client.get(`/api/v4/projects/${encodedPathOf(project)}/members/all?query=a`);
    expect([members.status, members.get('location')]).toEqual([
      301,
      `http://localhost:8080/api/v4/projects/${project.id}/members/all?query=a`,
    ]);
    await bob.client.get(`/api/v4/projects/${encodedPathOf(project)}/members`).expect(404);
    const heir = await createProject({ path: project.path_with_namespace.split('/')[1] });
    expect((await ada.client.get(`/api/v4/projects/${encodedPathOf(project)}`)).body.id).toBe(heir.id);
  });
});

describe('GET /projects', () => {
  let lena: Person;
  let ids: Record<string, number>;
  beforeAll(async () => {
    lena = await identity.person('lena');
    const team = await createGroup();
    await addMember('groups', team.id, lena, 20);
    const sub = await createGroup({ parent_id: team.id });
    ids = {
      own: (await createProject({ name: 'lena own', description: 'needle' }, lena)).id,
      open: (await createProject({ name: 'lena open', visibility: 'public', issues_enabled: false })).id,
      inner: (await createProject({ name: 'lena inner', visibility: 'internal' })).id,
      team: (await createProject({ name: 'lena team', namespace_id: team.id })).id,
      deep: (await createProject({ name: 'lena deep', namespace_id: sub.id })).id,
      hidden: (await createProject({ name: 'lena hidden' })).id,
    };
    const direct = await createProject({ name: 'lena direct' });
    await addMember('projects', direct.id, lena, 40);
    ids['direct'] = direct.id;
  });
  const named = (wanted: readonly number[]) => wanted.map((id) => Object.keys(ids).find((name) => ids[name] === id));
  const list = async (query: Record<string, unknown>, client = lena.client) =>
    named(
      (await client.get('/api/v4/projects').query({ search: 'lena', ...query })).body.map(
        (project: Project) => project.id,
      ),
    );

  it.each<[Record<string, unknown>, string[]]>([
    [{}, ['direct', 'deep', 'team', 'inner', 'open', 'own']],
    [{ membership: true }, ['direct', 'deep', 'team', 'own']],
    [{ owned: true }, ['own']],
    [{ min_access_level: 40 }, ['direct', 'own']],
    [{ min_access_level: 20 }, ['direct', 'deep', 'team', 'own']],
    [{ visibility: 'internal' }, ['inner']],
    [{ starred: true }, []],
    [{ topic: 'birds' }, []],
    [{ topic: '', starred: 'False' }, ['direct', 'deep', 'team', 'inner', 'open', 'own']],
    [{ order_by: 'name', sort: 'asc' }, ['deep', 'direct', 'inner', 'open', 'own', 'team']],
    [{ order_by: 'id', sort: 'asc', per_page: 2 }, ['own', 'open']],
    [{ order_by: 'similarity', search: 'lena own' }, ['own']],
    [{ with_issues_enabled: true, visibility: 'public' }, []],
    [{ search: 'NEEDLE' }, ['own']],
    [{ search: '%' }, []],
    [{ archived: true }, []],
    [{ last_activity_after: '2999-01-01T00:00:00Z' }, []],
    [{ updated_before: '2999-01-01T00:00:00Z' }, ['direct', 'deep', 'team', 'inner', 'open', 'own']],
  ])('filters by %j', async (query, expected) => expect(await list(query)).toEqual(expected));

  it('also searches namespaces on request', async () => {
    expect(await list({ search: 'lena/lena' })).toEqual([]);
    expect(await list({ search: 'lena/lena', search_namespaces: true })).toEqual(['own']);
  });

  it('filters by ranges of ids', async () => {
    expect(await list({ id_after: ids['team'] })).toEqual(['direct', 'deep']);
    expect(await list({ id_before: ids['inner'] })).toEqual(['open', 'own']);
  });

  it('lists public projects in the basic shape for anonymous callers, all for administrators, and no internal ones for external users', async () => {
    expect(await list({}, identity.anonymous)).toEqual(['open']);
    expect(await list({}, identity.root)).toEqual(['direct', 'hidden', 'deep', 'team', 'inner', 'open', 'own']);
    const outsider = await identity.person('outsider', { external: true });
    expect(await list({}, outsider.client)).toEqual(['open']);
    expect(Object.keys((await identity.anonymous.get('/api/v4/projects')).body[0])).toEqual(BASIC);
    expect(Object.keys((await lena.client.get('/api/v4/projects').query({ simple: 'True' })).body[0])).toEqual(BASIC);
  });

  it.each(['asc', 'desc'])('continues by id, %s', async (sort) => {
    const found: number[] = [];
    let url: string | undefined = `/api/v4/projects?pagination=keyset&order_by=id&sort=${sort}&per_page=2&search=lena`;
    while (url) {
      const { body, headers }: { body: Project[]; headers: Record<string, string> } = await lena.client.get(url);
      found.push(...body.map((project) => project.id));
      url = /<http:\/\/localhost:8080([^>]+)>; rel="next"/.exec(headers['link'] ?? '')?.[1];
      if (url) expect(url).toContain(sort === 'asc' ? 'id_after=' : 'id_before=');
    }
    const all = ['own', 'open', 'inner', 'team', 'deep', 'direct'];
    expect(named(found)).toEqual(sort === 'asc' ? all : all.reverse());
  });

  it('has keyset pagination only by id', async () => {
    const { status, body } = await lena.client.get('/api/v4/projects?pagination=keyset&order_by=name');
    expect([status, body]).toEqual([405, { error: 'Keyset pagination is not yet available for this type of request' }]);
  });

  it('ignores expired memberships', async () => {
    await identity.db.query(
      `update members set expires_on = current_date where user_id = $1 and source_type = 'project' and source_id = $2`,
      [lena.id, ids['direct']],
    );
    expect(await list({ membership: true })).toEqual(['deep', 'team', 'own']);
    await lena.client.get(`/api/v4/projects/${ids['direct']}`).expect(404);
  });

  registerListPagingTests(() => ({
    app: identity.app,
    viewer: makeViewer({ userId: 1, username: 'root', isAdmin: true }),
    path: '/api/v4/projects',
    query: { search: 'lena' },
    rows: 7,
  }));
});

describe('PUT /projects/:id', () => {
  it('returns the full project; accepts texts for numbers and flags', async () => {
    const project = await createProject();
    const { body } = await ada.client
      .put(`/api/v4/projects/${encodedPathOf(project)}`)
      .type('form')
      .send({ description: 'new', build_timeout: '900', lfs_enabled: 'False', squash_option: 'always' })
      .expect(200);
    expect(body).toMatchObject({
      id: project.id,
      description: 'new',
      build_timeout: 900,
      lfs_enabled: false,
      squash_option: 'always',
    });
  });

  it('refuses a taken path', async () => {
    const [one, two] = [await createProject(), await createProject()];
    const { status, body } = await ada.client
      .put(`/api/v4/projects/${one.id}`)
      .send({ path: two.path_with_namespace.split('/')[1] });
    expect([status, body]).toEqual([400, { message: { path: ['has already been taken'] } }]);
  });
});

describe('DELETE /projects/:id', () => {
  it('marks, then removes with the flag and the full path', async () => {
    const project = await createProject();
    const remove = (body: object = {}) => ada.client.delete(`/api/v4/projects/${project.id}`).send(body);
    const day = inDays(0);
    const first = await remove();
    expect([first.status, first.body]).toEqual([202, { message: '202 Accepted' }]);
    const { body: marked } = await ada.client.get(`/api/v4/projects/${project.id}`);
    expect([day, inDays(0)]).toContain(marked.marked_for_deletion_on);
    expect(marked.marked_for_deletion_at).toBe(marked.marked_for_deletion_on);
    expect((await remove()).body).toEqual({ message: 'Project has been already marked for deletion' });
    await remove({ permanently_remove: true, full_path: marked.path_with_namespace }).expect(202);
    await identity.root.get(`/api/v4/projects/${project.id}`).expect(404);
    const [row] = await identity.db.query<{ count: number }>(
      `select count(*)::int as count from members where source_type = 'project' and source_id = $1`,
      [project.id],
    );
    expect(row!.count).toBe(0);
  });
});

describe('after the delay', () => {
  it('marked projects are removed, and groups with their contents', async () => {
    const [home, alone, kept] = [await createGroup(), await createProject(), await createProject()];
    const inside = await createProject({ namespace_id: home.id });
    for (const path of [`/api/v4/groups/${home.id}`, `/api/v4/projects/${alone.id}`, `/api/v4/projects/${kept.id}`])
      await ada.client.delete(path);
    const past = (table: string, id: number) =>
      identity.db.query(`update ${table} set marked_for_deletion_on = current_date - 8 where id = $1`, [id]);
    await Promise.all([past('namespaces', home.id), past('projects', alone.id)]);
    await identity.app.get(DueRemovalsJob).run();
    const status = async (path: string) => (await identity.root.get(path)).status;
    expect([await status(`/api/v4/groups/${home.id}`), await status(`/api/v4/projects/${inside.id}`)]).toEqual([
      404, 404,
    ]);
    expect([await status(`/api/v4/projects/${alone.id}`), await status(`/api/v4/projects/${kept.id}`)]).toEqual([
      404, 200,
    ]);
  });
});

describe('without a delay', () => {
  it('deletion is immediate', async () => {
    const quick = await startIdentity({ DELETION_DELAY_DAYS: '0' });
    try {
      const person = await quick.person('quick');
      const { body: project }: { body: Project } = await person.client
        .post('/api/v4/projects')
        .send({ name: 'x' })
        .expect(201);
      await person.client.delete(`/api/v4/projects/${project.id}`).expect(202);
      await person.client.get(`/api/v4/projects/${project.id}`).expect(404);
    } finally {
      await quick.close();
    }
  });
});
