import { Gitlab } from '@gitbeaker/rest';
import { estate, mark } from '../support/estate';

/** Milestones, labels, links, notes and discussions of issues with an unmodified public API client. */
describe('planning with a stock SDK', () => {
  const root = new Gitlab({ host: estate.baseUrl, token: estate.rootToken });
  let groupId: number;
  let projectId: number;

  beforeAll(async () => {
    const path = `planning-${mark}`;
    groupId = (await root.Groups.create(path, path)).id;
    projectId = (await root.Projects.create({ name: 'eggs', namespaceId: groupId })).id;
  });

  it('creates milestones, assigns issues to them and promotes them', async () => {
    const { ProjectMilestones, GroupMilestones, Issues } = root;
    const made = await ProjectMilestones.create(projectId, 'v1', { startDate: '2030-01-01', dueDate: '2030-02-01' });
    expect(made).toMatchObject({
      iid: 1,
      project_id: projectId,
      state: 'active',
      due_date: '2030-02-01',
      expired: false,
    });
    expect(await ProjectMilestones.show(projectId, made.id)).toEqual(made);
    expect(await ProjectMilestones.edit(projectId, made.id, { description: 'first' })).toMatchObject({
      title: 'v1',
      description: 'first',
    });
    expect(await ProjectMilestones.allAssignedIssues(projectId, made.id)).toEqual([]);
    const issue = await Issues.create(projectId, 'Planned', { milestoneId: made.id });
    expect(issue.milestone).toMatchObject({ id: made.id, title: 'v1' });
    expect((await ProjectMilestones.allAssignedIssues(projectId, made.id)).map(({ iid }) => iid)).toEqual([issue.iid]);
    expect((await Issues.all({ projectId, milestone: 'v1' })).map(({ iid }) => iid)).toEqual([issue.iid]);
    expect(await Issues.all({ projectId, milestoneId: 'None' })).toEqual([]);

    const above = await GroupMilestones.create(groupId, 'all of it');
    const titles = async (options: object) =>
      (await ProjectMilestones.all(projectId, options)).map(({ title }) => title).sort();
    expect(await titles({ includeParentMilestones: true })).toEqual(['all of it', 'v1']);
    expect(await titles({ iids: [1], state: 'active' })).toEqual(['v1']);
    expect(await ProjectMilestones.edit(projectId, made.id, { stateEvent: 'close' })).toMatchObject({
      state: 'closed',
    });
    await ProjectMilestones.promote(projectId, made.id);
    expect((await GroupMilestones.all(groupId)).map(({ id }) => id).sort()).toEqual([made.id, above.id].sort());
    expect((await GroupMilestones.allAssignedIssues(groupId, made.id)).map(({ iid }) => iid)).toEqual([issue.iid]);
    await Issues.edit(projectId, issue.iid, { milestoneId: 0 });
    const events = await root.IssueMilestoneEvents.all(projectId, issue.iid);
    expect(events.map(({ action }) => action)).toEqual(['add', 'remove']);
    expect(await root.IssueMilestoneEvents.show(projectId, issue.iid, events[0]!.id)).toEqual(events[0]);
    await GroupMilestones.remove(groupId, made.id);
    await expect(GroupMilestones.show(groupId, made.id)).rejects.toThrow(/404|Not found/i);
  });

  it('creates labels and adds them to issues', async () => {
    const { ProjectLabels, GroupLabels, Issues } = root;
    const label = await ProjectLabels.create(projectId, 'needs: work', '#FFAABB', { description: 'soon' });
    expect(label).toMatchObject({ name: 'needs: work', color: '#FFAABB', is_project_label: true });
    const issue = await Issues.create(projectId, 'Labelled', { labels: 'needs: work,new' });
    expect(issue.labels).toEqual(['needs: work', 'new']);
    expect(await ProjectLabels.show(projectId, 'needs: work')).toMatchObject({ id: label.id });
    expect(await ProjectLabels.edit(projectId, label.id, { newName: 'needs: work', priority: 2 })).toMatchObject({
      priority: 2,
    });
    const counted = await ProjectLabels.all(projectId, { withCounts: true });
    expect(counted.map(({ name, open_issues_count: open }) => [name, open])).toEqual([
      ['needs: work', 1],
      ['new', 1],
    ]);
    expect(await ProjectLabels.promote(projectId, 'new')).toMatchObject({ is_project_label: false });
    expect((await GroupLabels.all(groupId)).map(({ name }) => name)).toEqual(['new']);
    await Issues.edit(projectId, issue.iid, { removeLabels: 'new' });
    const events = await root.IssueLabelEvents.all(projectId, issue.iid);
    expect(events.map(({ action, label: of }) => `${action} ${of.name}`)).toEqual([
      'add needs: work',
      'add new',
      'remove new',
    ]);
    await ProjectLabels.remove(projectId, 'needs: work');
    expect((await Issues.show(issue.iid, { projectId })).labels).toEqual([]);
  });

  it('links, orders and weighs issues, and tracks time on them', async () => {
    const { Issues, IssueLinks, IssueStateEvents } = root;
    const first = await Issues.create(projectId, 'First', { weight: 3 });
    const second = await Issues.create(projectId, 'Second');
    const link = await IssueLinks.create(projectId, first.iid, projectId, second.iid, { linkType: 'blocks' });
    expect(link).toMatchObject({
      source_issue: { id: first.id },
      target_issue: { id: second.id },
      link_type: 'blocks',
    });
    const [linked] = await IssueLinks.all(projectId, second.iid);
    expect(linked).toMatchObject({ id: first.id, link_type: 'is_blocked_by', blocking_issues_count: 1 });
    await IssueLinks.remove(projectId, second.iid, linked!.issue_link_id);
    expect(await IssueLinks.all(projectId, first.iid)).toEqual([]);

    await Issues.reorder(projectId, second.iid, { moveBeforeId: first.id });
    const ordered = await Issues.all({
      projectId,
      iids: [first.iid, second.iid],
      orderBy: 'relative_position',
      sort: 'asc',
    });
    expect(ordered.map(({ iid }) => iid)).toEqual([second.iid, first.iid]);

    expect(await Issues.addTimeEstimate(projectId, first.iid, '1d')).toMatchObject({ human_time_estimate: '1d' });
    expect(await Issues.addSpentTime(projectId, first.iid, '1h 30m')).toMatchObject({ total_time_spent: 5400 });
    await Issues.resetTimeEstimate(projectId, first.iid);
    await Issues.resetSpentTime(projectId, first.iid);
    expect(await Issues.showTimeStats(projectId, first.iid)).toMatchObject({ time_estimate: 0, total_time_spent: 0 });

    // Its IssueWeightEvents call the path of state events.
    expect(await Issues.edit(projectId, first.iid, { stateEvent: 'close', weight: 5 })).toMatchObject({ weight: 5 });
    expect((await Issues.all({ projectId, weight: 5 })).map(({ iid }) => iid)).toEqual([first.iid]);
    expect((await Issues.all({ groupId, weight: 5 })).map(({ iid }) => iid)).toEqual([first.iid]);
    expect((await Issues.all({ scope: 'all', weight: 5, iids: [first.iid] })).map(({ id }) => id)).toContain(first.id);
    const [closed] = await IssueStateEvents.all(projectId, first.iid);
    expect(closed).toMatchObject({ resource_id: first.id, state: 'closed' });
    expect(await IssueStateEvents.show(projectId, first.iid, closed!.id)).toEqual(closed);
  });

  it('moves issues and clones them', async () => {
    const { Issues, IssueNotes } = root;
    const there = (await root.Projects.create({ name: 'moved to', namespaceId: groupId })).id;
    const issue = await Issues.create(projectId, 'Goes');
    await IssueNotes.create(projectId, issue.iid, 'said before');
    const clone = await Issues.clone(projectId, issue.iid, projectId);
    expect(clone).toMatchObject({ project_id: projectId, title: 'Goes', user_notes_count: 0 });
    const moved = await Issues.move(projectId, issue.iid, there);
    expect(moved).toMatchObject({ project_id: there, iid: 1, title: 'Goes', user_notes_count: 1 });
    expect(await Issues.show(issue.iid, { projectId })).toMatchObject({ state: 'closed', moved_to_id: moved.id });
    const texts = (await IssueNotes.all(there, moved.iid)).map(({ body }) => body);
    expect(texts).toContain('said before');
    await expect(Issues.move(projectId, issue.iid, there)).rejects.toThrow(/insufficient permissions/);
  });

  it('writes discussions and awards emoji', async () => {
    const { IssueDiscussions, IssueAwardEmojis, IssueNoteAwardEmojis } = root;
    const { iid } = await root.Issues.create(projectId, 'Talked about');
    const thread = await IssueDiscussions.create(projectId, iid, 'Why?');
    const [first] = thread.notes!;
    const reply = await IssueDiscussions.addNote(projectId, iid, thread.id, 'Because.');
    await IssueDiscussions.editNote(projectId, iid, thread.id, reply.id, { body: 'Therefore.' });
    const shown = await IssueDiscussions.show(projectId, iid, thread.id);
    expect(shown.notes!.map(({ body }) => body)).toEqual(['Why?', 'Therefore.']);
    await IssueDiscussions.removeNote(projectId, iid, thread.id, reply.id);
    expect((await IssueDiscussions.all(projectId, iid))[0]!.notes).toHaveLength(1);

    const award = await IssueAwardEmojis.award(projectId, iid, 'thumbsup');
    expect(await IssueAwardEmojis.show(projectId, iid, award.id)).toMatchObject({ name: 'thumbsup' });
    const given = await IssueNoteAwardEmojis.award(projectId, iid, first!.id, 'rocket');
    expect(await IssueNoteAwardEmojis.show(projectId, iid, first!.id, given.id)).toMatchObject({ name: 'rocket' });
    expect((await IssueNoteAwardEmojis.all(projectId, iid, first!.id)).map(({ name }) => name)).toEqual(['rocket']);
    await IssueNoteAwardEmojis.remove(projectId, iid, first!.id, given.id);
    await IssueAwardEmojis.remove(projectId, iid, award.id);
    expect(await IssueAwardEmojis.all(projectId, iid)).toEqual([]);
  });

  it('executes quick actions in notes', async () => {
    const { Issues, IssueNotes, IssueDiscussions } = root;
    const { iid } = await Issues.create(projectId, 'To be done', {
      description: 'Soon.\n\n/due 2031-02-03\n/estimate 2h',
    });
    expect(await Issues.show(iid, { projectId })).toMatchObject({
      description: 'Soon.',
      due_date: '2031-02-03',
      time_stats: { time_estimate: 7200 },
    });
    // The SDK's type is that of a note, but a body with commands only has another answer.
    expect(await IssueNotes.create(projectId, iid, '/close\n/spend 30m')).toEqual({
      commands_changes: { state_event: 'close', spend_time: { duration: 1800 } },
      summary: ['Closed this issue. Added 30m of spent time.'],
    });
    expect(await IssueNotes.create(projectId, iid, 'Not yet.\n/reopen')).toMatchObject({
      body: 'Not yet.',
      commands_changes: { state_event: 'reopen' },
    });
    await expect(IssueNotes.create(projectId, iid, '/reopen')).rejects.toThrow(/commands_only|Bad request/i);
    const thread = await IssueDiscussions.create(projectId, iid, 'Why?\n/lock');
    expect(thread.notes).toMatchObject([{ body: 'Why?', commands_changes: { discussion_locked: true } }]);
    expect(await IssueDiscussions.addNote(projectId, iid, thread.id, '/unlock')).toMatchObject({
      summary: ['Unlocked the discussion.'],
    });
    expect(await Issues.show(iid, { projectId })).toMatchObject({
      state: 'opened',
      discussion_locked: false,
      time_stats: { total_time_spent: 1800 },
    });
  });
});
