import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { addMember, estate, person, projectOf } from '../support/estate';
import type { Person } from '../support/estate';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- results are read as an assistant would
type Result = any;

/** An unmodified MCP server from npm, which assistants use to call the API, over its standard input and output. */
describe('an MCP server', () => {
  const home = mkdtempSync(join(tmpdir(), 'rookery-mcp-'));
  let owner: Person;
  let reviewer: Person;
  let projectId: string;
  const clients: Client[] = [];

  /** Starts a server that acts as a user. Returns a function that calls one of its tools. */
  const serverOf = async (user: Person) => {
    const client = new Client({ name: 'assistant', version: '1.0.0' });
    const program = join(dirname(require.resolve('@zereight/mcp-gitlab/package.json')), 'build/index.js');
    const env = {
      ...{ PATH: process.env['PATH'] ?? '', HOME: home, GITLAB_API_URL: `${estate.baseUrl}/api/v4` },
      ...{ GITLAB_PERSONAL_ACCESS_TOKEN: user.token, GITLAB_TOOLSETS: 'all' },
    };
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [program], env, stderr: 'ignore' }),
    );
    clients.push(client);
    return async (name: string, values: object): Promise<Result> => {
      const called = await client.callTool({ name, arguments: { project_id: projectId, ...values } });
      const [{ text }] = called.content as [{ text: string }];
      if (called.isError) throw new Error(text);
      try {
        return JSON.parse(text);
      } catch {
        return text;
      }
    };
  };
  let byOwner: Awaited<ReturnType<typeof serverOf>>;
  let byReviewer: typeof byOwner;

  beforeAll(async () => {
    [owner, reviewer] = [await person('mcp-owner'), await person('mcp-reviewer')];
    const project = await projectOf(owner, 'mcp');
    projectId = project.path;
    expect((await addMember(project.id, reviewer, 30, owner)).status).toBe(201);
    [byOwner, byReviewer] = await Promise.all([serverOf(owner), serverOf(reviewer)]);
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    rmSync(home, { recursive: true, force: true });
  });

  it('reads and writes files, branches, commits and tags', async () => {
    const file = { file_path: 'README.md', branch: 'main', content: 'one\ntwo\n', commit_message: 'First' };
    await byOwner('create_or_update_file', file);
    await byOwner('create_or_update_file', { ...file, content: 'one\nTWO\n', commit_message: 'Second' });
    expect(await byOwner('create_branch', { branch: 'topic', ref: 'main' })).toMatchObject({ name: 'topic' });
    const files = [{ file_path: 'src/code.txt', content: 'a\nb\nc\n' }];
    const pushed = await byOwner('push_files', { branch: 'topic', commit_message: 'Add code', files });
    expect(pushed).toMatchObject({ title: 'Add code', stats: { additions: 3, deletions: 0 } });
    const read = await byOwner('get_file_contents', { file_path: 'src/code.txt', ref: 'topic' });
    expect(read).toMatchObject({ content: 'a\nb\nc\n', commit_id: pushed.id });
    expect(pluck(await byOwner('get_repository_tree', { ref: 'topic', recursive: true }), 'path')).toEqual([
      'src',
      'README.md',
      'src/code.txt',
    ]);
    expect(pluck(await byOwner('list_branches', {}), 'name')).toEqual(['main', 'topic']);
    const titles = ['Add code', 'Second', 'First'];
    expect(pluck(await byOwner('list_commits', { ref_name: 'topic' }), 'title')).toEqual(titles);
    const added = { diff: '@@ -0,0 +1,3 @@\n+a\n+b\n+c\n', new_file: true };
    expect(await byOwner('get_commit_diff', { sha: pushed.id })).toMatchObject([added]);
    const compared = await byOwner('get_branch_diffs', { from: 'main', to: 'topic' });
    expect(compared).toMatchObject({ commits: [{ title: 'Add code' }], diffs: [added], compare_same_ref: false });
    const blame = await byOwner('get_file_blame', { file_path: 'README.md', ref: 'main' });
    expect(blame).toMatchObject([{ commit: { message: 'First' } }, { lines: ['TWO'], commit: { message: 'Second' } }]);
    await byOwner('create_tag', { tag_name: 'v1', ref: 'main', message: 'One' });
    expect(await byOwner('list_tags', {})).toMatchObject([{ name: 'v1', message: 'One', commit: { title: 'Second' } }]);
    await expect(byOwner('get_file_contents', { file_path: 'none', ref: 'main' })).rejects.toThrow('File not found');
  });

  it('opens, changes and discusses issues', async () => {
    const { iid } = await byOwner('create_issue', { title: 'Broken', labels: ['bug'], description: 'Look' });
    await byOwner('create_issue_note', { issue_iid: iid, body: 'A note' });
    await byReviewer('create_note', { noteable_type: 'issue', noteable_iid: iid, body: 'Another' });
    const { items } = await byOwner('list_issue_discussions', { issue_iid: iid });
    expect(items).toMatchObject([{ notes: [{ body: 'A note' }] }, { notes: [{ body: 'Another' }] }]);
    await byOwner('update_issue', { issue_iid: iid, state_event: 'close', title: 'Repaired' });
    const closed = { iid, title: 'Repaired', state: 'closed', labels: ['bug'] };
    expect(await byOwner('get_issue', { issue_iid: iid })).toMatchObject(closed);
    expect(await byOwner('list_issues', { state: 'closed', scope: 'all' })).toMatchObject([closed]);
  });

  it('opens, reviews and merges a merge request', async () => {
    await byOwner('create_or_update_file', {
      ...{ file_path: 'start', branch: 'main', content: '', commit_message: 'Start' },
    });
    await byOwner('create_branch', { branch: 'review', ref: 'main' });
    const files = [{ file_path: 'src/new.txt', content: 'a\nb\nc\n' }];
    await byOwner('push_files', { branch: 'review', commit_message: 'Add more code', files });
    const { iid } = await byOwner('create_merge_request', {
      ...{ title: 'Draft: Code', source_branch: 'review', target_branch: 'main', reviewer_ids: [String(reviewer.id)] },
    });
    const at = { merge_request_iid: iid };
    await byOwner('update_merge_request', { ...at, title: 'Code', labels: ['new'] });
    const shown = await byReviewer('get_merge_request', { source_branch: 'review' });
    expect(shown).toMatchObject({ iid, title: 'Code', draft: false, labels: ['new'] });
    expect(await byReviewer('list_merge_request_changed_files', at)).toMatchObject([{ new_path: 'src/new.txt' }]);
    const [diff] = await byReviewer('get_merge_request_file_diff', { ...at, file_paths: ['src/new.txt'] });
    expect(diff).toMatchObject({ diff: '@@ -0,0 +1,3 @@\n+a\n+b\n+c\n', new_file: true });

    const note = await byReviewer('create_merge_request_note', { ...at, body: 'Nice' });
    await byReviewer('update_merge_request_note', { ...at, note_id: note.id, body: 'Very nice' });
    const paths = { position_type: 'text', old_path: 'src/new.txt', new_path: 'src/new.txt', new_line: 2 };
    const position = { ...shown.diff_refs, ...paths };
    const { id } = await byReviewer('create_merge_request_thread', { ...at, body: 'Why b?', position });
    await byOwner('create_merge_request_discussion_note', { ...at, discussion_id: id, body: 'Because' });
    await byOwner('resolve_merge_request_thread', { ...at, discussion_id: id, resolved: true });
    const draft = await byReviewer('create_draft_note', { ...at, body: 'Fine' });
    await byReviewer('publish_draft_note', { ...at, draft_note_id: draft.id });
    await byReviewer('create_draft_note', { ...at, body: 'Good' });
    expect(await byReviewer('list_draft_notes', at)).toMatchObject([{ body: 'Good' }]);
    await byReviewer('bulk_publish_draft_notes', at);
    const { items } = await byOwner('mr_discussions', at);
    const threads = items.map(({ notes }: Result) => notes.filter((one: Result) => !one.system));
    expect(threads.filter((notes: Result) => notes.length > 0)).toMatchObject([
      [{ body: 'Very nice' }],
      [{ body: 'Why b?', resolved: true, position: paths }, { body: 'Because' }],
      [{ body: 'Fine' }],
      [{ body: 'Good' }],
    ]);

    const [version, ...others] = await byReviewer('list_merge_request_versions', at);
    expect([version, others]).toMatchObject([{ head_commit_sha: shown.sha, state: 'collected', real_size: '1' }, []]);
    expect(version.patch_id_sha).toMatch(/^[0-9a-f]{40}$/);
    const contents = await byReviewer('get_merge_request_version', { ...at, version_id: version.id });
    const { id: versionId, patch_id_sha: patchId } = version;
    const listed = { commits: [{ title: 'Add more code' }], diffs: [{ new_path: 'src/new.txt' }] };
    expect(contents).toMatchObject({ id: versionId, patch_id_sha: patchId, ...listed });

    await byReviewer('approve_merge_request', at);
    expect(await byOwner('get_merge_request_approval_state', at)).toMatchObject({
      approved: true,
      approved_by_usernames: [reviewer.username],
    });
    const merged = await byOwner('merge_merge_request', { ...at, should_remove_source_branch: true });
    expect(merged).toMatchObject({ iid, state: 'merged' });
    expect(await byOwner('list_merge_requests', { state: 'merged' })).toMatchObject([{ iid, title: 'Code' }]);
    expect(pluck(await byOwner('list_branches', {}), 'name')).not.toContain('review');
  });
});

const pluck = (rows: Result[], key: string): Result[] => rows.map((row) => row[key]);
