import type { DirectoryProject } from '@rookery/contracts';
import { VISIBILITIES } from '@rookery/kernel';
import type { Role, Visibility } from '@rookery/kernel';
import type { SeededService, SeededUser, RoleCase } from '@rookery/testing';
import { startCollaboration } from '../support/app';
import { snippetActions } from '../support/snippet-actions';
import type { ShownSnippet } from '../support/snippet-actions';

let service: SeededService;
let admin: SeededUser;
const { by, at, wish, made } = snippetActions(() => service);
beforeAll(async () => {
  service = await startCollaboration();
  admin = await service.seed.user({ admin: true });
});
afterAll(() => service.close());

const STANDINGS = [
  'anonymous',
  'external',
  'outsider',
  'guest',
  'planner',
  'reporter',
  'developer',
  'maintainer',
  'admin',
] as const satisfies readonly RoleCase[];
type Stands = (typeof STANDINGS)[number];
const MEMBERS: readonly Stands[] = ['guest', 'planner', 'reporter', 'developer', 'maintainer', 'admin'];

/** Returns a user with this role case in the project; null for anonymous. */
async function createPersonWithStanding(
  standing: Stands,
  project: DirectoryProject | null,
): Promise<SeededUser | null> {
  if (standing === 'anonymous') return null;
  const user = await service.seed.user({ admin: standing === 'admin', external: standing === 'external' });
  if (project && !['admin', 'external', 'outsider'].includes(standing)) {
    await service.seed.member(user, project, standing as Role);
  }
  return user;
}

/** Role cases with access by visibility; the stricter of project and snippet applies. */
const ALLOWED: Record<Visibility, readonly Stands[]> = {
  private: MEMBERS,
  internal: ['outsider', ...MEMBERS],
  public: STANDINGS,
};

describe.each(VISIBILITIES)('in a %s project', (level) => {
  let project: DirectoryProject;
  const snippets = new Map<Visibility, ShownSnippet>();
  beforeAll(async () => {
    project = await service.seed.project({ visibility: level });
    for (const visibility of VISIBILITIES) snippets.set(visibility, await made(admin, project, { visibility }));
  });

  test.each(STANDINGS)(
    '%s reads by the visibility of project and snippet, in lists and single answers',
    async (standing) => {
      const who = await createPersonWithStanding(standing, project);
      const isIn = ALLOWED[level].includes(standing);
      const readable = VISIBILITIES.filter((one) => isIn && ALLOWED[one].includes(standing));
      const list = await by(who).get(at(project));
      expect(list.status).toBe(isIn ? 200 : 404);
      const shown = isIn ? (list.body as ShownSnippet[]).map(({ visibility }) => visibility) : [];
      expect([...shown].reverse()).toEqual(readable);
      if (isIn) expect(list.headers['x-total']).toBe(String(readable.length));
      for (const [visibility, { id }] of snippets) {
        for (const tail of ['', '/raw', '/files/main/a.txt/raw']) {
          const { status, body } = await by(who).get(at(project, `/${id}${tail}`));
          expect([visibility, tail, status]).toEqual([visibility, tail, readable.includes(visibility) ? 200 : 404]);
          if (status === 404) expect(body).toEqual({ message: `404 ${isIn ? 'Snippet' : 'Project'} Not Found` });
        }
      }
    },
  );

  const WRITERS: readonly Stands[] = ['reporter', 'developer', 'maintainer', 'admin'];
  const MAINTAINERS: readonly Stands[] = ['maintainer', 'admin'];
  test.each(STANDINGS)('%s writes by role', async (standing) => {
    const who = await createPersonWithStanding(standing, project);
    const isIn = ALLOWED[level].includes(standing);
    const status = (may: boolean, reads: boolean): number =>
      standing === 'anonymous' ? 401 : may ? 200 : reads ? 403 : 404;
    const creation = await by(who).post(at(project)).send(wish());
    expect(creation.status).toBe(WRITERS.includes(standing) ? 201 : status(false, isIn));
    const mayChange = MAINTAINERS.includes(standing);
    for (const visibility of VISIBILITIES) {
      const { id } = await made(admin, project, { visibility });
      const reads = isIn && ALLOWED[visibility].includes(standing);
      const change = await by(who)
        .put(at(project, `/${id}`))
        .send({ description: standing });
      expect([visibility, change.status]).toEqual([visibility, status(mayChange, reads)]);
      const removal = await by(who).delete(at(project, `/${id}`));
      expect([visibility, removal.status]).toEqual([visibility, mayChange ? 204 : status(false, reads)]);
    }
  });

  test('authors change and delete their own while they can see it', async () => {
    const author = await service.seed.user();
    const membership = await service.seed.member(author, project, 'reporter');
    const [own, hidden] = [await made(author, project, { visibility: 'public' }), await made(author, project)];
    await service.seed.put('memberships', { ...membership, access_level: 10 });
    await by(author)
      .put(at(project, `/${own.id}`))
      .send({ title: 'Mine' })
      .expect(200);
    await service.seed.remove('memberships', membership.id);
    const seen = level === 'private' ? 404 : 200;
    await by(author)
      .put(at(project, `/${own.id}`))
      .send({ title: 'Still mine' })
      .expect(seen);
    await by(author)
      .put(at(project, `/${hidden.id}`))
      .send({ title: 'Gone' })
      .expect(404);
    await by(author)
      .delete(at(project, `/${own.id}`))
      .expect(level === 'private' ? 404 : 204);
  });
});

test.each([
  ['disabled', 'outsider', false],
  ['disabled', 'maintainer', false],
  ['private', 'outsider', false],
  ['private', 'guest', true],
] as const)('if the access level of snippets is %s, %s reads: %s', async (access, standing, reads) => {
  const project = await service.seed.project({ visibility: 'public' });
  const { id } = await made(admin, project, { visibility: 'public' });
  const who = await createPersonWithStanding(standing, project);
  await service.seed.put('projects', { ...project, snippets_access_level: access });
  const { body, headers } = await by(who).get(at(project)).expect(200);
  expect([(body as unknown[]).length, headers['x-total']]).toEqual(reads ? [1, '1'] : [0, '0']);
  for (const tail of ['', '/raw', '/files/main/a.txt/raw']) {
    const { status } = await by(who).get(at(project, `/${id}${tail}`));
    expect([tail, status]).toEqual([tail, reads ? 200 : 404]);
  }
  expect((await by(who).post(at(project)).send(wish()).expect(403)).body).toEqual({ message: '403 Forbidden' });
  if (!reads) {
    for (const method of ['put', 'delete'] as const) {
      const { body: refusal } = await by(who)
        [method](at(project, `/${id}`))
        .send({ title: 'x' })
        .expect(404);
      expect(refusal).toEqual({ message: '404 Snippet Not Found' });
    }
  }
});

test('snippets of an archived project are read only', async () => {
  const project = await service.seed.project();
  const owner = await service.seed.user();
  await service.seed.member(owner, project, 'owner');
  const { id } = await made(owner, project);
  await service.seed.put('projects', { ...project, archived: true });
  await by(owner)
    .get(at(project, `/${id}`))
    .expect(200);
  for (const request of [
    by(owner).post(at(project)).send(wish()),
    by(owner)
      .put(at(project, `/${id}`))
      .send({ title: 'x' }),
    by(owner).delete(at(project, `/${id}`)),
  ]) {
    expect((await request.expect(403)).body).toEqual({ message: '403 Forbidden' });
  }
});

describe('a personal snippet', () => {
  const READERS: Record<Visibility, readonly (Stands | 'author')[]> = {
    private: ['author', 'admin'],
    internal: ['author', 'outsider', 'admin'],
    public: ['author', 'anonymous', 'external', 'outsider', 'admin'],
  };

  test.each(['anonymous', 'external', 'outsider', 'author', 'admin'] as const)(
    '%s reads and writes by visibility and authorship',
    async (standing) => {
      const author = await service.seed.user();
      const who = standing === 'author' ? author : await createPersonWithStanding(standing, null);
      const mayChange = standing === 'author' || standing === 'admin';
      for (const visibility of VISIBILITIES) {
        const { id } = await made(author, null, { visibility });
        const reads = READERS[visibility].includes(standing);
        for (const tail of ['', '/raw', '/files/main/a.txt/raw']) {
          const { status, body } = await by(who).get(at(null, `/${id}${tail}`));
          expect([visibility, tail, status]).toEqual([visibility, tail, reads ? 200 : 404]);
          if (!reads) expect(body).toEqual({ message: '404 Snippet Not Found' });
        }
        const refused = standing === 'anonymous' ? 401 : reads ? 403 : 404;
        const change = await by(who)
          .put(at(null, `/${id}`))
          .send({ description: 'x' });
        expect([visibility, change.status]).toEqual([visibility, mayChange ? 200 : refused]);
        const removal = await by(who).delete(at(null, `/${id}`));
        expect([visibility, removal.status]).toEqual([visibility, mayChange ? 204 : refused]);
      }
    },
  );

  test('cannot be created without a token, or by external users', async () => {
    const post = (who: SeededUser | null) => by(who).post(at(null)).send(wish());
    expect((await post(null).expect(401)).body).toEqual({ message: '401 Unauthorized' });
    const external = await service.seed.user({ external: true });
    expect((await post(external).expect(403)).body).toEqual({ message: '403 Forbidden' });
    await post(await service.seed.user({ external: true, admin: true })).expect(201);
  });

  test('cannot be changed with a read-only token', async () => {
    const reader = { ...service.seed.viewer(await service.seed.user()), scopes: ['read_api'] };
    await service.app.as(reader).get(at(null)).expect(200);
    expect((await service.app.as(reader).post(at(null)).send(wish()).expect(403)).body).toMatchObject({
      error: 'insufficient_scope',
    });
  });
});

test('the instance-wide list contains all visible snippets, of projects and personal', async () => {
  const before = await service.database.query<{ id: number }>('select max(id) as id from snippets');
  const since = before[0]!.id ?? 0;
  const author = await service.seed.user();
  const ids: Record<string, number> = {};
  const levels = ['private', 'internal', 'public', 'switched off'] as const;
  const projects = new Map<string, DirectoryProject>();
  for (const level of levels) {
    const there = await service.seed.project({ visibility: level === 'switched off' ? 'public' : level });
    projects.set(level, there);
    for (const visibility of VISIBILITIES)
      ids[`${level} ${visibility}`] = (await made(admin, there, { visibility })).id;
  }
  await service.seed.put('projects', { ...projects.get('switched off')!, snippets_access_level: 'disabled' });
  for (const visibility of VISIBILITIES) ids[`own ${visibility}`] = (await made(author, null, { visibility })).id;
  const nameOf = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
  const seenBy = async (who: SeededUser): Promise<string[]> => {
    const { body } = await by(who).get('/api/v4/snippets/all?per_page=100').expect(200);
    const shown = (body as ShownSnippet[]).map(({ id }) => id).filter((id) => id > since);
    expect(shown).toEqual([...shown].sort((a, b) => b - a));
    return shown.map((id) => nameOf.get(id)!).sort();
  };
  const open = ['internal internal', 'internal public', 'public internal', 'public public'];
  const outsider = await service.seed.user();
  expect(await seenBy(outsider)).toEqual([...open, 'own internal', 'own public'].sort());
  expect(await seenBy(author)).toEqual([...open, 'own internal', 'own private', 'own public'].sort());
  expect(await seenBy(await service.seed.user({ external: true }))).toEqual(['own public', 'public public']);
  const member = await service.seed.user();
  for (const level of levels) await service.seed.member(member, projects.get(level)!, 'guest');
  const ofProjects = Object.keys(ids).filter((name) => !name.startsWith('own') && !name.startsWith('switched'));
  expect(await seenBy(member)).toEqual([...ofProjects, 'own internal', 'own public'].sort());
  const all = Object.keys(ids).filter((name) => !name.startsWith('switched'));
  expect(await seenBy(admin)).toEqual(all.sort());
  expect((await by(null).get('/api/v4/snippets/all').expect(401)).body).toEqual({ message: '401 Unauthorized' });
  const page = await by(member).get('/api/v4/snippets/all?per_page=1&page=2').expect(200);
  expect(page.body).toHaveLength(1);
  const whole = (
    await by(member)
      .get(at(projects.get('private')!, `/${ids['private public']!}`))
      .expect(200)
  ).body as unknown;
  expect((await by(member).get('/api/v4/snippets/all?per_page=100').expect(200)).body).toContainEqual(whole);
  const none = await by(author).get('/api/v4/snippets/all?created_before=2001-01-01').expect(200);
  expect([none.body, none.headers['x-total']]).toEqual([[], '0']);
});
