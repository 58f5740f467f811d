import { INTERNAL_PATHS } from '@rookery/contracts';
import { GitClient, internalAuthorization } from '@rookery/testing';
import type { SeededService, SeededUser } from '@rookery/testing';
import { startCollaboration } from '../support/app';

let service: SeededService;
let git: GitClient;
let owner: SeededUser;
let places = 0;
beforeAll(async () => {
  service = await startCollaboration();
  git = await GitClient.make();
  owner = await service.seed.user();
});
afterAll(async () => {
  await git.close();
  await service.close();
});

const KEY = internalAuthorization('import', 'collaboration');
const PUSH = ['-c', `http.extraHeader=Authorization: ${KEY}`, 'push', '--quiet', 'origin'];
const AT = '2024-01-02T03:04:05.000Z';
const times = { created_at: AT, updated_at: AT };

interface ShownResource {
  readonly imported?: boolean;
  readonly imported_from?: string;
  readonly [field: string]: unknown;
}

/**
 * Creates a project with one imported object of each kind with authors. Returns the project, and `show` for its
 * answers.
 */
async function importAll(source: string) {
  const project = await service.seed.project({ default_branch: 'main' });
  await service.seed.member(owner, project, 'owner');
  const folder = `work-${++places}`;
  await git.init(folder, `${service.app.baseUrl}/internal/repositories/${project.id}`);
  const base = (await git.ok(folder, 'rev-parse', 'HEAD')).trim();
  await git.ok(folder, 'checkout', '--quiet', '-b', 'feature');
  const head = await git.commit(folder, 'Change', 'a.txt');
  await git.ok(folder, ...PUSH, 'main', 'feature', 'feature:refs/imports/2');
  const write = async (kind: string, objects: readonly object[]) => {
    const body = { project_id: project.id, import_type: source, kind, objects };
    const request = service.app.bare().post(INTERNAL_PATHS.importObjects).set('authorization', KEY).send(body);
    expect([kind, (await request.expect(200)).body]).toEqual([kind, { failed: [] }]);
  };
  const by = { author_id: owner.id, ...times };
  const planned = { description: null, state: 'opened', is_locked: false, labels: [], milestone: null };
  const common = { ...planned, assignee_ids: [], closed_at: null };
  await write(
    'issue',
    [1, 3].map((number) => ({ ...common, ...by, number, title: `Issue ${number}` })),
  );
  await write('merge_request', [
    {
      ...{ ...common, ...by, number: 2, title: 'Change', source_branch: 'feature', target_branch: 'main' },
      ...{ is_foreign: false, source_owner: 'robin', head_sha: head, base_sha: base, merge_commit_sha: null },
      ...{ merged_by_id: null, merged_at: null, reviewer_ids: [] },
    },
  ]);
  await write('review', [
    { id: 4, merge_request: 2, author_id: owner.id, state: 'approved', body: 'Review', created_at: AT },
  ]);
  await write(
    'diff_note',
    ['a.txt', 'gone.txt'].map((path, at) => ({
      ...{ ...by, id: 5 + at, merge_request: 2, body: path, path, side: 'new', line: 1, start_line: null },
      ...{ commit_id: head, reply_to: null },
    })),
  );
  const targets = [
    { issue: 1, merge_request: null },
    { issue: null, merge_request: 2 },
  ];
  await write(
    'issue_event',
    targets.flatMap((target, at) => [
      { ...by, ...target, id: 10 + at, change: 'renamed', name: 'After', before: 'Before' },
      { ...by, ...target, id: 20 + at, change: 'mentioned', name: '#3', before: null },
    ]),
  );
  await write(
    'note',
    targets.map((target, at) => ({ ...by, ...target, id: 30 + at, body: 'Comment' })),
  );
  const show = async (path: string) => {
    const request = service.app.as(service.seed.viewer(owner)).get(`/api/v4/projects/${project.id}${path}`);
    return (await request.expect(200)).body as readonly ShownResource[] & ShownResource;
  };
  return { project, show };
}

it.each(['remote', 'repohost_server', 'repohost'])('names the kind of host on every object: %s', async (source) => {
  const { show } = await importAll(source);
  const [issueNotes, requestNotes] = [await show('/issues/1/notes'), await show('/merge_requests/2/notes')];
  const threads = [...(await show('/issues/1/discussions')), ...(await show('/merge_requests/2/discussions'))];
  const shown: readonly ShownResource[] = [
    ...[await show('/issues/1'), await show('/merge_requests/2')],
    ...[...(await show('/issues')), ...(await show('/merge_requests'))],
    ...[...issueNotes, ...requestNotes, await show(`/issues/1/notes/${String(issueNotes[0]!['id'])}`)],
    ...threads.flatMap((thread) => thread['notes'] as readonly ShownResource[]),
  ];
  expect([issueNotes.length, requestNotes.length]).toEqual([3, 6]);
  expect(requestNotes.map((note) => note['type']).toSorted()).toEqual([
    'DiffNote',
    'DiscussionNote',
    null,
    null,
    null,
    null,
  ]);
  for (const one of shown)
    expect([one['body'] ?? one['title'], one.imported, one.imported_from]).toEqual([
      one['body'] ?? one['title'],
      true,
      source,
    ]);
});

it('names no host on what users write in an imported project', async () => {
  const { project, show } = await importAll('remote');
  const client = service.app.as(service.seed.viewer(owner));
  const path = `/api/v4/projects/${project.id}/issues`;
  await client.post(`${path}/1/notes`).send({ body: 'Own' }).expect(201);
  await client.post(path).send({ title: 'Own' }).expect(201);
  const notes = await show('/issues/1/notes');
  const own = [...notes, ...(await show('/issues'))].filter((one) => [one['body'], one['title']].includes('Own'));
  expect(own.map((one) => [one.imported, one.imported_from])).toEqual([
    [false, 'none'],
    [false, 'none'],
  ]);
});
