import { randomUUID } from 'node:crypto';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { internalAuthorization } from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { startCollaboration } from '../support/app';

let service: SeededService;
let owner: SeededUser;
beforeAll(async () => {
  service = await startCollaboration();
  owner = await service.seed.user();
});
afterAll(() => service.close());

const KEY = internalAuthorization('import', 'collaboration');
const [AT, LATER] = ['2024-01-02T03:04:05.000Z', '2024-02-03T04:05:06.000Z'];
const importedSnippet = (over: object = {}) => ({
  ...{ user_id: owner.id, source: 'git.example', upstream_id: 'abc', title: 'Notes', visibility: 'private' },
  ...{ files: [{ path: 'a.txt', content: 'A' }], created_at: AT, updated_at: LATER },
  ...over,
});
const postInternal = (path: string, body: object, key = KEY) =>
  service.app.bare().post(path).set('authorization', key).send(body);
const importSnippet = async (over: object = {}) =>
  (await postInternal(INTERNAL_PATHS.importSnippet, importedSnippet(over)).expect(200)).body as object;
const listed = async (user = owner) =>
  (await service.app.as(service.seed.viewer(user)).get('/api/v4/snippets').expect(200)).body as {
    readonly id: number;
  }[];

it('writes a snippet with its files, visibility and times, once', async () => {
  const files = [
    { path: 'b/c.txt', content: 'é\n' },
    { path: 'a.txt', content: '' },
  ];
  expect(await importSnippet({ visibility: 'public', files })).toEqual({ problem: null });
  expect(await importSnippet({ visibility: 'public', files })).toEqual({ problem: null });
  const [first, ...others] = await listed();
  expect(others).toEqual([]);
  expect(first).toMatchObject({
    ...{ title: 'Notes', visibility: 'public', created_at: AT, updated_at: LATER, author: { id: owner.id } },
    ...{ project_id: null, imported: true, imported_from: 'remote', files: [{ path: 'a.txt' }, { path: 'b/c.txt' }] },
  });
  const raw = service.app.as(service.seed.viewer(owner)).get(`/api/v4/snippets/${first!.id}/files/main/b%2Fc.txt/raw`);
  expect((await raw.expect(200)).text).toBe('é\n');
});

it('writes it once for several runs at the same time, and again after it was deleted', async () => {
  const user = await service.seed.user();
  await Promise.all([1, 2, 3].map(() => importSnippet({ user_id: user.id })));
  const [found, ...others] = await listed(user);
  expect(others).toEqual([]);
  await service.app.as(service.seed.viewer(user)).delete(`/api/v4/snippets/${found!.id}`).expect(204);
  await importSnippet({ user_id: user.id });
  expect(await listed(user)).toHaveLength(1);
});

it.each([{ state: 'blocked' }, { external: true }] as const)('is refused once its user is %j', async (over) => {
  const { id } = await service.seed.user(over);
  expect(await importSnippet({ user_id: id })).toEqual({ problem: 'The user may not have snippets any more.' });
});

it('is independent of the same id on another host', async () => {
  const user = await service.seed.user();
  await importSnippet({ user_id: user.id });
  await importSnippet({ user_id: user.id, source: 'other.example' });
  expect(await listed(user)).toHaveLength(2);
});

it.each([
  [{ files: [] }, "Files can't be blank."],
  [{ files: [{ path: '../a', content: 'x' }] }, 'Files have a path that is invalid.'],
  [
    { files: Array.from({ length: 11 }, (_, at) => ({ path: `${at}`, content: '' })) },
    'Files are too many (maximum is 10).',
  ],
  [{ title: ' ' }, "Title can't be blank."],
  [{ user_id: 999_999 }, 'The user may not have snippets any more.'],
])('names the reason against %j', async (over, problem) => {
  expect(await importSnippet({ upstream_id: 'refused', ...over })).toEqual({ problem });
});

it('takes files of several megabytes', async () => {
  const content = 'x'.repeat(4 * 1024 * 1024);
  expect(await importSnippet({ upstream_id: 'large', files: [{ path: 'a', content }] })).toEqual({ problem: null });
});

it('is for the import service, with whole requests', async () => {
  await postInternal(
    INTERNAL_PATHS.importSnippet,
    importedSnippet(),
    internalAuthorization('package', 'collaboration'),
  ).expect(403);
  for (const over of [{ visibility: 'internal' }, { title: 'a\0' }, { files: [{ path: 'a' }] }, { user_id: '1' }]) {
    await postInternal(INTERNAL_PATHS.importSnippet, importedSnippet(over)).expect(400);
  }
});

describe('snippets that were left out', () => {
  const snippets = [{ name: 'Big', reason: 'It has more than 10 files.' }];
  const leftOut = (over: object = {}) => ({
    ...{ import_key: randomUUID(), user_id: owner.id, import_id: 7, snippets },
    ...over,
  });

  it('are listed in one e-mail for each import', async () => {
    const request = leftOut();
    await postInternal(INTERNAL_PATHS.importLeftOut, request).expect(200);
    await postInternal(INTERNAL_PATHS.importLeftOut, request).expect(200);
    const rows = await service.database.query(
      'select recipient_id, template, subject_id, left_out from account_mails where source_event_id = $1',
      [request.import_key],
    );
    expect(rows).toEqual([{ recipient_id: owner.id, template: 'gists_left_out', subject_id: 7, left_out: snippets }]);
  });

  it('come in whole requests', async () => {
    await postInternal(INTERNAL_PATHS.importLeftOut, leftOut({ import_key: 'x' })).expect(400);
    const many = Array.from({ length: 101 }, () => snippets[0]);
    await postInternal(INTERNAL_PATHS.importLeftOut, leftOut({ snippets: many })).expect(400);
  });
});
