import { Gitlab } from '@gitbeaker/rest';
import { addMember, estate, eventually, person, projectOf } from '../support/estate';
import type { Person } from '../support/estate';

/** Notification settings, to-dos and events with an unmodified public API client. */
describe('activity with a stock SDK', () => {
  const client = (user: Person) => new Gitlab({ host: estate.baseUrl, token: user.token });
  let owner: Person;
  let member: Person;
  let place: Awaited<ReturnType<typeof projectOf>>;

  beforeAll(async () => {
    [owner, member] = [await person('sdk-active'), await person('sdk-quiet')];
    place = await projectOf(owner, 'sdk-activity');
    expect((await addMember(place.id, member, 30, owner)).status).toBe(201);
  });

  it('shows and changes notification settings', async () => {
    const { NotificationSettings: settings } = client(member);
    expect(await settings.show()).toEqual({ level: 'participating', notification_email: member.email });
    expect(await settings.edit({ level: 'watch', notificationEmail: member.email })).toMatchObject({ level: 'watch' });
    expect(await settings.show({ projectId: place.id })).toEqual({ level: 'global' });
    const custom = { level: 'custom', newNote: true, pushToMergeRequest: true };
    const changed = await settings.edit({ projectId: place.id, ...custom });
    expect(changed).toMatchObject({
      level: 'custom',
      events: { new_note: true, push_to_merge_request: true, new_issue: false, failed_pipeline: true },
    });
    expect(await settings.show({ projectId: place.id })).toEqual(changed);
    const { NotificationSettings: ofOwner } = client(owner);
    expect(await ofOwner.edit({ groupId: place.group, level: 'mention' })).toEqual({ level: 'mention' });
    await expect(settings.edit({ level: 'loud' })).rejects.toThrow();
  });

  it('lists to-dos by each filter, and marks them as done', async () => {
    const { Issues } = client(owner);
    const { TodoLists } = client(member);
    const { id } = await Issues.create(place.id, 'Assigned', { assigneeIds: [member.id] });
    await Issues.create(place.id, 'Named', { description: `x @${member.username}` });
    const all = await eventually(
      () => TodoLists.all({ projectId: place.id }),
      (found) => found.length === 2,
    );
    const [assigned] = await TodoLists.all({ action: 'assigned', authorId: owner.id, groupId: place.group });
    expect(assigned).toMatchObject({ action_name: 'assigned', target_type: 'Issue', target: { id }, state: 'pending' });
    expect(all.map((one) => one.action_name).sort()).toEqual(['assigned', 'mentioned']);
    expect(await TodoLists.all({ type: 'MergeRequest' })).toEqual([]);
    expect(await TodoLists.done({ todoId: assigned!.id })).toMatchObject({ id: assigned!.id, state: 'done' });
    expect(await TodoLists.all({ state: 'done' })).toMatchObject([{ id: assigned!.id }]);
    await TodoLists.done({} as never);
    expect(await TodoLists.all()).toEqual([]);
  });

  it('lists events of the caller, of a user and of a project', async () => {
    const { Events, ProjectMilestones, Issues, IssueNotes, Users } = client(owner);
    const milestone = await ProjectMilestones.create(place.id, 'v1');
    await ProjectMilestones.edit(place.id, milestone.id, { stateEvent: 'close' });
    const { iid } = await Issues.create(place.id, 'Talked of');
    const note = await IssueNotes.create(place.id, iid, 'A word');
    const commented = await eventually(
      () => Events.all({ projectId: place.id, action: 'commented' }),
      (found) => found.length === 1,
    );
    expect(commented).toMatchObject([{ action_name: 'commented on', note: { id: note.id, body: 'A word' } }]);
    const ofMilestones = await eventually(
      () => Events.all({ targetType: 'milestone' }),
      (found) => found.length === 2,
    );
    expect(ofMilestones.map((one) => one.action_name)).toEqual(['closed', 'opened']);
    expect(ofMilestones[0]).toMatchObject({ target_id: milestone.id, target_title: 'v1', project_id: place.id });
    expect(await Users.allEvents(owner.id, { action: 'commented' })).toEqual(commented);
    const { Events: ofMember } = client(member);
    expect((await ofMember.all({ scope: 'all', action: 'commented' })).map(({ id }) => id)).toEqual([commented[0]!.id]);
    expect(await ofMember.all({ action: 'commented' })).toEqual([]);
  });
});
