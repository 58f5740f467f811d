import type { ImportObjectsRequest } from '@rookery/contracts';
import { ImportScene } from '../support/scene';
import type { StartedImport } from '../support/scene';

let scene: ImportScene;
beforeAll(async () => void (scene = await ImportScene.open()));
afterEach(() => {
  scene.host.answer = null;
  scene.host.beforeAnswer = async () => undefined;
  scene.inside.isShared = false;
  scene.inside.onObjects = async () => ({ failed: [] });
  scene.inside.away.clear();
});
afterAll(() => scene.close());

const LAST = 4;
const AT = '2024-01-02T03:04:05Z';
const LATER = '2024-02-03T04:05:06Z';
const robin = { id: 11, login: 'robin' };
const merlin = { id: 12, login: 'merlin' };
const issue = (number: number, over: object = {}) => ({
  ...{ number, title: `Issue ${number}`, body: 'Text', state: 'open', user: robin, assignees: [], labels: [] },
  ...{ milestone: null, locked: false, created_at: AT, updated_at: LATER, closed_at: null },
  ...over,
});
const pullRequest = (number: number, over: object = {}) => ({
  ...{ number, title: `Change ${number}`, body: 'Text', state: 'open', user: robin, assignees: [], labels: [] },
  ...{ milestone: null, locked: false, draft: false, merged_at: null, closed_at: null, requested_reviewers: [] },
  head: { ref: 'feature', sha: 'a'.repeat(40), user: robin, repo: { id: 1 } },
  base: { ref: 'main', sha: 'b'.repeat(40), user: robin, repo: { id: 1 } },
  ...{ created_at: AT, updated_at: LATER },
  ...over,
});
const comment = (id: number, number: number, over: object = {}) => ({
  ...{ id, body: `Comment ${id}`, user: merlin, created_at: AT, updated_at: AT },
  html_url: `https://git.example/wren/x/issues/${number}#issuecomment-${id}`,
  ...over,
});
const listSentRequests = (projectId: number): readonly ImportObjectsRequest[] =>
  scene.inside.objects.filter(({ project_id: id }) => id === projectId);
const listSentObjects = (projectId: number, kind: string): readonly unknown[] =>
  listSentRequests(projectId).flatMap((request) => (request.kind === kind ? request.objects : []));
const showImport = async ({ projectId }: StartedImport, by = scene.owner) =>
  (await scene.as(by).get(`/api/v4/projects/${projectId}/import`).expect(200)).body as Record<string, unknown> & {
    readonly failed_relations: readonly Record<string, unknown>[];
    readonly stats: unknown;
  };
const expectedCounts = (label: number, milestone: number, issues: number, merge_request: number, note: number) => ({
  ...{ label, milestone, release: 0, issue: issues, merge_request, review: 0, diff_note: 0, issue_event: 0, note },
  protected_branch: 0,
});
const waitingJobs = (importId: number) =>
  scene.service.database.query<{ id: number }>(
    `select id from background_jobs where name = 'run-import' and state = 'waiting' and id = (
       select job_id from project_imports where id = $1)`,
    [importId],
  );

it('brings labels, milestones, issues, pull requests and comments along, in this order', async () => {
  const started = await scene.started('heron');
  const { repository, projectId, importId } = started;
  scene.host.put(repository, 'labels', [{ name: 'bug', color: 'd73a4a', description: 'Broken' }]);
  scene.host.put(repository, 'milestones', [
    {
      ...{ number: 3, title: 'v1', description: null, state: 'closed', due_on: '2024-05-06T07:00:00Z' },
      ...{ created_at: AT, updated_at: LATER },
    },
  ]);
  scene.host.put(repository, 'issues', [
    issue(1, {
      ...{ state: 'closed', closed_at: LATER, locked: true, labels: [{ name: 'bug' }], milestone: { number: 3 } },
      assignees: [merlin, merlin],
    }),
    issue(2, { pull_request: {} }),
    issue(4, { user: null, body: null }),
  ]);
  scene.host.put(repository, 'pulls', [
    pullRequest(2, {
      ...{ state: 'closed', merged_at: LATER, closed_at: LATER, merge_commit_sha: 'c'.repeat(40), merged_by: merlin },
      ...{ labels: [{ name: 'bug' }], milestone: { number: 3 }, assignees: [merlin], requested_reviewers: [robin] },
    }),
    pullRequest(3, { draft: true, body: null, head: { ref: 'x', sha: 'd'.repeat(40), user: merlin, repo: null } }),
    pullRequest(5, { state: 'closed', title: 'draft: Y', draft: true, closed_at: LATER, locked: true }),
  ]);
  scene.host.put(repository, 'issues/comments', [
    comment(51, 1),
    comment(52, 2, { html_url: 'https://git.example/wren/x/pull/2#issuecomment-52' }),
  ]);
  await scene.run(importId);
  expect(listSentRequests(projectId).map(({ kind }) => kind)).toEqual([
    'label',
    'milestone',
    'issue',
    'merge_request',
    'note',
  ]);
  expect(listSentRequests(projectId)[0]).toMatchObject({ project_id: projectId, import_type: 'remote' });
  const times = { created_at: '2024-01-02T03:04:05.000Z', updated_at: '2024-02-03T04:05:06.000Z' };
  expect(listSentObjects(projectId, 'label')).toEqual([{ name: 'bug', color: '#d73a4a', description: 'Broken' }]);
  expect(listSentObjects(projectId, 'milestone')).toEqual([
    { number: 3, title: 'v1', description: null, state: 'closed', due_on: '2024-05-06', ...times },
  ]);
  expect(listSentObjects(projectId, 'issue')).toEqual([
    {
      ...{ number: 1, author_id: 1011, title: 'Issue 1', description: 'Text', state: 'closed', is_locked: true },
      ...{ ...times, closed_at: times.updated_at, assignee_ids: [1012], labels: ['bug'], milestone: 3 },
    },
    {
      ...{ number: 4, author_id: 1000, title: 'Issue 4', description: null, state: 'opened', is_locked: false },
      ...{ ...times, closed_at: null, assignee_ids: [], labels: [], milestone: null },
    },
  ]);
  expect(listSentObjects(projectId, 'note')).toEqual([
    {
      ...{ id: 51, issue: 1, merge_request: null, author_id: 1012, body: 'Comment 51' },
      ...{ created_at: times.created_at, updated_at: times.created_at },
    },
    {
      ...{ id: 52, issue: null, merge_request: 2, author_id: 1012, body: 'Comment 52' },
      ...{ created_at: times.created_at, updated_at: times.created_at },
    },
  ]);
  const compared = { head_sha: 'a'.repeat(40), base_sha: 'b'.repeat(40), target_branch: 'main' };
  const own = { source_branch: 'feature', source_owner: 'robin', is_foreign: false };
  expect(listSentObjects(projectId, 'merge_request')).toEqual([
    {
      ...{ number: 2, author_id: 1011, title: 'Change 2', description: 'Text', state: 'merged', is_locked: false },
      ...{ ...compared, ...own, merge_commit_sha: 'c'.repeat(40), merged_by_id: 1012 },
      ...{ ...times, closed_at: times.updated_at, merged_at: times.updated_at },
      ...{ assignee_ids: [1012], reviewer_ids: [1011], labels: ['bug'], milestone: 3 },
    },
    {
      ...{ number: 3, author_id: 1011, title: 'Draft: Change 3', description: null, state: 'opened', is_locked: false },
      ...{ ...compared, source_branch: 'x', source_owner: 'merlin', is_foreign: true, head_sha: 'd'.repeat(40) },
      ...{ merge_commit_sha: null, merged_by_id: null, ...times, closed_at: null, merged_at: null },
      ...{ assignee_ids: [], reviewer_ids: [], labels: [], milestone: null },
    },
    expect.objectContaining({ number: 5, title: 'draft: Y', state: 'closed', is_locked: true }),
  ]);
  const row = await scene.row(importId);
  expect(scene.inside.people.at(-1)).toEqual({
    ...{ import_key: row!['import_key'], host: scene.host.address },
    people: [{ id: 12, username: 'merlin' }],
  });
  const numbers = expectedCounts(1, 1, 2, 3, 2);
  expect(await showImport(started)).toMatchObject({
    ...{ import_status: 'finished', failed_relations: [] },
    stats: { fetched: numbers, imported: numbers },
  });
});

it('brings changes from the timelines of issues and pull requests along', async () => {
  const { repository, projectId, importId } = await scene.started('sanderling');
  const address = 'https://git.example/api/v3/repos/wren/sanderling';
  const at = { repository_url: address };
  scene.host.put(repository, 'issues', [issue(1, at), issue(2, { pull_request: {}, ...at })]);
  scene.host.put(repository, 'pulls', [pullRequest(2)]);
  const event = (id: number, name: string, over: object = {}) => ({
    ...{ id, event: name, actor: robin, created_at: AT },
    ...over,
  });
  const mention = (over: object) => ({
    ...{ event: 'cross-referenced', actor: merlin, created_at: LATER },
    source: { type: 'issue', issue: { number: 2, ...at, ...over } },
  });
  scene.host.put(repository, 'issues/1/timeline', [
    event(1, 'labeled', { label: { name: 'bug', color: 'd73a4a' } }),
    event(2, 'demilestoned', { milestone: { title: 'v1' } }),
    event(3, 'renamed', { rename: { from: 'Old', to: 'New' } }),
    event(4, 'assigned', { assignee: merlin }),
    event(5, 'closed', { actor: null }),
    event(6, 'subscribed'),
    { sha: 'a'.repeat(40), event: 'committed' },
    event(7, 'reopened', { created_at: 'never' }),
    mention({ pull_request: {} }),
    mention({ repository_url: 'https://git.example/api/v3/repos/wren/secret' }),
  ]);
  scene.host.put(repository, 'issues/2/timeline', [
    event(8, 'review_requested', { requested_reviewer: merlin }),
    event(9, 'review_request_removed', { requested_team: { slug: 'birds' } }),
    event(10, 'merged'),
  ]);
  await scene.run(importId);
  const [created_at, later] = ['2024-01-02T03:04:05.000Z', '2024-02-03T04:05:06.000Z'];
  const sentChange = (number: number, id: number, change: string, name: string | null = null, over: object = {}) => ({
    ...{ id, issue: number === 1 ? 1 : null, merge_request: number === 2 ? 2 : null, author_id: 1011 },
    ...{ change, name, before: null, created_at },
    ...over,
  });
  expect(listSentObjects(projectId, 'issue_event')).toEqual([
    sentChange(1, 1, 'label_added', 'bug'),
    sentChange(1, 2, 'milestone_removed', 'v1'),
    sentChange(1, 3, 'renamed', 'New', { before: 'Old' }),
    sentChange(1, 4, 'assigned', 'merlin'),
    sentChange(1, 5, 'closed', null, { author_id: 1000 }),
    sentChange(1, expect.any(Number) as number, 'mentioned', '!2', { author_id: 1012, created_at: later }),
    sentChange(2, 8, 'review_requested', 'merlin'),
    sentChange(2, 9, 'review_request_removed', 'birds'),
    sentChange(2, 10, 'merged'),
  ]);
  const { failed_relations: failed, stats } = await showImport({ projectId, importId, repository } as StartedImport);
  expect([failed.length, stats]).toMatchObject([1, { fetched: { issue_event: 10 }, imported: { issue_event: 9 } }]);
});

it('shows numbers to reporters and higher roles only', async () => {
  const started = await scene.started('gannet');
  await scene.run(started.importId);
  const guest = await scene.service.seed.user();
  await scene.service.seed.member(guest, started.project, 'guest');
  expect(await showImport(started, guest)).not.toHaveProperty('stats');
  expect(await showImport(started)).toHaveProperty('stats');
});

it('names the author in texts that belong to the account of all people', async () => {
  const { repository, projectId, importId } = await scene.started('hobby');
  scene.inside.isShared = true;
  scene.host.put(repository, 'issues', [issue(1), issue(2, { body: null, user: { id: 3, login: 'a*b' } })]);
  await scene.run(importId);
  expect(listSentObjects(projectId, 'issue')).toMatchObject([
    { author_id: 999, description: '*Created by: robin*\n\nText' },
    { author_id: 999, description: '*Created by: ab*' },
  ]);
});

it('reads pages of the requested size, and continues after an interruption with the next page', async () => {
  const repository = await scene.host.add('petrel');
  const started = await scene.started('petrel2', { pagination_limit: 2 }, repository);
  const { projectId, importId } = started;
  scene.host.put(
    repository,
    'issues',
    [1, 2, 3, 4, 5].map((number) => issue(number)),
  );
  const interrupted = new AbortController();
  scene.inside.onObjects = async ({ kind, objects }) => {
    // The process dies after collaboration has written the second page.
    if (kind === 'issue' && (objects[0] as { number: number }).number === 3) interrupted.abort(new Error('killed'));
    return { failed: [] };
  };
  await expect(scene.run(importId, 1, interrupted.signal)).rejects.toThrow('killed');
  expect(await scene.row(importId)).toMatchObject({ state: 'started' });
  scene.inside.onObjects = async () => ({ failed: [] });
  const before = scene.host.seen.length;
  await scene.run(importId);
  const queries = scene.host.seen.slice(before).filter(({ path }) => path.endsWith('/issues'));
  // The stage of events reads the list from its first page again.
  expect(queries.map(({ query }) => new URLSearchParams(query).get('page'))).toEqual(['3', null, '2', '3']);
  expect(scene.host.seen.slice(before).some(({ path }) => path.includes('.git'))).toBe(false);
  expect(listSentObjects(projectId, 'issue')).toHaveLength(5);
  expect((await showImport(started)).stats).toMatchObject({ fetched: { issue: 5 }, imported: { issue: 5 } });
});

it('leaves out issues that are switched off upstream', async () => {
  const started = await scene.started('egret');
  scene.host.put(started.repository, 'issues', null);
  scene.host.put(started.repository, 'issues/comments', null);
  await scene.run(started.importId);
  expect(await showImport(started)).toMatchObject({ import_status: 'finished', failed_relations: [] });
});

it('lists malformed objects and those that collaboration refuses', async () => {
  const started = await scene.started('ouzel');
  const { repository, importId } = started;
  scene.host.put(repository, 'labels', [{ name: 7 }, { name: 'a,b', color: 'ffffff' }]);
  scene.host.put(repository, 'issues', [issue(1, { body: 'x'.repeat(950_000) }), issue(2, { title: 'nul\0\ud800' })]);
  scene.host.put(repository, 'pulls', [pullRequest(3, { head: null })]);
  scene.inside.onObjects = async ({ kind }) => ({
    failed: kind === 'label' ? [{ index: 0, message: 'Title is invalid.' }] : [],
  });
  await scene.run(importId);
  expect(listSentObjects(started.projectId, 'issue')).toMatchObject([{ number: 2, title: 'nul\ufffd' }]);
  const { failed_relations: failed, stats, import_status: state } = await showImport(started);
  expect([state, stats]).toEqual([
    'finished',
    { fetched: expectedCounts(2, 0, 2, 1, 0), imported: expectedCounts(0, 0, 1, 0, 0) },
  ]);
  expect(failed.map((one) => [one['relation_name'], one['exception_message']])).toEqual([
    ['label', 'unknown: The host sent a malformed object.'],
    ['label', 'a,b: Title is invalid.'],
    ['issue', '#1: Its text is too long.'],
    ['merge_request', 'unknown: The host sent a malformed object.'],
  ]);
});

it('waits as long as a rate limit says, and continues', async () => {
  const started = await scene.started('dunnock');
  const { importId, repository } = started;
  scene.host.put(repository, 'issues', [issue(1)]);
  let isLimited = true;
  scene.host.answer = (request, response) => {
    if (!request.url!.includes('/issues?') || !isLimited) return false;
    response.writeHead(403, { 'retry-after': '90' }).end('{}');
    return true;
  };
  const before = Date.now();
  await scene.run(importId, LAST);
  expect(await scene.row(importId)).toMatchObject({ state: 'started' });
  expect(await waitingJobs(importId)).toHaveLength(1);
  const [job] = await scene.service.database.query<{ run_at: Date }>(
    `select j.run_at from graphile_worker.jobs j join background_jobs b on b.queued_id = j.id
     join project_imports i on i.job_id = b.id where i.id = $1`,
    [importId],
  );
  expect(job!.run_at.getTime() - before).toBeGreaterThan(85_000);
  isLimited = false;
  await scene.run(importId);
  expect(await showImport(started)).toMatchObject({ import_status: 'finished', stats: { imported: { issue: 1 } } });
});

it.each([
  ['pessimistic', 'failed', 'no (HTTP 404)'],
  ['optimistic', 'finished', null],
] as const)('ends as %s imports do when a list cannot be read: %s', async (timeout_strategy, state, error) => {
  const repository = await scene.host.add(`siskin-${timeout_strategy}`);
  const started = await scene.started(`siskin-${state}`, { timeout_strategy }, repository);
  scene.host.answer = (request, response) => {
    if (!request.url!.includes('/milestones')) return false;
    response.writeHead(404).end('no');
    return true;
  };
  await scene.run(started.importId);
  const shown = await showImport(started);
  expect(shown).toMatchObject({ import_status: state, import_error: error });
  expect(shown.failed_relations.map((one) => one['exception_message'])).toEqual(
    error === null ? ['all: no (HTTP 404)'] : [],
  );
});

it('follows no page to another address, and does not repeat a page', async () => {
  for (const next of ['http://169.254.169.254/api/v3/x', `${scene.host.url}/other`, 'no address', null]) {
    const started = await scene.started(`rail${scene.host.seen.length}`);
    scene.host.answer = (request, response) => {
      if (!request.url!.includes('/labels')) return false;
      const address = next ?? `${scene.host.url}${request.url!}`;
      response.writeHead(200, { link: `<${address}>; rel="next"` }).end('[]');
      return true;
    };
    await scene.run(started.importId);
    expect(await showImport(started)).toMatchObject({
      import_status: 'failed',
      import_error: 'Invalid pagination URL.',
    });
  }
});

it('refuses lists that repeat the credential, and answers that are no list', async () => {
  for (const [answer, error] of [
    [`[{"name":"${scene.host.token}"}]`, 'The answer repeats the credential.'],
    ['{}', 'The answer is not a list. (HTTP 200)'],
  ] as const) {
    const started = await scene.started(`knot${scene.host.seen.length}`);
    scene.host.answer = (request, response) => {
      if (!request.url!.includes('/labels')) return false;
      response.end(answer);
      return true;
    };
    await scene.run(started.importId, LAST);
    expect(await showImport(started)).toMatchObject({ import_status: 'failed', import_error: error });
  }
});

it('tries again while collaboration does not answer, and writes nothing after a cancellation', async () => {
  const started = await scene.started('ruff');
  const { importId, projectId, repository } = started;
  scene.host.put(repository, 'labels', [{ name: 'bug', color: 'd73a4a' }]);
  scene.host.put(repository, 'issues', [issue(1)]);
  scene.inside.away.add('/internal/imports/objects');
  // The repository counts as progress, so that the tries begin again.
  await scene.run(importId, LAST);
  expect(await scene.row(importId)).toMatchObject({ state: 'started' });
  await expect(scene.run(importId)).rejects.toThrow('collaboration answered 503');
  scene.inside.away.clear();
  scene.inside.onObjects = async () => {
    const body = { project_id: projectId };
    await scene.as(scene.owner).post('/api/v4/import/remote/cancel').send(body).expect(200);
    return { failed: [] };
  };
  await scene.run(importId);
  await scene.run(importId);
  expect(listSentRequests(projectId).map(({ kind }) => kind)).toEqual(['label']);
  expect(await showImport(started)).toMatchObject({ import_status: 'canceled' });
});

describe('reviews of pull requests', () => {
  const review = (id: number, state: string, over: object = {}) => ({
    ...{ id, user: merlin, state, body: '', submitted_at: AT },
    html_url: `https://git.example/wren/x/pull/2#pullrequestreview-${id}`,
    ...over,
  });
  const line = (id: number, over: object = {}) => ({
    ...{ id, body: `Comment ${id}`, user: merlin, created_at: AT, updated_at: LATER, path: 'src/a.ts', side: 'RIGHT' },
    ...{ line: 5, start_line: null, commit_id: 'a'.repeat(40), original_line: 4, original_commit_id: 'e'.repeat(40) },
    pull_request_url: 'https://git.example/api/v3/repos/wren/x/pulls/2',
    ...over,
  });

  it('come along with their states, one request for each pull request', async () => {
    const started = await scene.started('wigeon', { pagination_limit: 2 });
    const { repository, projectId, importId } = started;
    scene.host.put(repository, 'pulls', [pullRequest(2), pullRequest(3)]);
    scene.host.put(repository, 'pulls/2/reviews', [
      review(1, 'APPROVED'),
      review(2, 'COMMENTED'),
      review(3, 'CHANGES_REQUESTED', { body: 'No', user: robin }),
      review(4, 'PENDING'),
      review(5, 'COMMENTED', { body: 'Well' }),
      review(6, 'DISMISSED', { submitted_at: null }),
    ]);
    await scene.run(importId);
    const common = { merge_request: 2, created_at: '2024-01-02T03:04:05.000Z' };
    expect(listSentObjects(projectId, 'review')).toEqual([
      { ...common, id: 1, author_id: 1012, state: 'approved', body: null },
      { ...common, id: 3, author_id: 1011, state: 'changes_requested', body: 'No' },
      { ...common, id: 5, author_id: 1012, state: 'commented', body: 'Well' },
    ]);
    const shown = await showImport(started);
    expect(shown).toMatchObject({
      import_status: 'finished',
      stats: { fetched: { review: 4 }, imported: { review: 3 } },
    });
    expect(shown.failed_relations.map((one) => [one['relation_name'], one['exception_message']])).toEqual([
      ['review', 'unknown: The host sent a malformed object.'],
    ]);
  });

  it('bring comments on lines along, with their place and their thread', async () => {
    const { repository, projectId, importId } = await scene.started('garganey');
    const suggestion = '```suggestion\nx\n```';
    scene.host.put(repository, 'pulls/comments', [
      line(1),
      line(2, { side: 'LEFT', in_reply_to_id: 1 }),
      line(3, { line: null, start_line: null }),
      line(4, { start_line: 3, body: suggestion }),
      line(5, { subject_type: 'file', line: null, body: suggestion }),
      line(6, { path: null }),
    ]);
    await scene.run(importId);
    const times = { created_at: '2024-01-02T03:04:05.000Z', updated_at: '2024-02-03T04:05:06.000Z' };
    const note = (id: number, over: object = {}) => ({
      ...{ id, merge_request: 2, author_id: 1012, body: `Comment ${id}`, path: 'src/a.ts', side: 'new', line: 5 },
      ...{ start_line: null, commit_id: 'a'.repeat(40), reply_to: null, ...times },
      ...over,
    });
    expect(listSentObjects(projectId, 'diff_note')).toEqual([
      note(1),
      note(2, { side: 'old', reply_to: 1 }),
      note(3, { line: 4, commit_id: 'e'.repeat(40) }),
      note(4, { start_line: 3, body: '```suggestion:-2+0\nx\n```' }),
      note(5, { line: null, commit_id: 'e'.repeat(40), body: '```suggestion:-0+0\nx\n```' }),
    ]);
  });
});

it('brings published releases along', async () => {
  const { repository, projectId, importId } = await scene.started('pochard');
  const release = (id: number, over: object = {}) => ({
    ...{ id, tag_name: `v${id}`, name: `Version ${id}`, body: 'Text', draft: false, author: robin },
    ...{ created_at: AT, published_at: LATER },
    ...over,
  });
  const all = [release(1), release(2, { draft: true }), release(3, { name: null, body: null, published_at: null })];
  scene.host.put(repository, 'releases', all);
  await scene.run(importId);
  const [created_at, released_at] = ['2024-01-02T03:04:05.000Z', '2024-02-03T04:05:06.000Z'];
  expect(listSentObjects(projectId, 'release')).toEqual([
    { id: 1, tag: 'v1', name: 'Version 1', description: 'Text', author_id: 1011, created_at, released_at },
    { id: 3, tag: 'v3', name: null, description: null, author_id: 1011, created_at, released_at: created_at },
  ]);
});

it('brings the protection of branches along, as far as the credential may read it', async () => {
  const { repository, projectId, importId } = await scene.started('smew');
  scene.host.put(repository, 'branches', [
    { name: 'main', protection: { required_pull_request_reviews: {}, allow_force_pushes: { enabled: false } } },
    { name: 'feature/a b', protection: { allow_force_pushes: { enabled: true } } },
    { name: 'hidden' },
  ]);
  await scene.run(importId);
  expect(listSentObjects(projectId, 'protected_branch')).toEqual([
    { name: 'main', needs_merge_request: true, allows_force_push: false },
    { name: 'feature/a b', needs_merge_request: false, allows_force_push: true },
    { name: 'hidden', needs_merge_request: false, allows_force_push: false },
  ]);
  const limited = await scene.started('goldeneye');
  scene.host.put(limited.repository, 'branches', [{ name: 'main' }]);
  let headers: Record<string, string> = {};
  scene.host.answer = (request, response) => {
    if (!request.url!.endsWith('/protection')) return false;
    response.writeHead(403, headers).end('{}');
    return true;
  };
  headers = { 'retry-after': '90' };
  await scene.run(limited.importId);
  expect(await waitingJobs(limited.importId)).toHaveLength(1);
  headers = {};
  await scene.run(limited.importId);
  expect(listSentObjects(limited.projectId, 'protected_branch')).toHaveLength(1);
});

it.each([
  [true, true],
  ['true', true],
  ['1', true],
  ['Yes', true],
  [false, false],
  ['no', false],
])(
  'reads comments of each issue and pull request if the stage is %j',
  async (single_endpoint_notes_import, isOfEach) => {
    const name = `brant-${typeof single_endpoint_notes_import}-${String(single_endpoint_notes_import)}`;
    const optional_stages = { single_endpoint_notes_import, other: 'x' };
    const { repository, projectId, importId } = await scene.started(name, { optional_stages, pagination_limit: 1 });
    const onLine = (id: number) => ({
      ...{ id, body: 'Text', user: merlin, created_at: AT, updated_at: AT, path: 'a', side: 'RIGHT', line: 1 },
      ...{ commit_id: 'a', pull_request_url: 'https://git.example/api/v3/repos/wren/x/pulls/2' },
    });
    const onPull = { html_url: 'https://git.example/wren/x/pull/2#issuecomment-1' };
    scene.host.put(repository, 'issues', [issue(1), issue(2, { pull_request: {} })]);
    scene.host.put(repository, 'pulls', [pullRequest(2)]);
    scene.host.put(repository, 'issues/1/comments', [comment(11, 1), comment(12, 1)]);
    scene.host.put(repository, 'issues/2/comments', [comment(13, 2, onPull)]);
    scene.host.put(repository, 'pulls/2/comments', [onLine(21)]);
    scene.host.put(repository, 'issues/comments', [comment(14, 1)]);
    scene.host.put(repository, 'pulls/comments', [onLine(22)]);
    await scene.run(importId);
    const ids = (kind: string) => listSentObjects(projectId, kind).map((one) => (one as { id: number }).id);
    expect([ids('note'), ids('diff_note')]).toEqual(isOfEach ? [[11, 12, 13], [21]] : [[14], [22]]);
    expect(await scene.row(importId)).toMatchObject({ state: 'finished', single_endpoint_notes: isOfEach });
  },
);
