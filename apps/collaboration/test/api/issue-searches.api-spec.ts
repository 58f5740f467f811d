import type { DirectoryProject } from '@rookery/contracts';
import type { SeededService, SeededUser } from '@rookery/testing';
import { startCollaboration } from '../support/app';

/** Trigram searches return the same issues as a comparison with each title and description. */
let service: SeededService;
let group: Awaited<ReturnType<SeededService['seed']['group']>>;
let projects: DirectoryProject[];
let owner: SeededUser;
/** Maximum number of matches that a search looks up one by one. */
const FEW = 10_000;

const TEXTS: readonly (readonly [title: string, description: string | null])[] = [
  ['Straße ÄÖÜ Vögel', 'Flügel und Großes'],
  ['STRASSE äöü vögel', null],
  ['100% of a_b', 'per_cent %_% done'],
  ['a1b 100 percent', 'a-b axb'],
  ['ab', 'x'],
  ['Wörter und Wort', 'naïve café 東京都 鳥'],
  ['back\\slash (x|y)* [z]', '***= .*'],
  ['first', 'second'],
];

beforeAll(async () => {
  service = await startCollaboration();
  owner = await service.seed.user();
  group = await service.seed.group();
  projects = [];
  for (let n = 0; n < 2; n++) projects.push(await service.seed.project({ namespace_id: group.id }));
  await service.seed.member(owner, group, 'owner');
  for (const project of projects) {
    for (const [title, description] of TEXTS) {
      await ownerClient().post(`/api/v4/projects/${project.id}/issues`).send({ title, description }).expect(201);
    }
  }
});
afterAll(() => service.close());

const ownerClient = () => service.app.as(service.seed.viewer(owner));
type SearchResult = { readonly ids: number[]; readonly total: string | undefined };
const search = async (path: string, query: Readonly<Record<string, unknown>>): Promise<SearchResult> => {
  const page = await ownerClient()
    .get(path)
    .query({ per_page: 100, ...query })
    .expect(200);
  const ids = (page.body as { id: number }[]).map(({ id }) => id).sort((a, b) => a - b);
  return { ids, total: page.get('x-total') };
};
/** Computes the expected result from all issues. */
const expectedMatches = async (
  words: string,
  fields: readonly string[],
  of: readonly DirectoryProject[],
): Promise<SearchResult> => {
  const patterns = words.split(/\s+/).map((word) => `%${word.replace(/[\\%_]/g, '\\$&')}%`);
  const has = patterns.map((_, n) => `(${fields.map((field) => `${field} ilike $${n + 2}`).join(' or ')})`);
  const rows = await service.database.query<{ id: number }>(
    `select id from issues where project_id = any($1::bigint[]) and ${has.join(' and ')} order by id`,
    [of.map(({ id }) => id), ...patterns],
  );
  return { ids: rows.map(({ id }) => Number(id)), total: String(rows.length) };
};

const WORDS = [
  'vögel',
  'VÖGEL',
  'ÄÖÜ',
  'straße',
  'strasse',
  '100%',
  'a_b',
  '%_%',
  '%',
  '_',
  'ab',
  'a',
  'x',
  '東京都',
  '鳥',
];
const MORE = [
  '\\slash',
  '(x|y)*',
  '***=',
  '.*',
  'café und',
  'first second',
  'second first',
  'und wört',
  'per_cent 100%',
  'nowhere',
];
describe.each([...WORDS, ...MORE])('a search for %s finds the same as a comparison with all issues', (words) => {
  test.each([
    ['title,description', ['title', 'description']],
    ['title', ['title']],
    ['description', ['description']],
  ] as const)('in %s', async (within, fields) => {
    const query = { search: words, in: within };
    const one = projects[0]!;
    expect(await search(`/api/v4/projects/${one.id}/issues`, query)).toEqual(
      await expectedMatches(words, fields, [one]),
    );
    const all = await expectedMatches(words, fields, projects);
    expect(await search(`/api/v4/groups/${group.id}/issues`, query)).toEqual(all);
    expect(await search('/api/v4/issues', { ...query, scope: 'all' })).toEqual(all);
    expect(await search('/api/v4/issues', { ...query, scope: 'created_by_me' })).toEqual(all);
  });
});

test('a search reflects changed texts, and finds only readable issues', async () => {
  const project = await service.seed.project({ visibility: 'public', namespace_id: group.id });
  const path = `/api/v4/projects/${project.id}/issues`;
  const { body: issue } = await ownerClient()
    .post(path)
    .send({ title: 'Original', description: 'opening' })
    .expect(201);
  const count = async (words: string): Promise<number> => (await search(path, { search: words })).ids.length;
  expect([await count('original'), await count('opening')]).toEqual([1, 1]);
  await ownerClient().put(`${path}/${issue.iid}`).send({ title: 'Renamed' }).expect(200);
  expect([await count('original'), await count('renamed'), await count('opening')]).toEqual([0, 1, 1]);
  await ownerClient().put(`${path}/${issue.iid}`).send({ description: null }).expect(200);
  expect([await count('renamed'), await count('opening')]).toEqual([1, 0]);
  await ownerClient().put(`${path}/${issue.iid}`).send({ confidential: true }).expect(200);
  const stranger = service.app.as(service.seed.viewer(await service.seed.user()));
  for (const list of [path, `/api/v4/groups/${group.id}/issues`, '/api/v4/issues?scope=all']) {
    const page = await stranger.get(list).query({ search: 'renamed' });
    expect([page.status, page.body, page.get('x-total')]).toEqual([200, [], '0']);
  }
  await ownerClient().delete(`${path}/${issue.iid}`).expect(204);
  expect(await count('renamed')).toBe(0);
  expect(await service.database.query('select 1 from issue_texts where issue_id = $1', [issue.id])).toEqual([]);
});

test('for very frequent words the list is scanned in its order', async () => {
  const project = await service.seed.project({ namespace_id: group.id });
  await service.database.query(
    `insert into issues (project_id, iid, author_id, title, state, closed_at, created_at, updated_at)
     select $1, n + 1, $2, case when n = 0 then 'Rare' else 'Commonplace ' || n end, case when n > 0 and n % 4000 = 0 then 'closed' else 'opened' end,
       case when n > 0 and n % 4000 = 0 then now() end, now() + n * interval '1 second', now()
     from generate_series(0, $3::integer) n`,
    [project.id, owner.id, FEW + 1],
  );
  for (const [path, more] of [
    [`/api/v4/projects/${project.id}/issues`, {}],
    [`/api/v4/groups/${group.id}/issues`, {}],
    ['/api/v4/issues', { scope: 'all' }],
  ] as const) {
    const list = (query: Readonly<Record<string, unknown>>) =>
      ownerClient()
        .get(path)
        .query({ search: 'commonplace', ...more, ...query })
        .expect(200);
    const page = await list({ page: 2, per_page: 3 });
    const iids = (page.body as { iid: number }[]).map(({ iid }) => iid);
    expect([path, iids, page.get('x-total'), page.get('x-next-page')]).toEqual([
      path,
      [FEW - 1, FEW - 2, FEW - 3],
      undefined,
      '3',
    ]);
    const closed = await list({ state: 'closed' });
    expect([closed.body.length, closed.get('x-total')]).toEqual([2, '2']);
    const few = await list({ search: 'commonplace 999' });
    expect(few.get('x-total')).toBe('19');
    const oldest = await list({ sort: 'asc', per_page: 3 });
    expect((oldest.body as { iid: number }[]).map(({ iid }) => iid)).toEqual([2, 3, 4]);
  }
});
