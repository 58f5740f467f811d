import { Gitlab } from '@gitbeaker/rest';
import { estate, mark } from '../support/estate';

/** Epics of groups with an unmodified public API client. */
describe('epics with a stock SDK', () => {
  const root = new Gitlab({ host: estate.baseUrl, token: estate.rootToken });
  const { Epics } = root;
  let groupId: number;

  beforeAll(async () => {
    const path = `epics-${mark}`;
    groupId = (await root.Groups.create(path, path)).id;
    const plan = await fetch(`${estate.baseUrl}/api/v4/namespaces/${groupId}`, {
      method: 'PUT',
      headers: { 'private-token': estate.rootToken, 'content-type': 'application/json' },
      body: JSON.stringify({ plan: 'ultimate' }),
    });
    expect(plan.status).toBe(200);
  });

  it('opens, lists, changes and removes them', async () => {
    const made = await Epics.create(groupId, 'Nests', { labels: 'wood', description: 'All of them' });
    expect(made).toMatchObject({ iid: 1, group_id: groupId, title: 'Nests', labels: ['wood'], state: 'opened' });
    expect(await Epics.show(groupId, made.iid)).toMatchObject({ id: made.id, subscribed: true });
    expect((await Epics.all(groupId, { labels: 'wood', state: 'opened' })).map(({ id }) => id)).toEqual([made.id]);
    expect(await Epics.edit(groupId, made.iid, { title: 'Eggs', stateEvent: 'close' })).toMatchObject({
      title: 'Eggs',
      state: 'closed',
    });
    await Epics.remove(groupId, made.iid);
    await expect(Epics.show(groupId, made.iid)).rejects.toThrow(/404|Not found/i);
  });

  it('adds notes, threads and issues', async () => {
    const epic = await Epics.create(groupId, 'Talk');
    const note = await root.EpicNotes.create(groupId, epic.id, 'A word');
    expect(note).toMatchObject({ noteable_type: 'Epic', noteable_id: epic.id, project_id: null });
    expect((await root.EpicNotes.all(groupId, epic.id)).map(({ id }) => id)).toEqual([note.id]);
    const thread = await root.EpicDiscussions.create(groupId, epic.id, 'Why?');
    await root.EpicDiscussions.addNote(groupId, epic.id, thread.id, 'Because');
    expect((await root.EpicDiscussions.show(groupId, epic.id, thread.id)).notes).toHaveLength(2);
    expect(await root.EpicLabelEvents.all(groupId, epic.id)).toEqual([]);

    const project = await root.Projects.create({ name: 'eggs', namespaceId: groupId });
    const issues = [];
    for (const title of ['first', 'second']) issues.push(await root.Issues.create(project.id, title));
    const links = [];
    for (const issue of issues) links.push(await root.EpicIssues.assign(groupId, epic.iid, issue.id));
    expect(links[0]).toMatchObject({ epic: { id: epic.id }, issue: { id: issues[0]!.id } });
    const titles = async (): Promise<string[]> =>
      (await root.EpicIssues.all(groupId, epic.iid)).map(({ title }) => String(title));
    expect(await titles()).toEqual(['second', 'first']);
    await root.EpicIssues.edit(groupId, epic.iid, links[0]!.id, { moveAfterId: links[1]!.id });
    expect(await titles()).toEqual(['first', 'second']);
    await root.EpicIssues.remove(groupId, epic.iid, links[0]!.id);
    expect(await titles()).toEqual(['second']);
  });

  it("puts an epic on the caller's to-do list", async () => {
    const epic = await Epics.create(groupId, 'Mine');
    const todo = await Epics.createTodo(groupId, epic.iid);
    expect(todo).toMatchObject({ action_name: 'marked', target_type: 'Epic', target: { id: epic.id } });
    expect((await root.TodoLists.all({ groupId })).map(({ id }) => id)).toEqual([todo.id]);
    expect(await root.TodoLists.done({ todoId: todo.id })).toMatchObject({ state: 'done' });
  });

  it('adds child epics, orders and removes them', async () => {
    const { EpicLinks } = root;
    const parent = await Epics.create(groupId, 'Forest');
    const own = await EpicLinks.create(groupId, parent.iid, 'Tree & twig', { confidential: true });
    expect(own).toMatchObject({ title: 'Tree & twig', parent_id: parent.id, has_children: false, group_id: groupId });
    expect(await Epics.show(groupId, own.iid)).toMatchObject({ parent_id: parent.id, confidential: true });
    const other = await Epics.create(groupId, 'Bush');
    expect(await EpicLinks.assign(groupId, parent.iid, other.id)).toMatchObject({ id: other.id, parent_id: parent.id });
    const order = async (): Promise<number[]> => (await EpicLinks.all(groupId, parent.iid)).map(({ id }) => id);
    expect(await order()).toEqual([other.id, own.id]);
    await EpicLinks.reorder(groupId, parent.iid, own.id, { moveAfterId: other.id });
    expect(await order()).toEqual([own.id, other.id]);
    await expect(EpicLinks.assign(groupId, other.iid, parent.id)).rejects.toThrow(/ancestor|409|Conflict/i);
    await EpicLinks.unassign(groupId, parent.iid, own.id);
    expect(await order()).toEqual([other.id]);
    await Epics.remove(groupId, parent.iid);
    expect(await Epics.show(groupId, other.iid)).toMatchObject({ parent_id: null });
  });
});
