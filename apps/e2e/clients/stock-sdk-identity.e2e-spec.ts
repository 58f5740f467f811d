import { Gitlab } from '@gitbeaker/rest';
import { estate, mark, person } from '../support/estate';

/**
 * Groups, namespaces, members, tokens, service accounts, badges, topics and users with an unmodified public API client.
 * Source: reference identity-and-import 14.
 */
const root = new Gitlab({ host: estate.baseUrl, token: estate.rootToken });
const as = (token: string) => new Gitlab({ host: estate.baseUrl, token });
let serial = 0;
const unique = (stem: string) => `${stem}${++serial}-${mark}`;
async function nest(options: object = {}) {
  const path = unique('sdk');
  return root.Groups.create(path, path, options);
}
/** The smallest valid PNG: one pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const TAKEN = 'Member already exists';
const nextMonth = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);

describe('groups', () => {
  it('are listed, nested, moved, shared and restored', async () => {
    const [top, other] = [await nest(), await nest()];
    const path = unique('below');
    const below = await root.Groups.create(path, path, { parentId: top.id });
    expect((await root.Groups.all({ search: top.path })).map(({ id }) => id)).toContain(top.id);
    expect((await root.Groups.allSubgroups(top.id)).map(({ id }) => id)).toEqual([below.id]);
    expect((await root.Groups.allDescendantGroups(top.id, {} as never)).map(({ id }) => id)).toEqual([below.id]);
    await root.Groups.transfer(below.id, { groupId: other.id });
    expect(await root.Groups.show(below.id)).toMatchObject({ full_path: `${other.path}/${path}` });
    await root.Groups.share(top.id, other.id, 20, {});
    const shared = await root.Groups.show(top.id);
    expect(shared['shared_with_groups']).toEqual([expect.objectContaining({ group_id: other.id })]);
    await root.Groups.unshare(top.id, other.id, {});
    expect((await root.Groups.search(below.name)).map(({ id }) => id)).toEqual([below.id]);
    expect((await root.Groups.edit(other.id, { description: 'far', lfsEnabled: false }))['lfs_enabled']).toBe(false);
    const project = await root.Projects.create({ name: 'eggs', namespaceId: top.id });
    expect((await root.Groups.allProjects(top.id)).map(({ id }) => id)).toEqual([project.id]);
    await root.Projects.share(project.id, other.id, 20);
    expect((await root.Groups.allSharedProjects(other.id)).map(({ id }) => id)).toEqual([project.id]);
    await root.Projects.unshare(project.id, other.id);
    await root.Groups.transferProject(other.id, project.id);
    expect((await root.Groups.allProjects(other.id)).map(({ id }) => id)).toEqual([project.id]);
    expect((await root.Groups.allTransferLocations(top.id)).length).toBeGreaterThan(0);
    await root.Groups.remove(top.id);
    await root.Groups.restore(top.id);
    expect(await root.Groups.show(top.id)).toMatchObject({ marked_for_deletion_on: null });
    await root.Groups.remove(top.id);
    const { full_path: fullPath } = await root.Groups.show(top.id);
    await root.Groups.remove(top.id, { permanentlyRemove: true, fullPath });
    await expect(root.Groups.show(top.id)).rejects.toMatchObject({ cause: { description: '404 Group Not Found' } });
  });

  it('show pictures, however the client sends them', async () => {
    const picture = (filename: string) => ({ content: new Blob([PNG]), filename });
    const path = unique('seen');
    const group = await root.Groups.create(path, path, { avatar: picture('first.png'), visibility: 'public' });
    expect(String(group['avatar_url'])).toMatch(/first\.png$/);
    const edited = await root.Groups.edit(group.id, { description: 'seen', avatar: picture('second.png') });
    expect(edited).toMatchObject({
      id: group.id,
      description: 'seen',
      avatar_url: expect.stringMatching(/second\.png$/),
    });
    expect(await root.Groups.uploadAvatar(group.id, new Blob([PNG]), { filename: 'third.png' })).toMatchObject({
      avatar_url: expect.stringMatching(/third\.png$/),
    });
    expect((await root.Groups.downloadAvatar(group.id)).size).toBe(PNG.length);
    expect(await root.Groups.removeAvatar(group.id)).toMatchObject({ avatar_url: null, description: 'seen' });
  });

  it('have namespaces, members, requests, attributes and badges', async () => {
    const group = await nest({ visibility: 'public' });
    const [ada, bob] = [await person(unique('ada')), await person(unique('bob'))];
    expect(await root.Namespaces.show(group.path)).toMatchObject({ id: group.id, kind: 'group' });
    expect(await root.Namespaces.exists(group.path)).toEqual({ exists: true, suggests: [`${group.path}1`] });
    expect(await root.Namespaces.exists(group.path, { parentId: String(group.id) })).toEqual({
      exists: false,
      suggests: [],
    });
    expect((await root.Namespaces.all({ search: group.path })).map(({ id }) => id)).toEqual([group.id]);

    await root.GroupMembers.add(group.id, 30, { userId: ada.id });
    expect(await root.GroupMembers.edit(group.id, ada.id, 40)).toMatchObject({ access_level: 40 });
    expect((await root.GroupMembers.all(group.id)).map(({ id }) => id)).toEqual([1, ada.id]);
    expect(await as(bob.token).GroupAccessRequests.request(group.id)).toMatchObject({ id: bob.id });
    expect(await root.GroupAccessRequests.approve(group.id, bob.id)).toMatchObject({ access_level: 30 });
    await root.GroupMembers.remove(group.id, bob.id);
    await root.GroupMembers.remove(group.id, ada.id);
    const both = { userId: `${ada.id},${bob.id}` };
    expect(await root.GroupMembers.add(group.id, 20, both)).toEqual({ status: 'success' });
    await expect(root.GroupMembers.add(group.id, 20, both)).rejects.toMatchObject({
      cause: { description: JSON.stringify({ [ada.username]: TAKEN, [bob.username]: TAKEN }) },
    });

    await root.GroupCustomAttributes.set(group.id, 'tree', 'oak');
    expect(await root.GroupCustomAttributes.all(group.id)).toEqual([{ key: 'tree', value: 'oak' }]);
    await root.GroupCustomAttributes.remove(group.id, 'tree');

    const badge = await root.GroupBadges.add(group.id, 'https://x.example/%{group_name}', 'https://x.example/i.svg');
    expect(await root.GroupBadges.edit(group.id, badge.id, { name: 'one' })).toMatchObject({ name: 'one' });
    expect((await root.GroupBadges.all(group.id)).map(({ id }) => id)).toEqual([badge.id]);
    await root.GroupBadges.remove(group.id, badge.id);
  });
});

describe.each(['Group', 'Project'] as const)('a %s', (kind) => {
  const of = (api: typeof root) => ({
    members: api[`${kind}Members`],
    requests: api[`${kind}AccessRequests`],
    attributes: api[`${kind}CustomAttributes`],
  });

  it('has members, access requests and attributes', async () => {
    const group = await nest({ visibility: 'public' });
    const project = await root.Projects.create({ name: 'eggs', namespaceId: group.id, visibility: 'public' });
    const { members, requests, attributes } = of(root);
    const id = kind === 'Group' ? group.id : project.id;
    const [ada, bob, cid] = [await person(unique('ada')), await person(unique('bob')), await person(unique('cid'))];
    expect(await members.add(id, 30, { username: ada.username, expiresAt: nextMonth })).toMatchObject({ id: ada.id });
    expect(await members.show(id, ada.id)).toMatchObject({ access_level: 30, expires_at: nextMonth });
    expect(await members.show(id, 1, { includeInherited: true })).toMatchObject({ access_level: 50 });
    const some = await members.all(id, { includeInherited: true, userIds: [ada.id, 1], query: ada.username });
    expect(some.map((member) => member.id)).toEqual([ada.id]);
    await members.remove(id, ada.id, { unassignIssuables: true });
    await expect(members.show(id, ada.id)).rejects.toMatchObject({ cause: { description: '404 Not found' } });

    await of(as(bob.token)).requests.request(id);
    await of(as(cid.token)).requests.request(id);
    expect((await requests.all(id)).map((asked) => asked.id)).toEqual([bob.id, cid.id]);
    expect(await requests.approve(id, bob.id, { accessLevel: 20 })).toMatchObject({ access_level: 20 });
    await requests.deny(id, cid.id);
    expect(await requests.all(id)).toEqual([]);

    expect(await attributes.set(id, 'a.b/c d', 'oak')).toEqual({ key: 'a.b/c d', value: 'oak' });
    expect(await attributes.show(id, 'a.b/c d')).toMatchObject({ value: 'oak' });
    await attributes.remove(id, 'a.b/c d');
    expect(await attributes.all(id)).toEqual([]);
  });
});

describe('tokens', () => {
  it('of groups and projects are created, used, rotated and revoked', async () => {
    const group = await nest();
    const project = await root.Projects.create({ name: 'eggs', namespaceId: group.id });
    for (const [tokens, id] of [
      [root.GroupAccessTokens, group.id],
      [root.ProjectAccessTokens, project.id],
    ] as const) {
      const made = await tokens.create(id, 'robot', ['api'], nextMonth, { accessLevel: 30 });
      expect((await as(made.token).Users.showCurrentUser()).bot).toBe(true);
      expect((await tokens.all(id)).map((token) => token.id)).toEqual([made.id]);
      const next = await tokens.rotate(id, made.id, { expiresAt: nextMonth });
      await expect(as(made.token).Users.showCurrentUser()).rejects.toThrow();
      expect(await tokens.show(id, next.id)).toMatchObject({ active: true, access_level: 30 });
      await tokens.revoke(id, next.id);
      await expect(as(next.token).Users.showCurrentUser()).rejects.toThrow();
    }
  });

  it('of service accounts rotate', async () => {
    const group = await nest();
    const account = await root.GroupServiceAccounts.create(group.id, { name: 'Robot' });
    expect(account).toMatchObject({ name: 'Robot', username: expect.stringMatching(/^service_account_group_/) });
    expect(await root.ServiceAccounts.create()).toMatchObject({ name: 'Service account user' });
    const made = await root.GroupServiceAccounts.createPersonalAccessToken(group.id, account.id, {
      name: 'first',
      scopes: ['api'],
    } as never);
    const next = await root.GroupServiceAccounts.rotatePersonalAccessToken(group.id, account.id, made.id);
    expect(await as(String(next.token)).Users.showCurrentUser()).toMatchObject({ id: account.id });
  });
});

describe('projects, topics and users', () => {
  it('stars, forks, archives, shares and moves', async () => {
    const [group, other] = [await nest(), await nest()];
    const project = await root.Projects.create({ name: 'eggs', namespaceId: group.id, topics: [unique('topic')] });
    expect(await root.Projects.star(project.id)).toMatchObject({ star_count: 1 });
    expect(await root.Projects.allStarrers(project.id)).toHaveLength(1);
    await root.Projects.unstar(project.id);
    const fork = await root.Projects.fork(project.id, { namespaceId: other.id });
    expect((await root.Projects.allForks(project.id)).map(({ id }) => id)).toEqual([fork.id]);
    expect(await root.Projects.archive(project.id)).toMatchObject({ archived: true });
    expect(await root.Projects.unarchive(project.id)).toMatchObject({ archived: false });
    await root.Projects.share(project.id, other.id, 30);
    await root.Projects.unshare(project.id, other.id);
    expect((await root.Projects.allGroups(project.id)).map(({ id }) => id)).toEqual([group.id]);
    const path = unique('far');
    const far = await root.Groups.create(path, path);
    expect(await root.Projects.transfer(project.id, far.id)).toMatchObject({ path_with_namespace: `${path}/eggs` });
  });

  it('creates and changes topics and badges', async () => {
    const [name, next] = [unique('birds'), unique('owls')];
    // The client's types lack the required title, but it sends all given fields.
    const topic = await root.Topics.create(name, { title: 'Birds' } as object);
    const target = await root.Topics.create(next, { title: 'Owls' } as object);
    expect(await root.Topics.edit(topic.id, { description: 'feathers' })).toMatchObject({ description: 'feathers' });
    expect(await root.Topics.merge(topic.id, target.id)).toMatchObject({ id: target.id });
    await expect(root.Topics.show(topic.id)).rejects.toThrow();
    await root.Topics.remove(target.id);
    const project = await root.Projects.create({ name: unique('badged') });
    const badge = await root.ProjectBadges.add(project.id, 'https://x.example/%{project_name}', 'https://x.example/i');
    expect(badge).toMatchObject({ rendered_link_url: `https://x.example/${project.path}`, kind: 'project' });
    expect(
      await root.ProjectBadges.preview(project.id, 'https://x.example/%{project_id}', 'https://x.example/i'),
    ).toMatchObject({ rendered_link_url: `https://x.example/${project.id}` });
  });

  it('changes users, their states and addresses, and lists their memberships', async () => {
    const ada = await person(unique('ada'));
    expect(await root.Users.edit(ada.id, { bio: 'counts eggs' })).toMatchObject({ bio: 'counts eggs' });
    await root.Users.block(ada.id);
    await expect(as(ada.token).Users.showCurrentUser()).rejects.toThrow();
    await root.Users.unblock(ada.id);
    expect(await as(ada.token).Users.showCount()).toMatchObject({ todos: 0, assigned_issues: 0 });
    const address = `${unique('second')}@example.com`;
    const email = await root.UserEmails.create(address, { userId: ada.id, skipConfirmation: true });
    expect((await root.UserEmails.all({ userId: ada.id })).map((one) => one.email)).toContain(address);
    await root.UserEmails.remove(email.id, { userId: ada.id });
    const group = await nest();
    await root.GroupMembers.add(group.id, 20, { userId: ada.id });
    expect(await root.Users.allMemberships(ada.id)).toEqual([
      { source_id: group.id, source_name: group.name, source_type: 'Namespace', access_level: 20 },
    ]);
    expect(await root.Users.allStarredProjects(ada.id)).toEqual([]);
    await root.Users.remove(ada.id);
    await expect(root.Users.show(ada.id)).rejects.toThrow();
  });
});
