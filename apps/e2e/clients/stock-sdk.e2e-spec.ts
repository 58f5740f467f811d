import { Gitlab } from '@gitbeaker/rest';
import { call, estate, eventually, mailTo, mark, person } from '../support/estate';

/**
 * A first session with an unmodified public API client: a group, a project, an issue and a note that mentions a user, and
 * the effects of the note.
 */
describe('a first session with a stock SDK', () => {
  const root = new Gitlab({ host: estate.baseUrl, token: estate.rootToken });

  it('creates a group, a project, an issue and a note, and finds to-do, event and mail', async () => {
    const ada = await person('ada');
    const hers = new Gitlab({ host: estate.baseUrl, token: ada.token });
    expect(await root.Users.showCurrentUser()).toMatchObject({ id: 1, username: 'root' });

    const path = `session-${mark}`;
    const group = await root.Groups.create(path, path, { visibility: 'private' });
    const project = await root.Projects.create({ name: 'eggs', namespaceId: group.id });
    await root.ProjectMembers.add(project.id, 30, { userId: ada.id });
    expect((await root.ProjectMembers.all(project.id)).map(({ username }) => username)).toContain(ada.username);

    const issue = await root.Issues.create(project.id, 'First egg', {
      description: 'It is blue.',
      assigneeIds: [ada.id],
    });
    expect(issue).toMatchObject({ iid: 1, state: 'opened', title: 'First egg' });
    const note = await root.IssueNotes.create(project.id, issue.iid, `Look here, @${ada.username}!`);
    expect(note).toMatchObject({ body: `Look here, @${ada.username}!`, noteable_iid: 1, internal: false });

    const todos = await eventually(
      () => hers.TodoLists.all(),
      (list) => list.length >= 2,
    );
    expect(todos.map(({ action_name }) => action_name).sort()).toEqual(['assigned', 'mentioned']);
    const mentioned = todos.find(({ action_name }) => action_name === 'mentioned')!;
    expect(mentioned).toMatchObject({ target_type: 'Issue', body: note.body, state: 'pending' });
    expect(mentioned.target_url).toBe(`${estate.baseUrl}/${path}/eggs/-/issues/1#note_${note.id}`);

    // The events come from two services, in no fixed order.
    await eventually(
      async () => (await hers.Events.all({ projectId: project.id })).map(({ action_name }) => action_name),
      (names) => ['commented on', 'opened', 'joined', 'created'].every((name) => names.includes(name)),
    );

    const mails = await eventually(
      () => mailTo(ada.email),
      (list) => list.some((mail) => mail.text?.includes('Look here')),
    );
    const mail = mails.find((one) => one.text?.includes('Look here'))!;
    expect(mail.subject).toMatch(/^Re: eggs \| First egg \(#1\)/);
    expect(mail.messageId).toMatch(new RegExp(`^<note_${note.id}\\.[0-9a-f]{20}@`));
    expect([mail.references].flat()[0]).toMatch(new RegExp(`^<issue_${issue.id}@`));

    expect(await hers.TodoLists.done({ todoId: mentioned.id })).toMatchObject({ state: 'done' });
    await hers.TodoLists.done();
    expect(await hers.TodoLists.all()).toEqual([]);
  });

  it('changes, lists and removes what it created', async () => {
    const path = `round-${mark}`;
    const group = await root.Groups.create(path, path);
    const project = await root.Projects.create({ name: 'eggs', namespaceId: group.id });
    expect(await root.Groups.show(path)).toMatchObject({ id: group.id, full_path: path });
    expect(await root.Groups.edit(group.id, { description: 'a nest' })).toMatchObject({ description: 'a nest' });
    expect(await root.Projects.edit(project.id, { description: 'blue' })).toMatchObject({ description: 'blue' });
    expect(await root.Projects.show(`${path}/eggs`)).toMatchObject({ id: project.id, description: 'blue' });

    const issue = await root.Issues.create(project.id, 'One');
    const note = await root.IssueNotes.create(project.id, issue.iid, 'draft');
    expect(await root.IssueNotes.edit(project.id, issue.iid, note.id, { body: 'final' })).toMatchObject({
      body: 'final',
    });
    expect((await root.IssueNotes.all(project.id, issue.iid)).map(({ body }) => body)).toEqual(['final']);
    await root.IssueNotes.remove(project.id, issue.iid, note.id);
    expect(await root.IssueNotes.all(project.id, issue.iid)).toEqual([]);

    expect(await root.Issues.edit(project.id, issue.iid, { stateEvent: 'close' })).toMatchObject({ state: 'closed' });
    expect((await root.Issues.all({ projectId: project.id, state: 'closed' })).map(({ iid }) => iid)).toEqual([1]);
    await root.Issues.remove(project.id, issue.iid);
    await expect(root.Issues.show(1, { projectId: project.id })).rejects.toThrow(/404|Not Found/);

    const message = await root.BroadcastMessages.create({ message: 'Tea at four', targetAccessLevels: [30] });
    expect(await root.BroadcastMessages.edit(message.id, { theme: 'light-red' })).toMatchObject({ theme: 'light-red' });
    await root.BroadcastMessages.remove(message.id);
  });

  it('lists and rotates tokens', async () => {
    const bob = await person('bob');
    const impersonation = await root.UserImpersonationTokens.create(bob.id, 'i', ['api']);
    const asBob = new Gitlab({ host: estate.baseUrl, token: impersonation.token! });
    expect(await asBob.Users.showCurrentUser()).toMatchObject({ id: bob.id });
    const listed = await root.UserImpersonationTokens.all(bob.id, { state: 'active' });
    expect(listed.map(({ id }) => id)).toContain(impersonation.id);

    const bobs = new Gitlab({ host: estate.baseUrl, token: bob.token });
    const [own] = await bobs.PersonalAccessTokens.all({ userId: bob.id, search: 'e2e' });
    const rotated = await bobs.PersonalAccessTokens.rotate(own!.id);
    await expect(bobs.Users.showCurrentUser()).rejects.toThrow();
    const rotatedClient = new Gitlab({ host: estate.baseUrl, token: rotated.token! });
    expect(await rotatedClient.Users.showCurrentUser()).toMatchObject({ id: bob.id });
    await root.UserImpersonationTokens.remove(bob.id, impersonation.id);
    await expect(asBob.Users.showCurrentUser()).rejects.toThrow();
  });

  it('creates and lists package protection rules', async () => {
    const path = `rules-${mark}`;
    const group = await root.Groups.create(path, path);
    const project = await root.Projects.create({ name: 'eggs', namespaceId: group.id });
    const rules = `/projects/${project.id}/packages/protection/rules`;
    const json = { package_name_pattern: '@acme/*', package_type: 'npm', minimum_access_level_for_push: 'maintainer' };
    const rule = await call('POST', rules, { json });
    expect([rule.status, rule.body]).toEqual([201, expect.objectContaining({ package_name_pattern: '@acme/*' })]);
    // The SDK has no call for these rules; package tools send a bearer header.
    const listed = await call('GET', rules, { token: null, headers: { authorization: `Bearer ${estate.rootToken}` } });
    expect(listed.body).toEqual([rule.body]);
  });
});
