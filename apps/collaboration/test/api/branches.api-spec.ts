import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { GitClient, linksOf, registerListPagingTests, registerVisibilityTests } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import { castOf, startCollaboration } from '../support/app';
import type { Cast } from '../support/app';
import { refsRepository } from '../support/refs-repository';
import type { RefsRepository } from '../support/refs-repository';

let service: SeededService;
let git: GitClient;
let made: RefsRepository;
let cast: Cast;
let reader: Viewer;

beforeAll(async () => {
  service = await startCollaboration();
  git = await GitClient.make();
  made = await refsRepository(service, git);
  cast = await castOf(service.seed, made.project);
  reader = service.seed.anonymous();
  await git.commit(made.folder, 'Second');
  await made.place('HEAD~1:refs/heads/old', 'HEAD~1:refs/heads/feature/x', 'HEAD:refs/heads/main');
  await git.commit(made.folder, 'Third');
  const odd = ['ü/ö', 'a"b', 'a%b', 'v1.0', '#1'].map((name) => `HEAD:refs/heads/${name}`);
  await made.place('HEAD:refs/heads/newer', ...odd);
});
afterAll(async () => {
  await git.close();
  await service.close();
});

const pathOf = ({ id }: Pick<DirectoryProject, 'id'>, rest = '') => `/api/v4/projects/${id}/repository/branches${rest}`;
const get = (rest: string, query: object = {}, viewer = reader) =>
  service.app.as(viewer).get(pathOf(made.project, rest)).query(query);
const names = async (query: object): Promise<string[]> =>
  ((await get('', query)).body as { name: string }[]).map(({ name }) => name);

it('lists branches by name, each as a single branch is shown', async () => {
  const { status, body } = await get('');
  const branches = body as { name: string }[];
  const sorted = ['#1', 'a"b', 'a%b', 'feature/x', 'main', 'newer', 'old', 'v1.0', 'ü/ö'];
  expect([status, branches.map(({ name }) => name)]).toEqual([200, sorted]);
  for (const branch of branches) expect((await get(`/${encodeURIComponent(branch.name)}`)).body).toEqual(branch);
  const id = await made.run('rev-parse', 'main~1');
  expect(branches[3]).toEqual({
    name: 'feature/x',
    commit: expect.objectContaining({ id: await made.run('rev-parse', 'HEAD~2'), title: 'First', trailers: {} }),
    merged: true,
    protected: false,
    developers_can_push: false,
    developers_can_merge: false,
    can_push: false,
    default: false,
    web_url: expect.stringMatching(`/${made.fullPath}/-/tree/feature/x$`),
  });
  expect(branches[4]).toMatchObject({ name: 'main', default: true, merged: false, commit: { id } });
  expect(branches[5]).toMatchObject({ name: 'newer', default: false, merged: false });
  expect(branches[2]).toMatchObject({ web_url: expect.stringMatching('/-/tree/a%25b$') });
});

it.each([
  ['path', () => `/api/v4/projects/${encodeURIComponent(made.fullPath)}/repository/branches/main`],
  [
    'path in other case',
    () => `/api/v4/projects/${encodeURIComponent(made.fullPath.toUpperCase())}/repository/branches/main`,
  ],
])('finds the project by its %s', async (_, path) => {
  expect((await service.app.as(reader).get(path())).body).toMatchObject({ name: 'main' });
});

it('answers HEAD with 204, and 404 for what does not exist', async () => {
  const head = (name: string) => service.app.as(reader).head(pathOf(made.project, `/${encodeURIComponent(name)}`));
  expect([(await head('feature/x')).status, (await head('none')).status]).toEqual([204, 404]);
  for (const name of [
    'none',
    'feature',
    'refs/heads/main',
    'a b',
    'a..b',
    '-x',
    'main^',
    'x'.repeat(300),
    '@{-1}',
    '*',
  ])
    expect([name, (await get(`/${encodeURIComponent(name)}`)).body]).toEqual([
      name,
      { message: '404 Branch Not Found' },
    ]);
  expect((await get('/feature/x')).status).toBe(404);
});

it.each([
  [{ search: 'x' }, ['feature/x']],
  [{ search: 'MAIN' }, ['main']],
  [{ search: '^n' }, ['newer']],
  [{ search: 'r$' }, ['newer']],
  [{ search: '^old$' }, ['old']],
  [{ search: 'f*x' }, ['feature/x']],
  [{ search: 'a"' }, ['a"b']],
  [{ search: 'none' }, []],
  [{ regex: '^[mn]' }, ['main', 'newer']],
  [{ regex: '^[mn]', search: 'w' }, ['newer']],
  [{ search: '', regex: '' }, ['#1', 'a"b', 'a%b', 'feature/x', 'main', 'newer', 'old', 'v1.0', 'ü/ö']],
])('selects by %j', async (query, found) => {
  expect(await names(query)).toEqual(found);
});

it('puts an exact hit first, and orders by the date of the committer', async () => {
  const { place, folder, project, run } = await refsRepository(service, git);
  for (const [name, year] of Object.entries({ 'a-fix': 2022, fix: 2024, 'fix-b': 2020 })) {
    await git.commit(folder, name);
    await run('commit', '--quiet', '--amend', '--no-edit', `--date=${year}-01-01T00:00:00Z`);
    await run('rebase', '--quiet', '--committer-date-is-author-date', 'HEAD~1');
    await place(`HEAD:refs/heads/${name}`);
  }
  const ask = async (query: object) =>
    ((await service.app.as(reader).get(pathOf(project)).query(query)).body as { name: string }[]).map(
      ({ name }) => name,
    );
  expect(await ask({ search: 'FIX' })).toEqual(['fix', 'a-fix', 'fix-b']);
  expect(await ask({ sort: 'updated_asc' })).toEqual(['fix-b', 'a-fix', 'fix']);
  expect(await ask({ sort: 'updated_desc' })).toEqual(['fix', 'a-fix', 'fix-b']);
  const keyset = { sort: 'updated_desc', pagination: 'keyset', per_page: 1 };
  expect(await ask({ ...keyset, page_token: 'fix' })).toEqual(['a-fix']);
});

it.each([
  [{ regex: '(' }, 400, { message: 'Regex is invalid' }],
  [{ sort: 'name_desc' }, 400, { error: 'sort does not have a valid value' }],
  [{ pagination: 'none' }, 400, { error: 'pagination does not have a valid value' }],
  [{ search: 'x'.repeat(256) }, 400, { error: 'search is too long (maximum is 255 characters)' }],
  [{ pagination: 'keyset', sort: 'updated_desc', page_token: 'none' }, 422, { message: 'Invalid page token: none' }],
])('refuses %j', async (query, status, body) => {
  const answer = await get('', query);
  expect([answer.status, answer.body]).toEqual([status, body]);
});

it('is empty for a repository without branches, and without a repository not found', async () => {
  const { project } = await refsRepository(service, git);
  const ask = (id: number, rest = '') => service.app.as(reader).get(pathOf({ id }, rest));
  expect([(await ask(project.id)).body, (await ask(project.id)).get('x-total')]).toEqual([[], '0']);
  expect((await ask(project.id, '/main')).body).toEqual({ message: '404 Branch Not Found' });
  expect((await ask(999_999)).body).toEqual({ message: '404 Project Not Found' });
  const closed = await service.seed.project({ repository_access_level: 'disabled' });
  expect([(await ask(closed.id)).status, (await ask(closed.id)).body]).toEqual([
    404,
    { message: '404 Repository Not Found' },
  ]);
});

describe('pages', () => {
  registerListPagingTests(() => ({
    app: service.app,
    viewer: reader,
    path: pathOf(made.project),
    query: { sort: 'name_asc' },
    rows: 9,
    key: (row) => row['name'],
  }));

  it('begin after a name, also after one that was deleted', async () => {
    const found: string[] = [];
    let path = `${pathOf(made.project)}?pagination=keyset&per_page=4`;
    for (;;) {
      const response = await service.app.as(reader).get(path);
      found.push(...(response.body as { name: string }[]).map(({ name }) => name));
      expect([response.get('x-total'), response.get('x-page')]).toEqual([undefined, undefined]);
      const { next } = linksOf(response);
      if (next === undefined) break;
      const url = new URL(next);
      expect(url.searchParams.getAll('page_token')).toEqual([found.at(-1)]);
      path = `${url.pathname}${url.search}`;
    }
    expect(found).toEqual(await names({ per_page: 100 }));
    const keyset = { pagination: 'keyset', per_page: 2 };
    expect(await names({ ...keyset, page_token: 'gone' })).toEqual(['main', 'newer']);
    expect(await names({ ...keyset, page_token: 'zzz' })).toEqual(['ü/ö']);
    expect(await names({ ...keyset, page_token: '\u{10ffff}' })).toEqual([]);
  });
});

describe('readers', () => {
  const places: Partial<Record<string, { project: DirectoryProject; cast: Cast }>> = {};

  registerVisibilityTests({
    app: () => service.app,
    async from(level, standing) {
      const place = (places[level] ??= await (async () => {
        const { project, place } = await refsRepository(service, git, { visibility: level });
        await place('HEAD:refs/heads/main');
        return { project, cast: await castOf(service.seed, project) };
      })());
      const path = pathOf(place.project, '/main');
      if (standing === 'anonymous') return { viewer: service.seed.anonymous(), path };
      const user = place.cast[standing === 'outsider' ? 'stranger' : (standing as keyof Cast)];
      return { viewer: service.seed.viewer(user), path };
    },
    seen: (standing, level) => (level === 'private' && /guest|planner/.test(standing) ? 403 : 200),
  });

  it.each([
    ['public', 'disabled', { anonymous: 404, guest: 404, maintainer: 404 }],
    ['public', 'private', { anonymous: 404, guest: 200, maintainer: 200 }],
    ['private', 'private', { anonymous: 404, guest: 403, maintainer: 200 }],
    ['internal', 'private', { anonymous: 404, guest: 200, maintainer: 200 }],
  ] as const)('of a %s project whose repository is %s', async (level, access, wanted) => {
    const { project, place } = await refsRepository(service, git, {
      visibility: level,
      repository_access_level: access,
    });
    await place('HEAD:refs/heads/main');
    const own = await castOf(service.seed, project);
    for (const [name, status] of Object.entries(wanted)) {
      const viewer = name === 'anonymous' ? reader : service.seed.viewer(own[name as keyof Cast]);
      expect([name, (await service.app.as(viewer).get(pathOf(project, '/main'))).status]).toEqual([name, status]);
    }
  });

  it('with the scope for repositories suffice, others do not', async () => {
    const ask = (scopes: string[]) => get('/main', {}, service.seed.viewer(cast.reporter, { scopes }));
    expect([(await ask(['read_repository'])).status, (await ask(['read_user'])).status]).toEqual([200, 403]);
  });

  it('learn whether they may push', async () => {
    const may = async (viewer: Viewer) => ((await get('/old', {}, viewer)).body as { can_push: boolean }).can_push;
    expect(await may(service.seed.viewer(cast.reporter))).toBe(false);
    expect(await may(service.seed.viewer(cast.developer))).toBe(true);
  });
});
