import type { DirectoryProject } from '@rookery/contracts';
import type { ObjectId, Repository } from '@rookery/git';
import type { Viewer } from '@rookery/kernel';
import { linksOf } from '@rookery/testing';
import type { SeededService } from '@rookery/testing';
import type { Response } from 'supertest';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { startCollaboration } from '../support/app';
import { commitFiles, gitIn } from '../support/commits-fixture';

let service: SeededService;
let reader: Viewer;

beforeAll(async () => {
  service = await startCollaboration();
  reader = service.seed.viewer(await service.seed.user());
});
afterAll(() => service.close());

async function place(): Promise<{ project: DirectoryProject; repository: Repository; path: string }> {
  const project = await service.seed.project();
  const repository = await service.app
    .get(ProjectRepositories)
    .openRepository({ id: project.id, defaultBranch: 'main' });
  return { project, repository, path: `/api/v4/projects/${project.id}/repository/commits` };
}

const get = (path: string, query: object = {}): Promise<Response> => service.app.as(reader).get(path).query(query);
const idsOf = ({ body }: Response): string[] => (body as { id: string }[]).map(({ id }) => id);

describe('the list', () => {
  let path: string;
  let full: string;
  let repository: Repository;
  const ids: ObjectId[] = [];
  const AT = 1_700_000_000;

  beforeAll(async () => {
    const made = await place();
    ({ path, repository } = made);
    const group = await service.app.as(reader).get(path);
    expect(group.status).toBe(200);
    full = made.project.path;
    for (let index = 0; index < 5; index += 1) {
      const author = index === 3 ? 'Jürgen [x] <j@example.org>' : 'Wren <wren@example.org>';
      const message = index === 4 ? 'Title ü\n\nBody\n\nSigned-off-by: A\nSigned-off-by: B' : `Commit ${index}`;
      const files = { 'dir/a': String(index), ...(index > 1 ? { 'ümlaut "b"': 'b' } : {}) };
      ids.push(commitFiles(repository, files, { at: AT + index * 60, message, author }));
    }
    gitIn(repository, ['branch', 'feature/x', ids[1]!]);
    gitIn(repository, ['branch', 'ü ä'.replace(' ', '-'), ids[2]!]);
    gitIn(repository, ['tag', 'v1', ids[0]!]);
    gitIn(repository, ['tag', '-a', '-m', 'tag', 'v2', ids[2]!]);
    ids.push(commitFiles(repository, { side: 's' }, { branch: 'side', parents: [ids[0]!], at: AT + 30 }));
  });
  const titles = async (query: object) => {
    const found = await get(path, query);
    expect(found.status).toBe(200);
    return idsOf(found).map((id) => ids.indexOf(id as ObjectId));
  };

  it('shows all fields', async () => {
    const { body } = await get(path, { per_page: 1 });
    expect(body).toEqual([
      {
        id: ids[4],
        short_id: ids[4]!.slice(0, 8),
        created_at: '2023-11-15T00:17:20.000+02:00',
        parent_ids: [ids[3]],
        title: 'Title ü',
        message: 'Title ü\n\nBody\n\nSigned-off-by: A\nSigned-off-by: B',
        author_name: 'Wren',
        author_email: 'wren@example.org',
        authored_date: '2023-11-15T00:17:20.000+02:00',
        committer_name: 'Wren',
        committer_email: 'wren@example.org',
        committed_date: '2023-11-15T00:17:20.000+02:00',
        trailers: {},
        extended_trailers: {},
        web_url: expect.stringMatching(new RegExp(`^http.*/${full}/-/commit/${ids[4]}$`)),
      },
    ]);
  });

  it('is narrowed by every filter', async () => {
    const at = (seconds: number) => new Date((AT + seconds) * 1000).toISOString();
    expect(await titles({})).toEqual([4, 3, 2, 1, 0]);
    expect(await titles({ ref_name: '' })).toEqual([4, 3, 2, 1, 0]);
    expect(await titles({ ref_name: 'HEAD' })).toEqual([4, 3, 2, 1, 0]);
    expect(await titles({ ref_name: 'feature/x' })).toEqual([1, 0]);
    expect(await titles({ ref_name: 'refs/heads/feature/x' })).toEqual([1, 0]);
    expect(await titles({ ref_name: 'ü-ä' })).toEqual([2, 1, 0]);
    expect(await titles({ ref_name: 'v2' })).toEqual([2, 1, 0]);
    expect(await titles({ ref_name: ids[1]!.slice(0, 10) })).toEqual([1, 0]);
    expect(await titles({ ref_name: 'v1..feature/x' })).toEqual([1]);
    expect(await titles({ ref_name: 'v2..' })).toEqual([4, 3]);
    expect(await titles({ ref_name: '..side' })).toEqual([5]);
    expect(await titles({ ref_name: 'main..v1' })).toEqual([]);
    expect(await titles({ since: at(120), until: at(180) })).toEqual([3, 2]);
    expect(await titles({ since: at(119.5) })).toEqual([4, 3, 2]);
    expect(await titles({ until: at(59.5) })).toEqual([0]);
    expect(await titles({ until: '1960-01-01T00:00:00Z' })).toEqual([]);
    expect(await titles({ since: '1960-01-01T00:00:00Z', until: '9999-12-31T00:00:00Z' })).toHaveLength(5);
    expect(await titles({ path: 'dir' })).toEqual([4, 3, 2, 1, 0]);
    expect(await titles({ path: '/dir/' })).toEqual([4, 3, 2, 1, 0]);
    expect(await titles({ path: 'ümlaut "b"' })).toEqual([2]);
    expect(await titles({ path: '*' })).toEqual([]);
    expect(await titles({ path: '../x' })).toEqual([]);
    expect(await titles({ path: '/' })).toHaveLength(5);
    expect(await titles({ author: 'jüRGEN [' })).toEqual([3]);
    expect(await titles({ author: 'j.rgen' })).toEqual([]);
    expect(await titles({ all: true })).toEqual([4, 3, 2, 1, 5, 0]);
    expect(await titles({ all: 'True', ref_name: 'v1' })).toHaveLength(6);
    expect(await titles({ order: 'topo', ref_name: 'main' })).toEqual([4, 3, 2, 1, 0]);
  });

  it('follows the first parents of merges, and orders by topology', async () => {
    const made = await place();
    const root = commitFiles(made.repository, { a: 'a' }, { at: AT });
    const main = commitFiles(made.repository, { a: 'main' }, { at: AT + 30 });
    const side = commitFiles(made.repository, { b: 'b' }, { branch: 'side', parents: [root], at: AT + 10 });
    const later = commitFiles(made.repository, { b: 'c' }, { branch: 'side', at: AT + 40 });
    const merge = commitFiles(made.repository, { a: 'main', b: 'c' }, { parents: [main, later], at: AT + 50 });
    expect(idsOf(await get(made.path))).toEqual([merge, later, main, side, root]);
    expect(idsOf(await get(made.path, { order: 'topo' }))).toEqual([merge, later, side, main, root]);
    expect(idsOf(await get(made.path, { first_parent: true }))).toEqual([merge, main, root]);
    const stats = (await get(made.path, { with_stats: true, per_page: 1 })).body as { stats: object }[];
    expect(stats[0]!.stats).toEqual({ additions: 1, deletions: 0, total: 1 });
  });

  it('adds numbers of lines and trailers', async () => {
    const { body } = await get(path, { with_stats: true, trailers: true, per_page: 2 });
    expect(body).toEqual([
      expect.objectContaining({
        stats: { additions: 1, deletions: 1, total: 2 },
        trailers: { 'Signed-off-by': 'B' },
        extended_trailers: { 'Signed-off-by': ['A', 'B'] },
      }),
      expect.objectContaining({ trailers: {}, extended_trailers: {} }),
    ]);
  });

  it('has no totals and an exact next page', async () => {
    const pages = [await get(path, { per_page: 3 }), await get(path, { per_page: 3, page: 2 })];
    const headers = (response: Response) =>
      ['x-page', 'x-per-page', 'x-prev-page', 'x-next-page', 'x-total', 'x-total-pages'].map((name) =>
        response.get(name),
      );
    expect(headers(pages[0]!)).toEqual(['1', '3', '', '2', undefined, undefined]);
    expect(headers(pages[1]!)).toEqual(['2', '3', '1', '', undefined, undefined]);
    expect(Object.keys(linksOf(pages[0]!))).toEqual(['next', 'first']);
    expect(Object.keys(linksOf(pages[1]!))).toEqual(['prev', 'first']);
    expect([...idsOf(pages[0]!), ...idsOf(pages[1]!)]).toEqual([4, 3, 2, 1, 0].map((index) => ids[index]));
    // A page that is full and the last one.
    const full = await get(path, { per_page: 5 });
    expect([idsOf(full).length, full.get('x-next-page')]).toEqual([5, '']);
    const far = await get(path, { page: 2 ** 40 });
    expect([far.status, far.body]).toEqual([200, []]);
    const head = await service.app.as(reader).head(path);
    expect([head.status, head.get('x-next-page')]).toEqual([200, '']);
  });

  it.each([
    [{ page: 0 }, 'page does not have a valid value'],
    [{ page: -1 }, 'page does not have a valid value'],
    [{ per_page: 0 }, 'per_page does not have a valid value'],
    [{ page: 'x' }, 'page is invalid'],
    [{ ref_name: '-x' }, 'ref_name is invalid'],
    [{ ref_name: 'a b' }, 'ref_name is invalid'],
    [{ ref_name: 'a\u0000' }, 'ref_name is invalid'],
    [{ since: 'yesterday' }, 'since is invalid'],
    [{ until: 'x' }, 'until is invalid'],
    [{ order: 'date' }, 'order does not have a valid value'],
    [{ all: 'maybe' }, 'all is invalid'],
    [{ author: 'a\nb' }, 'author is invalid'],
  ])('refuses %j', async (query, error) => {
    const { status, body } = await get(path, query);
    expect([status, body]).toEqual([400, { error }]);
  });

  it.each([
    'none',
    'a^',
    'a~1',
    'a:b',
    '@',
    '@{-1}',
    'main@{1}',
    '..',
    'a...b',
    'refs/',
    'main/',
    'ab',
    'x'.repeat(300),
  ])('is empty for the ref %s', async (ref) => {
    const { status, body } = await get(path, { ref_name: ref });
    expect([status, ref === '..' ? [] : body]).toEqual([200, []]);
  });

  it('is empty in an empty repository', async () => {
    const made = await place();
    for (const query of [{}, { all: true }, { ref_name: 'main' }, { all: true, with_stats: true }]) {
      const { status, body } = await get(made.path, query);
      expect([status, body]).toEqual([200, []]);
    }
  });

  it('hides refs that no client sees', async () => {
    gitIn(repository, ['update-ref', 'refs/keep-around/x', ids[5]!]);
    expect(await titles({ ref_name: 'refs/keep-around/x' })).toEqual([]);
  });
});

describe('a commit', () => {
  it('is found by id, abbreviation, branch and tag', async () => {
    const { project, repository, path } = await place();
    const first = commitFiles(repository, { a: 'a\n' }, { message: 'One\n\nKey: value\n' });
    const second = commitFiles(repository, { a: 'b\n' });
    gitIn(repository, ['branch', 'feature/x', first]);
    gitIn(repository, ['branch', 'a"ü', first]);
    gitIn(repository, ['tag', '-a', '-m', 't', 'feature/x', second]);
    for (const name of [
      first,
      first.slice(0, 8),
      'feature%2Fx',
      'refs%2Fheads%2Ffeature%2Fx',
      encodeURIComponent('a"ü'),
    ]) {
      const { status, body } = await get(`${path}/${name}`);
      expect([name, status, body.id]).toEqual([name, 200, first]);
    }
    const group = `${encodeURIComponent(await fullPathOf(project))}`;
    const { body } = await get(`/api/v4/projects/${group}/repository/commits/${first}`);
    expect(body).toMatchObject({
      message: 'One\n\nKey: value\n',
      trailers: { Key: 'value' },
      extended_trailers: { Key: ['value'] },
      stats: { additions: 1, deletions: 0, total: 1 },
      status: null,
      last_pipeline: null,
      project_id: project.id,
    });
    expect((await get(`${path}/HEAD`, { stats: 'false' })).body).not.toHaveProperty('stats');
    const bad = await get(`${path}/HEAD`, { stats: 'x' });
    expect([bad.status, bad.body]).toEqual([400, { error: 'stats is invalid' }]);
  });

  it('is 404 for every unknown name, with all children', async () => {
    const { repository, path } = await place();
    const missing = async (name: string) => {
      for (const child of ['', '/diff', '/refs', '/sequence', '/signature', '/merge_requests']) {
        const { status, body } = await get(`${path}/${name}${child}`);
        expect([name, child, status, body]).toEqual([name, child, 404, { message: '404 Commit Not Found' }]);
      }
    };
    await missing('HEAD');
    const id = commitFiles(repository, { a: 'a' });
    const other = await place();
    const foreign = commitFiles(other.repository, { a: 'foreign' });
    const blob = gitIn(repository, ['rev-parse', `${id}:a`]);
    for (const name of ['a'.repeat(40), 'none', '-x', 'HEAD~1', 'a%20b', '..%2Fx', blob, foreign, 'x%5E%7Btree%7D'])
      await missing(name);
  });
});

async function fullPathOf(project: DirectoryProject): Promise<string> {
  const { body } = await get(`/api/v4/projects/${project.id}/repository/commits`);
  const { web_url: url } = (body as { web_url: string }[])[0]!;
  return new URL(url).pathname.slice(1).split('/-/')[0]!;
}

describe('refs, sequence, signature and merge requests', () => {
  it('are those of the commit', async () => {
    const { repository, path } = await place();
    const first = commitFiles(repository, { a: 'a' });
    const side = commitFiles(repository, { b: 'b' }, { branch: 'b/side', parents: [first] });
    const second = commitFiles(repository, { a: 'c' });
    const merge = commitFiles(repository, { a: 'c', b: 'b' }, { parents: [second, side] });
    gitIn(repository, ['tag', 'v1', first]);
    gitIn(repository, ['tag', '-a', '-m', 't', 'v2', merge]);
    gitIn(repository, ['branch', 'ä', side]);
    const branches = ['b/side', 'main', 'ä'].map((name) => ({ type: 'branch', name }));
    const tags = ['v1', 'v2'].map((name) => ({ type: 'tag', name }));
    const refs = async (id: string, query: object = {}) => (await get(`${path}/${id}/refs`, query)).body as unknown;
    expect(await refs(first)).toEqual([...branches, ...tags]);
    expect(await refs(first, { type: 'branch' })).toEqual(branches);
    expect(await refs(first, { type: 'tag' })).toEqual(tags);
    expect(await refs(side, { type: 'all' })).toEqual([...branches, tags[1]]);
    expect(await refs(merge)).toEqual([branches[1], tags[1]]);
    const page = await get(`${path}/${first}/refs`, { per_page: 2, page: 2 });
    expect([page.body, page.get('x-total'), page.get('x-next-page')]).toEqual([[branches[2], tags[0]], '5', '3']);
    const bad = await get(`${path}/${first}/refs`, { type: 'x' });
    expect([bad.status, bad.body]).toEqual([400, { error: 'type does not have a valid value' }]);

    expect((await get(`${path}/${merge}/sequence`)).body).toEqual({ count: 4 });
    expect((await get(`${path}/main/sequence`, { first_parent: true })).body).toEqual({ count: 3 });
    const requests = await get(`${path}/main/merge_requests`);
    expect([requests.body, requests.get('x-total')]).toEqual([[], '0']);
    const signature = await get(`${path}/main/signature`);
    expect([signature.status, signature.body]).toEqual([404, { message: '404 Signature Not Found' }]);
  });

  const KEYS = {
    PGP: ['gpg_key_id', 'gpg_key_primary_keyid', 'gpg_key_user_name', 'gpg_key_user_email', 'gpg_key_subkey_id'],
    SSH: ['key'],
    X509: ['x509_certificate'],
  };
  it.each([
    ['PGP', '-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----'],
    ['SSH', '-----BEGIN SSH SIGNATURE-----\nabc\n-----END SSH SIGNATURE-----'],
    ['X509', '-----BEGIN SIGNED MESSAGE-----\nabc\n-----END SIGNED MESSAGE-----'],
  ] as const)('shows that a signature is of %s', async (type, armor) => {
    const { repository, path } = await place();
    const tree = gitIn(repository, ['rev-parse', `${commitFiles(repository, { a: 'a' })}^{tree}`]);
    const header = `gpgsig ${armor.replaceAll('\n', '\n ')}\n`;
    const raw = `tree ${tree}\nauthor W <w@x> 1 +0000\ncommitter W <w@x> 1 +0000\n${header}\nm\n`;
    const id = gitIn(repository, ['hash-object', '-t', 'commit', '-w', '--stdin'], raw);
    const { status, body } = await get(`${path}/${id}/signature`);
    expect([status, body]).toEqual([
      200,
      {
        signature_type: type,
        verification_status: 'unverified',
        ...Object.fromEntries(KEYS[type].map((name) => [name, null])),
        commit_source: 'gitaly',
      },
    ]);
  });
});
