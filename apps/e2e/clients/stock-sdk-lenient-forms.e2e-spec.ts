import { Gitlab } from '@gitbeaker/rest';
import { estate, mark } from '../support/estate';

/** Forms of input that users of other servers send, by an unmodified public API client. */
describe('lenient forms with a stock SDK', () => {
  const root = new Gitlab({ host: estate.baseUrl, token: estate.rootToken });
  const { Issues, Projects, Groups, Epics, ProjectMilestones } = root;
  let groupId: number;
  let projectId: number;

  beforeAll(async () => {
    const path = `lenient-${mark}`;
    groupId = (await Groups.create(path, path)).id;
    projectId = (await Projects.create({ name: 'forms', namespaceId: groupId })).id;
  });

  it('replaces a scoped label by another of its key', async () => {
    const issue = await Issues.create(projectId, 'Scoped', { labels: 'pri::1,area::git::push,plain' });
    const edited = await Issues.edit(projectId, issue.iid, { addLabels: 'pri::2,area::git::pull' });
    expect(edited.labels).toEqual(['area::git::pull', 'plain', 'pri::2']);
  });

  it('trims titles', async () => {
    const issue = await Issues.create(projectId, '  pad  ');
    expect(issue.title).toBe('pad');
    expect((await Issues.edit(projectId, issue.iid, { title: '\tother ' })).title).toBe('other');
  });

  it('reads the old words for any and no milestone', async () => {
    const milestone = await ProjectMilestones.create(projectId, 'v1');
    const issue = await Issues.create(projectId, 'Planned', { milestoneId: milestone.id });
    const iids = async (milestoneTitle: string) =>
      (await Issues.all({ projectId, milestone: milestoneTitle })).map(({ iid }) => iid);
    expect(await iids('Any Milestone')).toEqual([issue.iid]);
    expect(await iids('No Milestone')).not.toContain(issue.iid);
    expect(await iids('No Milestone')).not.toEqual([]);
  });

  it('sets the epic of an issue by its deprecated epic_iid', async () => {
    const epic = await Epics.create(groupId, 'Above');
    const issue = await Issues.create(projectId, 'Below', { epicIid: epic.iid } as object);
    expect(issue.epic).toMatchObject({ id: epic.id });
    await expect(Issues.edit(projectId, issue.iid, { epicIid: epic.iid, epicId: epic.id } as object)).rejects.toThrow(
      /mutually exclusive/,
    );
  });

  it('refuses text where a file is meant', async () => {
    // Its own methods refuse text before they send it, so that the request goes through its requester.
    const edit = Projects.requester.put(`projects/${projectId}`, { body: { avatar: './x.jpg' } });
    await expect(edit).rejects.toThrow(/avatar is invalid/);
  });

  it('gives the path of a deleted project free, and redirects former paths', async () => {
    const first = await Projects.create({ name: 'again', namespaceId: groupId });
    await Issues.create(first.id, 'Kept');
    await Projects.remove(first.id);
    const second = await Projects.create({ name: 'again', namespaceId: groupId });
    expect(second.path_with_namespace).toBe(first.path_with_namespace);
    const marked = await Projects.show(first.id);
    expect(marked.path).toBe(`again-deletion_scheduled-${first.id}`);
    await expect(Issues.create(first.id, 'Refused')).rejects.toThrow(/403|Forbidden/);

    await Issues.create(second.id, 'Moved along');
    await Projects.edit(second.id, { path: 'elsewhere' });
    const moved = await Issues.all({ projectId: second.path_with_namespace });
    expect(moved.map(({ title }) => title)).toEqual(['Moved along']);
  });

  it.each([
    ['due_date', { dueDate: '20270105' }, { due_date: '2027-01-05' }],
    ['created_at', { createdAt: '20190301T080001Z' }, { created_at: '2019-03-01T08:00:01.000Z' }],
    ['created_at', { createdAt: '2019-03-01 08:00:01+00' }, { created_at: '2019-03-01T08:00:01.000Z' }],
  ])('reads every form of ISO 8601: %s %j', async (_, options, expected) => {
    expect(await Issues.create(projectId, 'Dated', options)).toMatchObject(expected);
  });

  it('refuses days that do not exist', async () => {
    await expect(Issues.create(projectId, 'Dated', { dueDate: '2027-02-30' })).rejects.toThrow(/due_date/);
  });
});
