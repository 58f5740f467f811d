import { Gitlab } from '@gitbeaker/rest';
import { addMember, estate, person, projectOf } from '../support/estate';
import type { Person } from '../support/estate';

/**
 * Merge requests, their review and suggestions with an unmodified public API client, through the gateway. Drafts are not
 * edited, because this client sends a wrong verb.
 */
describe('merge requests with a stock SDK', () => {
  const client = (user: Person) => new Gitlab({ host: estate.baseUrl, token: user.token });
  let owner: ReturnType<typeof client>;
  let reviewer: ReturnType<typeof client>;
  let reviewing: Person;
  let projectId: number;
  let iid: number;

  beforeAll(async () => {
    const owning = await person('sdk-author');
    reviewing = await person('sdk-reviewer');
    projectId = (await projectOf(owning, 'sdk-merge-requests')).id;
    expect((await addMember(projectId, reviewing, 30, owning)).status).toBe(201);
    [owner, reviewer] = [client(owning), client(reviewing)];
    const lines = (content: string, action: 'create' | 'update') => [{ action, filePath: 'code.txt', content }];
    await owner.Commits.create(projectId, 'main', 'First', lines('a\nb\nc\n', 'create'));
    await owner.Commits.create(projectId, 'topic', 'Change', lines('a\nB\nC\n', 'update'), { startBranch: 'main' });
  });

  it('opens, changes and lists a merge request', async () => {
    const { MergeRequests } = owner;
    const created = await MergeRequests.create(projectId, 'topic', 'main', 'Draft: Code', {
      ...{ labels: 'new', reviewerIds: [reviewing.id], removeSourceBranch: true },
    });
    ({ iid } = created);
    expect(created).toMatchObject({ draft: true, labels: ['new'], reviewers: [{ id: reviewing.id }] });
    const edited = await MergeRequests.edit(projectId, iid, { title: 'Code', labels: '' });
    expect(edited).toMatchObject({ draft: false, labels: [] });
    const shown = await MergeRequests.show(projectId, iid, { includeDivergedCommitsCount: true });
    expect(shown).toMatchObject({ detailed_merge_status: 'mergeable', changes_count: '1', diverged_commits_count: 0 });
    expect(await MergeRequests.all({ projectId, state: 'opened', sourceBranch: 'topic' })).toMatchObject([{ iid }]);
    expect(await MergeRequests.allCommits(projectId, iid)).toMatchObject([{ title: 'Change' }]);
    const diff = '@@ -1,3 +1,3 @@\n a\n-b\n-c\n+B\n+C\n';
    expect(await MergeRequests.allDiffs(projectId, iid)).toMatchObject([{ new_path: 'code.txt', diff }]);
    const [version] = await MergeRequests.allDiffVersions(projectId, iid);
    const inVersion = await MergeRequests.showDiffVersion(projectId, iid, version!.id);
    expect(inVersion).toMatchObject({ head_commit_sha: shown.sha, diffs: [{ diff }] });
    expect(await MergeRequests.showReviewers(projectId, iid)).toMatchObject([{ user: { id: reviewing.id } }]);
  });

  it('discusses lines in drafts, and applies suggestions in one commit', async () => {
    const { MergeRequestDiscussions, MergeRequestDraftNotes } = reviewer;
    const { diff_refs: refs } = await reviewer.MergeRequests.show(projectId, iid);
    const at = (line: number) => ({
      ...{ baseSha: refs.base_sha, startSha: refs.start_sha, headSha: refs.head_sha, positionType: 'text' as const },
      ...{ oldPath: 'code.txt', newPath: 'code.txt', newLine: String(line) },
    });
    const suggest = (text: string) => `\`\`\`suggestion:-0+0\n${text}\n\`\`\``;
    const first = await MergeRequestDiscussions.create(projectId, iid, suggest('b2'), { position: at(2) });
    await MergeRequestDraftNotes.create(projectId, iid, suggest('c2'), { position: at(3) as never });
    await MergeRequestDraftNotes.create(projectId, iid, 'Please look');
    expect((await MergeRequestDraftNotes.all(projectId, iid)).map(({ note }) => note)).toEqual([
      suggest('c2'),
      'Please look',
    ]);
    await MergeRequestDraftNotes.publishBulk(projectId, iid);
    expect(await MergeRequestDraftNotes.all(projectId, iid)).toEqual([]);
    await owner.MergeRequestDiscussions.addNote(projectId, iid, first.id, 'Thanks');
    const threads = await owner.MergeRequestDiscussions.all(projectId, iid);
    const suggestions = threads.flatMap(({ notes }) =>
      notes!.flatMap((note) => (note['suggestions'] as { id: number; to_content: string }[] | undefined) ?? []),
    );
    expect(suggestions.map(({ to_content: text }) => text)).toEqual(['b2\n', 'c2\n']);
    const ids = suggestions.map(({ id }) => id);
    const applied = await owner.Suggestions.editBatch(ids, { commitMessage: 'As suggested' });
    expect(applied).toMatchObject(ids.map((id) => ({ id, applied: true })));
    expect(await owner.RepositoryFiles.showRaw(projectId, 'code.txt', 'topic')).toBe('a\nb2\nc2\n');
    const resolved = await owner.MergeRequestDiscussions.show(projectId, iid, first.id);
    expect(resolved.notes!.slice(0, 2)).toMatchObject([{ resolved: true }, { body: 'Thanks' }]);
    const reopened = await owner.MergeRequestDiscussions.resolve(projectId, iid, first.id, false);
    expect(reopened.notes![0]).toMatchObject({ resolved: false });
  });

  it('is approved by a rule, and merged', async () => {
    const { MergeRequestApprovals, MergeRequests } = owner;
    const rule = await MergeRequestApprovals.createApprovalRule(projectId, 'Reviewers', 1, {
      usernames: [reviewing.username],
    } as never);
    expect(await MergeRequestApprovals.allApprovalRules(projectId)).toMatchObject([{ id: rule.id, name: 'Reviewers' }]);
    const blocked = await MergeRequests.show(projectId, iid);
    expect(blocked.detailed_merge_status).toBe('not_approved');
    await reviewer.MergeRequestApprovals.approve(projectId, iid, { sha: blocked.sha });
    expect(await MergeRequestApprovals.showApprovalState(projectId, iid)).toMatchObject({
      rules: [{ name: 'Reviewers', approved: true, approved_by: [{ id: reviewing.id }] }],
    });
    await reviewer.MergeRequestApprovals.unapprove(projectId, iid);
    const configuration = { mergerequestIId: iid };
    expect(await MergeRequestApprovals.showConfiguration(projectId, configuration)).toMatchObject({
      approved: false,
      approvals_left: 1,
    });
    await reviewer.MergeRequestApprovals.approve(projectId, iid);
    const merged = await MergeRequests.merge(projectId, iid, { sha: blocked.sha, squash: true });
    expect(merged).toMatchObject({ state: 'merged', squash: true });
    await expect(owner.Branches.show(projectId, 'topic')).rejects.toThrow(/404/);
    expect(await owner.MergeRequests.show(projectId, iid)).toMatchObject({ state: 'merged', sha: blocked.sha });
  });
});
