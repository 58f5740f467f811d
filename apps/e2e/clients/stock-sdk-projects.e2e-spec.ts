import { Gitlab } from '@gitbeaker/rest';
import { estate, mark, person } from '../support/estate';

/**
 * Avatars, badges, topics, and lists and deletion of projects with an unmodified public API client.
 * Source: reference identity-and-import 8, 9, 10.2, 14.
 */
const root = new Gitlab({ host: estate.baseUrl, token: estate.rootToken });
let serial = 0;
const unique = (stem: string) => `${stem}${++serial}-${mark}`;
async function nest(options: object = {}) {
  const path = unique('nest');
  return root.Groups.create(path, path, options);
}
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const avatar = { content: new Blob([PNG]), filename: 'owl.png' };
const bytesAt = async (url: unknown) => Buffer.from(await (await fetch(String(url))).arrayBuffer());

describe('avatars', () => {
  it('of topics are sent in a part called `file`', async () => {
    const made = await root.Topics.create(unique('owls'), { title: 'Owls', avatar } as object);
    expect(await bytesAt(made.avatar_url)).toEqual(PNG);
    const plain = await root.Topics.create(unique('larks'), { title: 'Larks' } as object);
    expect(plain.avatar_url).toBeNull();
    const changed = await root.Topics.edit(plain.id, { title: 'Night larks', avatar } as object);
    expect(changed).toMatchObject({ title: 'Night larks', avatar_url: expect.stringMatching(/\/owl\.png$/) });
    expect((await root.Topics.all({ search: plain.name })).map(({ id }) => id)).toEqual([plain.id]);
  });

  it('of projects are sent on creation or later, and removed', async () => {
    const { id } = await nest({ visibility: 'public' });
    const made = await root.Projects.create({ name: 'owls', namespaceId: id, visibility: 'public', avatar } as never);
    expect(await bytesAt(made.avatar_url)).toEqual(PNG);
    expect(await root.Projects.removeAvatar(made.id)).toMatchObject({ avatar_url: null });
    expect(await root.Projects.uploadAvatar(made.id, avatar as never)).toMatchObject({
      avatar_url: expect.stringMatching(/\/owl\.png$/),
    });
    const edited = await root.Projects.edit(made.id, { description: 'at night', avatar } as object);
    expect(edited).toMatchObject({ description: 'at night', avatar_url: expect.stringMatching(/\/owl\.png$/) });
  });
});

describe.each(['Project', 'Group'] as const)('badges of a %s', (kind) => {
  it('are added, changed, found, previewed and removed', async () => {
    const group = await nest();
    const project = await root.Projects.create({ name: 'eggs', namespaceId: group.id });
    const badges = root[`${kind}Badges`];
    const id = kind === 'Group' ? group.id : project.id;
    const link = 'http://ci/%{project_path}';
    const added = await badges.add(id, link, 'http://ci/%{default_branch}.svg', { name: 'build' });
    const rendered_link_url = `http://ci/${group.path}/eggs`;
    expect(added).toMatchObject({ kind: kind.toLowerCase(), rendered_link_url });
    expect(await badges.edit(id, added.id, { name: 'state' })).toMatchObject({ name: 'state', link_url: link });
    expect((await badges.all(id, { name: 'state' })).map((one) => one.id)).toEqual([added.id]);
    expect(await badges.all(id, { name: 'build' })).toEqual([]);
    expect(await badges.show(id, added.id)).toMatchObject({ rendered_link_url });
    expect(await badges.preview(id, link, 'http://ci/x')).toMatchObject({ name: null, rendered_link_url });
    await badges.remove(id, added.id);
    await expect(badges.show(id, added.id)).rejects.toMatchObject({ cause: { description: '404 Not found' } });
  });
});

describe('projects', () => {
  it('are created for other users, found and listed', async () => {
    const ada = await person(unique('ada'));
    const topic = unique('topic');
    const made = await root.Projects.create({ userId: ada.id, name: unique('hers'), topics: [topic] });
    expect(made).toMatchObject({ creator_id: ada.id, namespace: { kind: 'user' }, topics: [topic] });
    const only = [made.id];
    for (const found of [
      root.Projects.search(made.name),
      root.Projects.all({ userId: ada.id } as object),
      root.Projects.all({ topic }),
      root.Projects.all({ search: made.name, pagination: 'keyset', orderBy: 'id', sort: 'asc', perPage: 1 }),
      new Gitlab({ host: estate.baseUrl, token: ada.token }).Projects.all({ membership: true }),
    ]) {
      expect((await found).map((project) => project['id'])).toEqual(only);
    }
    await root.ProjectCustomAttributes.set(made.id, 'tree', topic);
    const marked = await root.Projects.all({ customAttributes: { tree: topic }, withCustomAttributes: true } as object);
    expect(marked).toEqual([
      expect.objectContaining({ id: made.id, custom_attributes: [{ key: 'tree', value: topic }] }),
    ]);
    expect((await root.Projects.allUsers(made.id)).map((user) => user.id)).toEqual([ada.id]);
    expect(await root.Projects.show(made.path_with_namespace, { statistics: true })).toMatchObject({
      id: made.id,
      statistics: { storage_size: 0 },
    });
  });

  it('are marked for deletion, restored and removed for good', async () => {
    const { id, path_with_namespace: path } = await root.Projects.create({ name: unique('gone') });
    await root.Projects.remove(id);
    expect(await root.Projects.restore(id)).toMatchObject({ marked_for_deletion_on: null, path_with_namespace: path });
    await root.Projects.remove(id);
    const { path_with_namespace: fullPath } = await root.Projects.show(id);
    await root.Projects.remove(id, { permanentlyRemove: true, fullPath } as object);
    await expect(root.Projects.show(id)).rejects.toMatchObject({ cause: { description: '404 Project Not Found' } });
  });
});
