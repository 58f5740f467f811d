import { Gitlab } from '@gitbeaker/rest';
import { estate, mark } from '../support/estate';

/**
 * Subscriptions, single entries and removals of issues, labels, milestones and epics with an unmodified public API client.
 * Calls for which this client has a wrong path are omitted: label subscriptions, weight events of issues, emoji of epics.
 */
describe('following with a stock SDK', () => {
  const root = new Gitlab({ host: estate.baseUrl, token: estate.rootToken });
  let groupId: number;
  let projectId: number;

  beforeAll(async () => {
    const path = `following-${mark}`;
    groupId = (await root.Groups.create(path, path)).id;
    projectId = (await root.Projects.create({ name: 'eggs', namespaceId: groupId })).id;
    const plan = await fetch(`${estate.baseUrl}/api/v4/namespaces/${groupId}`, {
      method: 'PUT',
      headers: { 'private-token': estate.rootToken, 'content-type': 'application/json' },
      body: JSON.stringify({ plan: 'ultimate' }),
    });
    expect(plan.status).toBe(200);
  });

  it('subscribes to issues and lists their participants', async () => {
    const { Issues } = root;
    const { iid, id } = await Issues.create(projectId, 'Followed');
    expect(await Issues.unsubscribe(projectId, iid)).toMatchObject({ id, subscribed: false });
    expect(await Issues.subscribe(projectId, iid)).toMatchObject({ id, subscribed: true });
    expect((await Issues.allParticipants(projectId, iid)).map(({ username }) => username)).toEqual(['root']);
    const todo = await Issues.createTodo(projectId, iid);
    expect(todo).toMatchObject({ action_name: 'marked', target_type: 'Issue', target: { id }, state: 'pending' });
    expect(await root.TodoLists.done({ todoId: todo.id })).toMatchObject({ id: todo.id, state: 'done' });
  });

  it('shows single notes, emoji and events of issues', async () => {
    const { Issues, IssueNotes, IssueNoteAwardEmojis: Awards } = root;
    const { iid } = await Issues.create(projectId, 'Talked of');
    const note = await IssueNotes.create(projectId, iid, 'A word');
    expect(await IssueNotes.show(projectId, iid, note.id)).toMatchObject({ id: note.id, body: 'A word' });
    const award = await Awards.award(projectId, iid, note.id, 'rocket');
    expect(await Awards.show(projectId, iid, note.id, award.id)).toEqual(award);
    expect(await Awards.all(projectId, iid, note.id)).toEqual([award]);
    await Awards.remove(projectId, iid, note.id, award.id);
    expect(await Awards.all(projectId, iid, note.id)).toEqual([]);

    await Issues.edit(projectId, iid, { labels: 'seen', weight: 3, stateEvent: 'close' });
    const [labelled] = await root.IssueLabelEvents.all(projectId, iid);
    expect(await root.IssueLabelEvents.show(projectId, iid, labelled!.id)).toEqual(labelled);
    const [closed] = await root.IssueStateEvents.all(projectId, iid);
    expect(await root.IssueStateEvents.show(projectId, iid, closed!.id)).toEqual(closed);
    expect(closed).toMatchObject({ state: 'closed', resource_type: 'Issue' });
    expect(await root.IssueIterationEvents.all(projectId, iid)).toEqual([]);
  });

  it('creates and changes labels of groups, and removes labels', async () => {
    const { ProjectLabels, GroupLabels } = root;
    const own = await ProjectLabels.create(projectId, 'own', '#112233');
    const shared = await GroupLabels.create(groupId, 'shared', '#445566', { description: 'of all' });
    expect(shared).toMatchObject({ name: 'shared', description: 'of all', color: '#445566' });
    expect(await GroupLabels.edit(groupId, shared.id, { color: '#778899' })).toMatchObject({ color: '#778899' });
    expect(await GroupLabels.show(groupId, 'shared')).toMatchObject({ id: shared.id });
    await GroupLabels.remove(groupId, shared.id);
    await expect(GroupLabels.show(groupId, shared.id)).rejects.toThrow(/404|Not found/i);
    await ProjectLabels.remove(projectId, own.id);
    expect((await ProjectLabels.all(projectId)).map(({ name }) => name)).not.toContain('own');
  });

  it('changes milestones of groups, and removes those of projects', async () => {
    const { ProjectMilestones, GroupMilestones } = root;
    const above = await GroupMilestones.create(groupId, 'v1');
    expect(await GroupMilestones.edit(groupId, above.id, { title: 'v2', stateEvent: 'close' })).toMatchObject({
      title: 'v2',
      state: 'closed',
    });
    expect(await GroupMilestones.show(groupId, above.id)).toMatchObject({ title: 'v2' });
    const below = await ProjectMilestones.create(projectId, 'v0.1');
    await ProjectMilestones.remove(projectId, below.id);
    await expect(ProjectMilestones.show(projectId, below.id)).rejects.toThrow(/404|Not found/i);
  });

  it('changes and removes notes of epics', async () => {
    const { Epics, EpicNotes, EpicDiscussions } = root;
    const epic = await Epics.create(groupId, 'Nests', { labels: 'wood' });
    const note = await EpicNotes.create(groupId, epic.id, 'A word');
    expect(await EpicNotes.edit(groupId, epic.id, note.id, { body: 'Another' })).toMatchObject({ body: 'Another' });
    expect(await EpicNotes.show(groupId, epic.id, note.id)).toMatchObject({ id: note.id, body: 'Another' });
    const thread = await EpicDiscussions.create(groupId, epic.id, 'Why?');
    const answer = await EpicDiscussions.addNote(groupId, epic.id, thread.id, 'Because');
    const changed = await EpicDiscussions.editNote(groupId, epic.id, thread.id, answer.id, { body: 'Therefore' });
    expect(changed).toMatchObject({ id: answer.id, body: 'Therefore' });
    expect(await EpicDiscussions.all(groupId, epic.id)).toHaveLength(2);
    await EpicDiscussions.removeNote(groupId, epic.id, thread.id, answer.id);
    await EpicNotes.remove(groupId, epic.id, note.id);
    const left = await EpicNotes.all(groupId, epic.id);
    expect(left.filter(({ system }) => !system).map(({ body }) => body)).toEqual(['Why?']);
    const [labelled] = await root.EpicLabelEvents.all(groupId, epic.id);
    expect(await root.EpicLabelEvents.show(groupId, epic.id, labelled!.id)).toEqual(labelled);
    await Epics.edit(groupId, epic.iid, { stateEvent: 'close' });
    const [closed] = await root.EpicStateEvents.all(groupId, epic.id);
    expect(await root.EpicStateEvents.show(groupId, epic.id, closed!.id)).toEqual(closed);
    expect(closed).toMatchObject({ state: 'closed', resource_type: 'Epic', resource_id: epic.id });
  });
});
