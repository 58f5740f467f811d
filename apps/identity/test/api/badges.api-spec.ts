import {
  anonymousViewer,
  makeViewer,
  registerForeignParentTests,
  registerListPagingTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
  requestOf,
  registerVisibilityTests,
} from '@rookery/testing';
import type { Response } from 'supertest';
import { FakeCollaboration } from '../support/fake-collaboration';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

const LINK = 'https://example.com/%{project_path}';
const IMAGE = 'https://shields.io/badge.svg';
const collaboration = new FakeCollaboration();
let identity: IdentityApp;
/** Owner of all groups and projects here. */
let ada: Person;
let stranger: Person;
beforeAll(async () => {
  await collaboration.start();
  identity = await startIdentity({ COLLABORATION_URL: collaboration.url });
  ada = await identity.person('ada');
  stranger = await identity.person('stranger');
});
afterAll(async () => {
  await identity.close();
  await collaboration.stop();
});

type Kind = 'project' | 'group';
interface Source {
  readonly id: number;
  readonly full: string;
  readonly path: string;
}
interface Badge {
  readonly id: number;
  readonly name: string | null;
  readonly kind: Kind;
}
let serial = 0;
async function createGroupOrProject(kind: Kind, over: Readonly<Record<string, unknown>> = {}): Promise<Source> {
  const path = `source-${++serial}`;
  const { body: made }: { body: { id: number; full_path?: string; path_with_namespace?: string } } = await ada.client
    .post(`/api/v4/${kind}s`)
    .send({ name: `Name of ${path}`, path, ...over })
    .expect(201);
  return { id: made.id, full: (made.full_path ?? made.path_with_namespace)!, path: `/api/v4/${kind}s/${made.id}` };
}
const addBadge = async (source: Source, over: Readonly<Record<string, unknown>> = {}): Promise<Badge> =>
  (
    await ada.client
      .post(`${source.path}/badges`)
      .send({ link_url: LINK, image_url: IMAGE, ...over })
      .expect(201)
  ).body as Badge;
const addMember = (source: Source, person: Person, access_level: number) =>
  identity.root.post(`${source.path}/members`).send({ user_id: person.id, access_level }).expect(201);
const statusAndBody = ({ status, body }: Response): [number, unknown] => [status, body];
const viewerOf = (person: Person) => makeViewer({ userId: person.id, username: person.username });
const LEVELS: Readonly<Record<string, number>> = {
  guest: 10,
  planner: 15,
  reporter: 20,
  developer: 30,
  maintainer: 40,
  owner: 50,
};

describe.each<[Kind, string]>([
  ['project', 'maintainer'],
  ['group', 'owner'],
])('badges of a %s', (kind, manager) => {
  it('can be created, read, listed, changed and deleted', async () => {
    const source = await createGroupOrProject(kind);
    const made = await ada.client
      .post(`${source.path}/badges`)
      .send({ link_url: 'https://example.com', image_url: 'http://one-label/%{unknown}.svg', name: 'Build' });
    const whole = {
      name: 'Build',
      link_url: 'https://example.com',
      image_url: 'http://one-label/%{unknown}.svg',
      rendered_link_url: 'https://example.com',
      rendered_image_url: 'http://one-label/%{unknown}.svg',
      id: expect.any(Number),
      kind,
    };
    expect(statusAndBody(made)).toEqual([201, whole]);
    const path = `${source.path}/badges/${made.body.id}`;
    expect(statusAndBody(await ada.client.get(path))).toEqual([200, whole]);
    const encoded = `/api/v4/${kind}s/${encodeURIComponent(source.full)}/badges`;
    expect(statusAndBody(await ada.client.get(encoded))).toEqual([200, [whole]]);
    await ada.client.head(path).expect(200);

    const changed = { ...whole, name: 'Tests', link_url: 'https://a.b', rendered_link_url: 'https://a.b' };
    expect(statusAndBody(await ada.client.put(path).send({ name: 'Tests', link_url: 'https://a.b' }))).toEqual([
      200,
      changed,
    ]);
    expect(statusAndBody(await ada.client.put(path).send({ name: null }))).toEqual([200, { ...changed, name: null }]);
    expect(statusAndBody(await ada.client.put(path).send({}))).toEqual([200, { ...changed, name: null }]);

    const removed = await ada.client.delete(path);
    expect([removed.status, removed.text]).toEqual([204, '']);
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      expect(statusAndBody(await requestOf(ada.client, method, path))).toEqual([404, { message: '404 Not found' }]);
    }
    expect((await ada.client.get(`${source.path}/badges`)).body).toEqual([]);
  });

  it.each<[string, Record<string, unknown>, unknown]>([
    ['nothing', {}, { error: 'link_url is missing, image_url is missing' }],
    ['one URL', { link_url: LINK }, { error: 'image_url is missing' }],
    ['a list', { link_url: ['x'], image_url: IMAGE }, { error: 'link_url is invalid' }],
    ['a NUL', { link_url: 'https://x/\0', image_url: IMAGE }, { error: 'link_url is invalid' }],
    [
      'another scheme',
      { link_url: 'javascript:alert(1)', image_url: 'ftp://x' },
      {
        message: {
          link_url: ['is blocked: Only allowed schemes are http, https'],
          image_url: ['is blocked: Only allowed schemes are http, https'],
        },
      },
    ],
    ['a blank', { link_url: '', image_url: IMAGE }, { message: { link_url: ['must be a valid URL'] } }],
    [
      'a long name',
      { link_url: LINK, image_url: IMAGE, name: 'x'.repeat(256) },
      { message: { name: ['is too long (maximum is 255 characters)'] } },
    ],
  ])('refuse %s', async (_, body, expected) => {
    const source = await createGroupOrProject(kind);
    expect(statusAndBody(await ada.client.post(`${source.path}/badges`).send(body))).toEqual([400, expected]);
    const { name: __, ...urls } = body;
    if ('message' in (expected as object) && !('name' in body)) {
      const preview = await ada.client.get(`${source.path}/badges/render`).query(urls);
      expect(statusAndBody(preview)).toEqual([400, expected]);
      const { id } = await addBadge(source);
      expect(statusAndBody(await ada.client.put(`${source.path}/badges/${id}`).send(body))).toEqual([400, expected]);
    }
  });

  describe('in lists', () => {
    let source: Source;
    beforeAll(async () => {
      source = await createGroupOrProject(kind);
      for (const name of ['one', 'two', 'One', 'one', 'three']) await addBadge(source, { name });
    });
    registerListPagingTests(() => ({
      app: identity.app,
      viewer: viewerOf(ada),
      path: `${source.path}/badges`,
      rows: 5,
    }));

    it('are ordered oldest first, and filtered by their exact name', async () => {
      const names = async (query: Record<string, unknown>) =>
        (await ada.client.get(`${source.path}/badges`).query(query)).body.map((badge: Badge) => badge.name);
      expect(await names({})).toEqual(['one', 'two', 'One', 'one', 'three']);
      expect(await names({ name: 'one' })).toEqual(['one', 'one']);
      expect(await names({ name: 'ONE' })).toEqual([]);
      expect(await names({ name: 'on' })).toEqual([]);
      const odd = await ada.client.get(`${source.path}/badges`).query({ 'name[]': ['one'] });
      expect(statusAndBody(odd)).toEqual([400, { error: 'name is invalid' }]);
    });
  });

  describe('permissions', () => {
    const below = manager === 'owner' ? 'maintainer' : 'developer';
    let people: Record<string, Person>;
    beforeAll(async () => {
      people = { external: await identity.person(`external-of-${kind}`, { external: true }) };
      for (const role of Object.keys(LEVELS)) people[role] = await identity.person(`${role}-of-${kind}`);
    });

    registerVisibilityTests({
      app: () => identity.app,
      from: async (level, standing) => {
        const home = kind === 'project' ? await createGroupOrProject('group', { visibility: level }) : null;
        const source = await createGroupOrProject(kind, {
          visibility: level,
          ...(home ? { namespace_id: home.id } : {}),
        });
        const { id } = await addBadge(source);
        const person = people[standing];
        if (person && LEVELS[standing]) await addMember(source, person, LEVELS[standing]);
        const viewer =
          standing === 'anonymous'
            ? anonymousViewer()
            : standing === 'admin'
              ? makeViewer({ userId: 1, username: 'root', isAdmin: true })
              : makeViewer({
                  userId: (person ?? stranger).id,
                  username: (person ?? stranger).username,
                  isExternal: standing === 'external',
                });
        const list = await identity.app.as(viewer).get(`${source.path}/badges`);
        const show = `${source.path}/badges/${id}`;
        await identity.app.as(viewer).get(show).expect(list.status);
        return { viewer, path: show };
      },
    });

    let managed: Promise<{ source: Source; id: number }> | undefined;
    const prepare = async () => {
      const source = await createGroupOrProject(kind);
      await addMember(source, people[below]!, LEVELS[below]!);
      await addMember(source, people[manager]!, LEVELS[manager]!);
      return { source, id: (await addBadge(source)).id };
    };
    const endpoint = (method: 'POST' | 'PUT' | 'GET', path: (id: number) => string, bad: string) => async () => {
      const { source, id } = await (managed ??= prepare());
      const good = { link_url: LINK, image_url: IMAGE };
      return {
        method,
        path: `${source.path}/badges${path(id)}`,
        good,
        bad: bad === '' ? {} : { ...good, [bad]: ['x'] },
        anonymous: anonymousViewer(),
        outsider: viewerOf(stranger),
        reader: viewerOf(people[below]!),
        allowed: viewerOf(people[manager]!),
      };
    };
    describe('add', () =>
      registerRefusalOrderTests(
        () => identity.app,
        endpoint('POST', () => '', ''),
      ));
    describe('change', () =>
      registerRefusalOrderTests(
        () => identity.app,
        endpoint('PUT', (id) => `/${id}`, 'link_url'),
      ));
    describe('preview', () =>
      registerRefusalOrderTests(
        () => identity.app,
        endpoint('GET', () => '/render', ''),
      ));

    it('delete', async () => {
      const source = await createGroupOrProject(kind);
      const { id } = await addBadge(source);
      const path = `${source.path}/badges/${id}`;
      await addMember(source, people[below]!, LEVELS[below]!);
      const missing = `404 ${kind === 'group' ? 'Group' : 'Project'} Not Found`;
      expect(statusAndBody(await identity.anonymous.delete(path))).toEqual([401, { message: '401 Unauthorized' }]);
      expect(statusAndBody(await stranger.client.delete(path))).toEqual([404, { message: missing }]);
      expect(statusAndBody(await people[below]!.client.delete(path))).toEqual([403, { message: '403 Forbidden' }]);
      expect(statusAndBody(await ada.client.delete(`${source.path}/badges/x`))).toEqual([
        400,
        { error: 'badge_id is invalid' },
      ]);
      const old = 'Mon, 01 Jan 2001 00:00:00 GMT';
      const stale = await ada.client.delete(path).set('if-unmodified-since', old);
      expect(statusAndBody(stale)).toEqual([412, { message: '412 Precondition Failed' }]);
      const fresh = new Date(Date.now() + 60_000).toUTCString();
      await ada.client.delete(path).set('if-unmodified-since', fresh).expect(204);
    });
  });

  describe('of another source', () => {
    let other: Badge;
    let owner: Source;
    let source: Source;
    beforeAll(async () => {
      [source, owner] = [await createGroupOrProject(kind), await createGroupOrProject(kind)];
      other = await addBadge(owner);
    });
    registerForeignParentTests({
      app: () => identity.app,
      viewer: () => viewerOf(ada),
      requests: () => [
        { method: 'GET', path: `${source.path}/badges/${other.id}` },
        { method: 'PUT', path: `${source.path}/badges/${other.id}`, body: { name: 'x' } },
        { method: 'DELETE', path: `${source.path}/badges/${other.id}` },
        { method: 'GET', path: `${source.path}/badges/9007199254740991` },
      ],
      untouched: async () => (await ada.client.get(`${owner.path}/badges/${other.id}`)).body,
    });
  });

  describe('with all parameter encodings', () => {
    let source: Source;
    beforeAll(async () => {
      source = await createGroupOrProject(kind);
    });
    registerParameterEncodingTests({
      app: () => identity.app,
      to: () => ({
        viewer: viewerOf(ada),
        method: 'POST',
        path: `${source.path}/badges`,
        params: { link_url: LINK, image_url: IMAGE, name: '5' },
      }),
      seen: (body) => [body['link_url'], body['image_url'], body['name']],
      expected: [LINK, IMAGE, '5'],
    });
  });

  it('are deleted with it', async () => {
    const source = await createGroupOrProject(kind);
    const { id } = await addBadge(source);
    await identity.db.query(`delete from ${kind === 'group' ? 'namespaces' : 'projects'} where id = $1`, [source.id]);
    expect(await identity.db.query('select 1 from badges where id = $1', [id])).toEqual([]);
  });
});

describe('badges of groups in their projects', () => {
  it("are listed together with the project's own by age, and can be changed only in the group", async () => {
    const top = await createGroupOrProject('group');
    const sub = await createGroupOrProject('group', { parent_id: top.id });
    const sibling = await createGroupOrProject('group', { parent_id: top.id });
    const project = await createGroupOrProject('project', { namespace_id: sub.id });
    const own = await addBadge(project, { name: 'own' });
    const above = await addBadge(top, { name: 'top' });
    const near = await addBadge(sub, { name: 'sub' });
    await addBadge(sibling, { name: 'sibling' });
    const list = (await ada.client.get(`${project.path}/badges`)).body as Badge[];
    expect(list.map(({ id, kind }) => [id, kind])).toEqual([
      [own.id, 'project'],
      [above.id, 'group'],
      [near.id, 'group'],
    ]);
    expect((await ada.client.get(`${project.path}/badges/${above.id}`)).body).toMatchObject({
      kind: 'group',
      name: 'top',
      rendered_link_url: `https://example.com/${project.full}`,
    });
    expect((await ada.client.get(`${project.path}/badges`).query({ name: 'sub' })).body).toHaveLength(1);
    // A group lists only its own badges.
    expect((await ada.client.get(`${sub.path}/badges`)).body.map((one: Badge) => one.id)).toEqual([near.id]);
    await ada.client.get(`${sub.path}/badges/${above.id}`).expect(404);
    for (const [method, verb] of [
      ['PUT', 'update'],
      ['DELETE', 'delete'],
    ] as const) {
      const refused = await requestOf(ada.client, method, `${project.path}/badges/${above.id}`);
      expect(statusAndBody(refused)).toEqual([
        403,
        { error: `To ${verb} a Group badge please use the Group endpoint` },
      ]);
    }
    await ada.client.get(`${top.path}/badges/${above.id}`).expect(200);
  });
});

describe('placeholders', () => {
  const preview = async (source: Source, link_url: string, client = ada.client) => {
    const { status, body } = await client.get(`${source.path}/badges/render`).query({ link_url, image_url: IMAGE });
    expect([status, body]).toEqual([
      200,
      {
        name: null,
        link_url,
        image_url: IMAGE,
        rendered_link_url: expect.any(String),
        rendered_image_url: IMAGE,
      },
    ]);
    return body.rendered_link_url as string;
  };

  it('are replaced by values of the project', async () => {
    const top = await createGroupOrProject('group', { name: 'Top (one)' });
    const sub = await createGroupOrProject('group', { parent_id: top.id });
    const project = await createGroupOrProject('project', { namespace_id: sub.id, name: 'The site' });
    const all = 'https://x/%{project_path}|%{project_title}|%{project_name}|%{project_id}|%{project_namespace}';
    expect(await preview(project, all)).toBe(
      `https://x/${project.full}|The site|${project.full.split('/').at(-1)}|${project.id}|${sub.full}`,
    );
    expect(await preview(project, 'https://%{host_server}/%{group_name}')).toBe('https://localhost/Top (one)');
    expect(await preview(project, 'https://%{gitlab_server}/%7Bproject_id%7D')).toBe(`https://localhost/${project.id}`);
    expect(await preview(project, 'https://%{pages_domain}/%{gitlab_pages_domain}')).toBe(
      'https://pages.localhost/pages.localhost',
    );
  });

  it('about groups stay in a personal project', async () => {
    const own = await createGroupOrProject('project');
    expect(await preview(own, 'https://x/%{group_name}/%{project_namespace}')).toBe('https://x/%{group_name}/ada');
  });

  it('about the repository are fetched from collaboration, once per page, and only when they occur', async () => {
    const project = await createGroupOrProject('project');
    const plain = await createGroupOrProject('project');
    await addBadge(plain);
    for (const name of ['commit_sha', 'latest_tag', 'default_branch']) {
      await addBadge(project, { link_url: `https://x/%{${name}}`, image_url: `https://x/%{project_id}/%{${name}}` });
    }
    const links = async (): Promise<string[]> =>
      (await ada.client.get(`${project.path}/badges`)).body.map(
        (one: Record<string, string>) => one['rendered_link_url'],
      );
    collaboration.asked.length = 0;
    expect((await ada.client.get(`${plain.path}/badges`)).body).toHaveLength(1);
    expect(collaboration.asked).toEqual([]);
    // Collaboration has no facts yet.
    expect(await links()).toEqual([
      'https://x/%{commit_sha}',
      'https://x/%{latest_tag}',
      'https://x/%{default_branch}',
    ]);
    expect(collaboration.asked).toEqual([[project.id]]);
    collaboration.facts.set(project.id, { default_branch: 'trunk', commit_sha: 'abc', latest_tag: 'v1' });
    expect(await links()).toEqual(['https://x/abc', 'https://x/v1', 'https://x/trunk']);
    // The project's own setting has precedence.
    await identity.db.query(`update projects set default_branch = 'main' where id = $1`, [project.id]);
    expect((await links())[2]).toBe('https://x/main');
    const before = collaboration.asked.length;
    expect(await preview(project, 'https://x/%{default_branch}')).toBe('https://x/main');
    expect(collaboration.asked).toHaveLength(before);
  });

  it("in a group's badge use the group's first project that the caller can see", async () => {
    const group = await createGroupOrProject('group', { visibility: 'public' });
    const badge = await addBadge(group);
    const shown = async (person: Person | null) =>
      (await (person?.client ?? identity.anonymous).get(`${group.path}/badges/${badge.id}`)).body.rendered_link_url;
    expect(await shown(ada)).toBe(LINK);
    const hidden = await createGroupOrProject('project', { namespace_id: group.id, visibility: 'private' });
    const open = await createGroupOrProject('project', { namespace_id: group.id, visibility: 'public' });
    expect(await shown(ada)).toBe(`https://example.com/${hidden.full}`);
    expect(await shown(null)).toBe(`https://example.com/${open.full}`);
    expect(await shown(stranger)).toBe(`https://example.com/${open.full}`);
    const guest = await identity.person(`guest-${++serial}`);
    await addMember(hidden, guest, 10);
    expect(await shown(guest)).toBe(`https://example.com/${hidden.full}`);
  });

  // Last, because identity pauses requests after a failure.
  it('about the repository stay when collaboration does not answer, and only one request waits', async () => {
    const project = await createGroupOrProject('project');
    collaboration.facts.set(project.id, { commit_sha: 'abc' });
    collaboration.isSilent = true;
    collaboration.asked.length = 0;
    expect(await preview(project, 'https://x/%{commit_sha}')).toBe('https://x/%{commit_sha}');
    expect(await preview(project, 'https://x/%{commit_sha}/%{project_id}')).toBe(
      `https://x/%{commit_sha}/${project.id}`,
    );
    expect(collaboration.asked).toHaveLength(1);
    collaboration.isSilent = false;
  });
});
