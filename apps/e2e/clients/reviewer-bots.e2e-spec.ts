import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { addMember, call, estate, person, projectOf } from '../support/estate';
import type { Answer, Person } from '../support/estate';

const FILE = 'code.txt';

/** Bots that review or open merge requests: danger itself, and the requests of reviewdog and Renovate. */
describe('reviewer bots', () => {
  let owner: Person;
  let bot: Person;
  let project: Awaited<ReturnType<typeof projectOf>>;
  let encoded: string;
  const as = (user: Person) => async (method: string, path: string, json?: object) => {
    const answer = await call(method, `/projects/${encoded}${path}`, { token: user.token, json });
    return answer;
  };
  const ok = async (request: Promise<Answer>) => {
    const { status, text, body, headers } = await request;
    if (status >= 300) throw new Error(`${status} ${text}`);
    return { body, headers };
  };
  const commit = (branch: string, actions: readonly object[], title = branch) =>
    ok(
      as(owner)('POST', '/repository/commits', {
        ...{ branch, commit_message: title, actions },
        ...(branch === 'main' ? {} : { start_branch: 'main', force: true }),
      }),
    );
  const open = (branch: string) =>
    ok(
      as(owner)('POST', '/merge_requests', { source_branch: branch, target_branch: 'main', title: `About ${branch}` }),
    );
  const change = (content: string) => [{ action: 'update', file_path: FILE, content }];

  beforeAll(async () => {
    [owner, bot] = [await person('bot-owner'), await person('bot')];
    project = await projectOf(owner, 'bots');
    encoded = encodeURIComponent(project.path);
    expect((await addMember(project.id, bot, 30, owner)).status).toBe(201);
    await commit('main', [
      { action: 'create', file_path: FILE, content: 'a\nb\nc\n' },
      { action: 'create', file_path: 'renovate.json', content: '{"extends":["config:base"]}' },
    ]);
  });

  describe('danger', () => {
    const folder = mkdtempSync(join(tmpdir(), 'rookery-danger-'));
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    /** Runs danger as a job of a pipeline does. */
    const runDanger = async (iid: number): Promise<string> => {
      const program = join(dirname(require.resolve('danger/package.json')), 'distribution/commands/danger-ci.js');
      const env = {
        ...{ PATH: process.env['PATH'], HOME: folder, GITLAB_CI: 'true', CI_PROJECT_PATH: project.path },
        ...{
          CI_MERGE_REQUEST_IID: String(iid),
          DANGER_GITLAB_HOST: estate.baseUrl,
          DANGER_GITLAB_API_TOKEN: bot.token,
        },
      };
      const words = [program, '--dangerfile', 'dangerfile.js'];
      return (await promisify(execFile)(process.execPath, words, { cwd: folder, env })).stdout;
    };
    const commentsOf = async (iid: number): Promise<[string | null, string][]> => {
      const { body } = await ok(as(bot)('GET', `/merge_requests/${iid}/discussions`));
      return body
        .flatMap(({ notes }: { notes: object[] }) => notes)
        .filter(({ author }: { author: Person }) => author.id === bot.id)
        .map(
          ({ type, body: text, position }: { type: string | null; body: string; position?: { new_line: number } }) => [
            type === null ? null : `${type} at ${position?.new_line}`,
            /(?:Loud|Quiet)[^<\r\n]*/.exec(text)?.[0] ?? text,
          ],
        );
    };

    it('comments on a merge request, and renews its comments after a push', async () => {
      mkdirSync(folder, { recursive: true });
      writeFileSync(
        join(folder, 'dangerfile.js'),
        `const { danger, message, warn } = require('danger');
         schedule(async () => {
           const { commits, metadata, mr, utils } = danger.gitlab;
           const content = await utils.fileContents('${FILE}');
           const { added } = await danger.git.diffForFile('${FILE}');
           const missing = await utils.fileContents('none');
           const { modified_files } = danger.git;
           const loud = /[A-Z]/.test(content);
           message([loud ? 'Loud' : 'Quiet', mr.title, commits.length, modified_files, added, missing].join('; '));
           if (loud) warn('Loud letter', '${FILE}', 2);
         });`,
      );
      await commit('danger', change('a\nB\nc\n'));
      const { iid } = (await open('danger')).body;
      expect(await runDanger(iid)).toContain('Found only warnings');
      expect(await commentsOf(iid)).toEqual([
        ['DiffNote at 2', 'Loud letter'],
        [null, `Loud; About danger; 1; ${FILE}; +B; `],
      ]);
      await commit('danger', change('a\nb2\nc\n'));
      await runDanger(iid);
      expect(await commentsOf(iid)).toEqual([[null, `Quiet; About danger; 1; ${FILE}; +b2; `]]);
    });
  });

  it('reviewdog comments by positions that start at the tip of the target branch', async () => {
    const send = as(bot);
    await commit('reviewdog', change('a\nB\nc\nd\n'));
    const { iid } = (await open('reviewdog')).body;
    await commit('main', [{ action: 'create', file_path: 'later.txt', content: 'later\n' }], 'The target moves on');
    const discussions = `/merge_requests/${iid}/discussions`;
    expect((await ok(send('GET', `${discussions}?per_page=100`))).headers.get('x-next-page')).toBe('');
    const shown = (await ok(send('GET', `/merge_requests/${iid}`))).body;
    const tip = (await ok(send('GET', `/repository/branches/${shown.target_branch}`))).body.commit.id;
    expect(tip).not.toBe(shown.diff_refs.base_sha);
    // go-gitlab sends the range even if there is none.
    const refs = { base_sha: tip, start_sha: tip, head_sha: shown.sha, line_range: null };
    const position = (line: number) => ({ ...refs, position_type: 'text', new_path: FILE, new_line: line });
    const [first, second] = await Promise.all([
      ok(send('POST', discussions, { body: 'Too loud\n\n```suggestion:-0+0\nb\n```', position: position(2) })),
      ok(send('POST', discussions, { body: 'Why?', position: position(4) })),
    ]);
    expect(first.body.notes).toMatchObject([
      { type: 'DiffNote', position: position(2), suggestions: [{ from_content: 'B\n', to_content: 'b\n' }] },
    ]);
    expect(second.body.notes).toMatchObject([{ position: { ...position(4), old_line: null } }]);
    // The next run finds its comments by path, line and text.
    const posted = (await ok(send('GET', `${discussions}?per_page=100`))).body;
    const found = posted.map(({ notes: [note] }: { notes: [{ position: { new_path: string; new_line: number } }] }) => [
      note.position.new_path,
      note.position.new_line,
    ]);
    expect(found).toEqual(
      expect.arrayContaining([
        [FILE, 2],
        [FILE, 4],
      ]),
    );
    const unknown = { ...position(2), head_sha: 'f'.repeat(40) };
    expect((await send('POST', discussions, { body: 'x', position: unknown })).status).toBe(400);
    // Its other reporter comments on the commit.
    const comments = `/repository/commits/${shown.sha}/comments`;
    expect((await ok(send('GET', `${comments}?per_page=100`))).body).toEqual([]);
    await ok(send('POST', comments, { note: 'Loud', path: FILE, line: 2, line_type: 'new' }));
    expect((await ok(send('GET', comments))).body).toMatchObject([{ note: 'Loud', path: FILE, line: 2 }]);
  });

  it('Renovate opens, updates, approves and merges its merge request', async () => {
    const send = as(bot);
    const asBot = { token: bot.token };
    expect((await call('GET', '/user', asBot)).body).toMatchObject({ email: bot.email });
    expect((await call('GET', '/version', asBot)).body.version).toMatch(/^\d+\.\d+\.\d+/);
    const discovery =
      '/projects?membership=true&per_page=100&with_merge_requests_enabled=true&min_access_level=30&archived=false';
    const discovered = (await call('GET', discovery, asBot)).body;
    expect(discovered).toMatchObject([{ path_with_namespace: project.path }]);
    expect((await ok(send('GET', ''))).body).toMatchObject({
      ...{ archived: false, empty_repo: false, default_branch: 'main', merge_method: 'merge' },
      ...{ repository_access_level: 'enabled', merge_requests_access_level: 'enabled' },
      ...{ squash_option: 'default_off', http_url_to_repo: `${estate.baseUrl}/${project.path}.git` },
    });
    const preset = (await ok(send('GET', '/repository/files/renovate.json?ref=HEAD'))).body;
    expect(Buffer.from(preset.content, 'base64').toString()).toContain('config:base');
    expect((await send('GET', '/repository/files/none.json?ref=HEAD')).status).toBe(404);

    const sha = (await commit('renovate/eggs-2.x', change('a\nb\nc\nd\n'))).body.id;
    const statuses = `/repository/commits/${sha}/statuses`;
    expect((await ok(send('GET', statuses))).body).toEqual([]);
    const status = { description: 'Waits', context: 'renovate/stability-days' };
    const report = (state: string) => send('POST', `/statuses/${sha}`, { ...status, state });
    expect((await ok(report('pending'))).body).toMatchObject({ status: 'pending', name: status.context });
    const again = await report('pending');
    expect(again.status).toBe(400);
    expect(again.body.message).toMatch(/^Cannot transition status via :enqueue from :pending/);
    await ok(report('success'));
    expect((await ok(send('GET', statuses))).body).toMatchObject([{ name: status.context, status: 'success' }]);

    const list = '/merge_requests?per_page=100&scope=created_by_me&order_by=updated_at';
    expect((await ok(send('GET', list))).body).toEqual([]);
    const creation = {
      ...{ source_branch: 'renovate/eggs-2.x', target_branch: 'main', remove_source_branch: true },
      ...{ title: 'Draft: Update eggs', description: 'Of the **bot**', labels: '' },
    };
    const created = (await ok(send('POST', '/merge_requests', creation))).body;
    expect(created).toMatchObject({ draft: true, labels: [], sha, force_remove_source_branch: true });
    const path = `/merge_requests/${created.iid}`;
    expect(await send('POST', '/merge_requests', creation)).toMatchObject({
      status: 409,
      body: { message: [`Another open merge request already exists for this source branch: !${created.iid}`] },
    });
    expect((await ok(send('GET', list))).body).toMatchObject([
      { iid: created.iid, source_branch: 'renovate/eggs-2.x' },
    ]);
    const shown = (await ok(send('GET', `${path}?include_diverged_commits_count=1`))).body;
    expect(shown).toMatchObject({
      diverged_commits_count: 0,
      detailed_merge_status: 'draft_status',
      has_conflicts: false,
    });

    const { id } = (await call('GET', `/users?username=${owner.username}`, asBot)).body[0];
    await ok(send('PUT', `${path}?assignee_ids%5B%5D=${id}`));
    await ok(send('PUT', path, { reviewer_ids: [id] }));
    await ok(send('PUT', path, { title: 'Update eggs', description: 'New', add_labels: ['dependencies', 'eggs'] }));
    const updated = await ok(send('PUT', path, { title: 'Update eggs', remove_labels: ['eggs'] }));
    expect(updated.body).toMatchObject({
      ...{ draft: false, description: 'New', labels: ['dependencies'], assignees: [{ id }], reviewers: [{ id }] },
    });
    await ok(send('PUT', path, { labels: '' }));
    const { body: note } = await ok(send('POST', `${path}/notes`, { body: '### Topic\n\nOne' }));
    await ok(send('PUT', `${path}/notes/${note.id}`, { body: '### Topic\n\nTwo' }));
    const notes = (await ok(send('GET', `${path}/notes?per_page=100`))).body;
    expect(notes.filter(({ body }: { body: string }) => body.startsWith('### Topic'))).toMatchObject([{ id: note.id }]);
    await ok(send('DELETE', `${path}/notes/${note.id}`));

    // The option to ignore approvals, which the owner of the project may use.
    await ok(as(owner)('POST', '/approval_rules', { name: 'All', rule_type: 'any_approver', approvals_required: 1 }));
    const [rule] = (await ok(as(owner)('GET', `${path}/approval_rules`))).body;
    expect(rule).toMatchObject({ rule_type: 'any_approver', approvals_required: 1 });
    await ok(as(owner)('PUT', `${path}/approval_rules/${rule.id}`, { ...rule, approvals_required: 0 }));
    expect((await ok(send('GET', path))).body).toMatchObject({ detailed_merge_status: 'mergeable', labels: [] });
    expect((await call('POST', `/projects/${encoded}${path}/approve`, { token: owner.token })).status).toBe(201);
    const merged = await ok(as(owner)('PUT', `${path}/merge`, { should_remove_source_branch: true }));
    expect(merged.body).toMatchObject({ state: 'merged', merge_user: { id: owner.id } });
    expect((await send('GET', '/repository/branches/renovate%2Feggs-2.x')).status).toBe(404);

    const issues = '/issues?per_page=100&state=opened&scope=created_by_me';
    expect((await ok(send('GET', issues))).body).toEqual([]);
    const dashboard = { title: 'Dependency Dashboard', description: '- [ ] eggs', labels: '', confidential: false };
    const { iid } = (await ok(send('POST', '/issues', dashboard))).body;
    await ok(send('PUT', `/issues/${iid}`, { ...dashboard, description: '- [x] eggs' }));
    expect((await ok(send('GET', issues))).body).toMatchObject([{ iid, description: '- [x] eggs', labels: [] }]);
  });
});
