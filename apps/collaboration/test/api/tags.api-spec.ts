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
  const { run, place } = made;
  await place('HEAD:refs/heads/main');
  await run('tag', 'v1.9.0');
  await run('tag', '-a', '-m', 'Release\n\nWith notes', 'v1.10.0');
  await run('tag', '-a', '-m', 'Of a tag', 'nested', 'v1.10.0');
  await run('tag', 'blob', 'HEAD:README.md');
  await run('tag', 'ü/ö');
  await place('--tags');
});
afterAll(async () => {
  await git.close();
  await service.close();
});

const tagsPath = ({ id }: Pick<DirectoryProject, 'id'>, rest = '') => `/api/v4/projects/${id}/repository/tags${rest}`;
const get = (rest: string, query: object = {}, viewer = reader) =>
  service.app.as(viewer).get(tagsPath(made.project, rest)).query(query);
const names = async (query: object): Promise<string[]> =>
  ((await get('', query)).body as { name: string }[]).map(({ name }) => name);

it('shows lightweight and annotated tags, and tags of tags and blobs', async () => {
  const id = await made.run('rev-parse', 'HEAD');
  const commit = expect.objectContaining({ id, title: 'First' });
  const common = { release: null, protected: false };
  const date = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000[+-]\d\d:\d\d$/);
  const expected = {
    'v1.9.0': { message: null, target: id, commit, created_at: null },
    'v1.10.0': {
      message: 'Release\n\nWith notes',
      target: await made.run('rev-parse', 'v1.10.0'),
      commit,
      created_at: date,
    },
    nested: { message: 'Of a tag', target: await made.run('rev-parse', 'nested'), commit, created_at: date },
    blob: { message: null, target: await made.run('rev-parse', 'blob'), commit: null, created_at: null },
    'ü/ö': { message: null, target: id, commit, created_at: null },
  };
  const listed = (await get('')).body as { name: string }[];
  expect(listed.map(({ name }) => name).sort()).toEqual(Object.keys(expected).sort());
  for (const [name, fields] of Object.entries(expected)) {
    const { status, body } = await get(`/${encodeURIComponent(name)}`);
    expect([status, body]).toEqual([200, { name, ...common, ...fields }]);
    expect(listed.find((tag) => tag.name === name)).toEqual(body);
  }
});

it.each([
  [{ order_by: 'name', sort: 'asc' }, ['blob', 'nested', 'v1.10.0', 'v1.9.0', 'ü/ö']],
  [{ order_by: 'name' }, ['ü/ö', 'v1.9.0', 'v1.10.0', 'nested', 'blob']],
  [{ order_by: 'version' }, ['v1.10.0', 'v1.9.0', 'blob', 'nested', 'ü/ö']],
  [{ order_by: 'version', sort: 'asc' }, ['v1.9.0', 'v1.10.0', 'blob', 'nested', 'ü/ö']],
  [{ order_by: 'name', search: '^V1' }, ['v1.9.0', 'v1.10.0']],
  [{ order_by: 'name', search: '^v1*0$', pagination: 'keyset', per_page: 1 }, ['v1.9.0']],
  [{ order_by: 'name', search: '0', pagination: 'keyset', page_token: 'v1.9.0' }, ['v1.10.0']],
  [{ order_by: 'name', pagination: 'keyset', page_token: 'o' }, ['nested', 'blob']],
])('orders and selects by %j', async (query, found) => {
  expect(await names(query)).toEqual(found);
});

it('orders by date, and the newest first by default', async () => {
  const { project, run, place } = await refsRepository(service, git);
  await place('HEAD:refs/heads/main');
  for (const [name, year] of Object.entries({ b: 2020, c: 2024, a: 2022 })) {
    await run('commit', '--quiet', '--allow-empty', '-m', name, `--date=${year}-01-01T00:00:00Z`);
    await run('rebase', '--quiet', '--committer-date-is-author-date', 'HEAD~1');
    await run('tag', name);
  }
  await place('--tags');
  const ask = async (query: object) =>
    ((await service.app.as(reader).get(tagsPath(project)).query(query)).body as { name: string }[]).map(
      ({ name }) => name,
    );
  expect(await ask({})).toEqual(['c', 'a', 'b']);
  expect(await ask({ sort: 'asc' })).toEqual(['b', 'a', 'c']);
  expect(await ask({ pagination: 'keyset', page_token: 'a' })).toEqual(['b']);
  const { next } = linksOf(
    await service.app.as(reader).get(tagsPath(project)).query({ pagination: 'keyset', per_page: 2 }),
  );
  expect(new URL(next!).searchParams.get('page_token')).toBe('a');
});

it.each([
  [{ order_by: 'size' }, 400, { error: 'order_by does not have a valid value' }],
  [{ sort: 'up' }, 400, { error: 'sort does not have a valid value' }],
  [{ pagination: 'keyset', page_token: 'none' }, 422, { message: 'Invalid page token: none' }],
])('refuses %j', async (query, status, body) => {
  const answer = await get('', query);
  expect([answer.status, answer.body]).toEqual([status, body]);
});

it('answers 404 for what does not exist', async () => {
  for (const name of ['none', 'v1', 'refs/tags/blob', 'a b', 'a..b', '-x', '*'])
    expect([name, (await get(`/${encodeURIComponent(name)}`)).body]).toEqual([name, { message: '404 Tag Not Found' }]);
  const { project } = await refsRepository(service, git);
  const ask = (id: number) => service.app.as(reader).get(tagsPath({ id }));
  expect((await ask(project.id)).body).toEqual([]);
  expect((await ask(999_999)).body).toEqual({ message: '404 Project Not Found' });
  const closed = await service.seed.project({ repository_access_level: 'disabled' });
  expect([(await ask(closed.id)).status, (await ask(closed.id)).body]).toEqual([403, { message: '403 Forbidden' }]);
});

describe('signatures', () => {
  it('are shown without a verification', async () => {
    const { project, run, place } = await refsRepository(service, git);
    await place('HEAD:refs/heads/main');
    const types = { PGP: 'PGP SIGNATURE', SSH: 'SSH SIGNATURE', X509: 'SIGNED MESSAGE' };
    for (const [type, header] of Object.entries(types))
      await run('tag', '-a', '-m', `Release\n-----BEGIN ${header}-----\nabc\n-----END ${header}-----`, type);
    await run('tag', '-a', '-m', 'Release', 'plain');
    await run('tag', 'light');
    await place('--tags');
    const ask = async (name: string) => {
      const { status, body } = await service.app.as(reader).get(tagsPath(project, `/${name}/signature`));
      return [status, body];
    };
    for (const type of Object.keys(types))
      expect(await ask(type)).toEqual([200, { signature_type: type, verification_status: 'unverified' }]);
    for (const name of ['plain', 'light'])
      expect(await ask(name)).toEqual([404, { message: '404 Signature Not Found' }]);
    expect(await ask('none')).toEqual([404, { message: '404 Tag Not Found' }]);
  });
});

describe('pages', () => {
  registerListPagingTests(() => ({
    app: service.app,
    viewer: reader,
    path: tagsPath(made.project),
    query: { order_by: 'name', sort: 'asc' },
    rows: 5,
    key: (row) => row['name'],
  }));
});

describe('readers', () => {
  const places: Partial<Record<string, { project: DirectoryProject; cast: Cast }>> = {};

  registerVisibilityTests({
    app: () => service.app,
    async from(level, standing) {
      const place = (places[level] ??= await (async () => {
        const { project, place } = await refsRepository(service, git, { visibility: level });
        await place('HEAD:refs/heads/main', 'HEAD:refs/tags/v1');
        return { project, cast: await castOf(service.seed, project) };
      })());
      const path = tagsPath(place.project, '/v1');
      if (standing === 'anonymous') return { viewer: service.seed.anonymous(), path };
      const user = place.cast[standing === 'outsider' ? 'stranger' : (standing as keyof Cast)];
      return { viewer: service.seed.viewer(user), path };
    },
    seen: (standing, level) => (level === 'private' && /guest|planner/.test(standing) ? 403 : 200),
  });

  it('with the scope for repositories suffice, others do not', async () => {
    const ask = (scopes: string[]) => get('', {}, service.seed.viewer(cast.reporter, { scopes }));
    expect([(await ask(['read_repository'])).status, (await ask(['read_user'])).status]).toEqual([200, 403]);
  });
});
