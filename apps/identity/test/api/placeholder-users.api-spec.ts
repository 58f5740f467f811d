import { randomUUID } from 'node:crypto';
import { INTERNAL_PATHS } from '@rookery/contracts';
import type { ImportedOwner, UpstreamPerson } from '@rookery/contracts';
import { internalAuthorization } from '@rookery/testing';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';
import { maker } from '../support/groups-and-projects';

let identity: IdentityApp;
let ada: Person;
let admin: Person;
const { group, unique } = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
  admin = await identity.person('chief', { admin: true });
});
afterAll(() => identity.close());

const postAsImport = (path: string, body: object) =>
  identity.app.bare().post(path).set('authorization', internalAuthorization('import', 'identity')).send(body);

/** Creates the project of an import. Returns the key of the import. */
async function importProject(namespace: string): Promise<string> {
  const import_key = randomUUID();
  const answer = await postAsImport(INTERNAL_PATHS.importProject, {
    ...{ user_id: ada.id, namespace, import_key, import_type: 'remote', name: unique('Heron'), description: null },
    ...{ import_url: 'https://git.example/wren/heron.git', default_branch: null, is_private: true },
  }).expect(200);
  expect(answer.body.outcome).toBe('created');
  return import_key;
}

async function findOwners(
  import_key: string,
  people: readonly UpstreamPerson[],
  host = 'git.example',
): Promise<ImportedOwner[]> {
  return (await postAsImport(INTERNAL_PATHS.importPeople, { import_key, host, people }).expect(200)).body
    .owners as ImportedOwner[];
}
const fetchUser = async (id: number) =>
  (await admin.client.get(`/api/v4/users/${id}`).expect(200)).body as Record<string, unknown>;

it('creates one placeholder for each upstream user in a top-level group', async () => {
  const { full_path: path, id } = await group(ada);
  const { full_path: below } = await group(ada, { parent_id: id });
  const [robin, ada2, again] = await findOwners(await importProject(path), [
    { id: 11, username: 'robin' },
    { id: 12, username: 'ada' },
    { id: 11, username: 'renamed' },
  ]);
  expect(again).toEqual(robin);
  expect(robin).toEqual({ user_id: expect.any(Number) as number, is_shared: false });
  expect(await fetchUser(robin!.user_id)).toMatchObject({
    ...{ username: 'robin_placeholder_user_1', name: 'Placeholder robin', state: 'active', confirmed_at: null },
    ...{ can_create_group: false, projects_limit: 0 },
  });
  // A user with the same name here is another person.
  expect(ada2!.user_id).not.toBe(ada.id);
  expect(await fetchUser(ada2!.user_id)).toMatchObject({ username: 'ada_placeholder_user_1' });
  expect(await findOwners(await importProject(below), [{ id: 11, username: 'robin' }])).toEqual([robin]);
});

it('creates other placeholders for other groups and hosts', async () => {
  const [first, second] = [await group(ada), await group(ada)];
  const key = await importProject(first.full_path);
  const person = [{ id: 21, username: 'wren' }];
  const ids = [
    ...(await findOwners(key, person)),
    ...(await findOwners(key, person, 'other.example')),
    ...(await findOwners(await importProject(second.full_path), person)),
  ].map(({ user_id }) => user_id);
  expect(new Set(ids).size).toBe(3);
  const names = await Promise.all(ids.map(async (id) => (await fetchUser(id))['username']));
  expect(names).toEqual(['wren_placeholder_user_1', 'wren_placeholder_user_2', 'wren_placeholder_user_3']);
});

it('creates a placeholder once for many requests at the same time', async () => {
  const key = await importProject((await group(ada)).full_path);
  const answers = await Promise.all(Array.from({ length: 4 }, () => findOwners(key, [{ id: 31, username: 'jay' }])));
  expect(new Set(answers.map(([owner]) => owner!.user_id)).size).toBe(1);
});

it('lets one import user own the objects of personal namespaces', async () => {
  const people = [
    { id: 11, username: 'robin' },
    { id: 12, username: 'merlin' },
  ];
  const [robin, merlin] = await findOwners(await importProject('ada'), people);
  expect(merlin).toEqual(robin);
  expect(robin).toMatchObject({ is_shared: true });
  expect(await fetchUser(robin!.user_id)).toMatchObject({ username: 'import_user', name: 'Import User' });
  expect(await findOwners(await importProject('ada'), people)).toEqual([robin, merlin]);
});

it('gives the objects of deleted users to the ghost user', async () => {
  const key = await importProject((await group(ada)).full_path);
  const [deleted, ghost] = await findOwners(key, [
    { id: null, username: 'ghost' },
    { id: 10137, username: 'Ghost' },
  ]);
  expect(ghost).toEqual(deleted);
  expect(await fetchUser(deleted!.user_id)).toMatchObject({ username: 'ghost' });
});

it('takes any name of an upstream user', async () => {
  const key = await importProject((await group(ada)).full_path);
  const names = ['-a/b', '\u202e', 'x'.repeat(255), 'admin.git', '<script>'];
  const found = await findOwners(
    key,
    names.map((username, at) => ({ id: 41 + at, username })),
  );
  const usernames = await Promise.all(found.map(async ({ user_id: id }) => (await fetchUser(id))['username']));
  expect(usernames).toEqual(
    ['ab', 'user', 'x'.repeat(100), 'admingit', 'script'].map((prefix) => `${prefix}_placeholder_user_1`),
  );
});

it('creates accounts that are not listed, cannot be members and get no tokens', async () => {
  const { id, full_path: path } = await group(ada);
  const [owner] = await findOwners(await importProject(path), [{ id: 51, username: 'kestrel' }]);
  const list = (await ada.client.get('/api/v4/users?search=kestrel&exclude_internal=true').expect(200))
    .body as unknown[];
  expect(list).toEqual([]);
  const member = { user_id: owner!.user_id, access_level: 30 };
  await ada.client.post(`/api/v4/groups/${id}/members`).send(member).expect(404);
  const token = { name: 'x', scopes: ['api'] };
  const answer = await admin.client.post(`/api/v4/users/${owner!.user_id}/personal_access_tokens`).send(token);
  expect(answer.status).toBeGreaterThanOrEqual(400);
});

it('answers nothing for an unknown import, and refuses malformed requests', async () => {
  const body = { import_key: randomUUID(), host: 'git.example', people: [] };
  expect((await postAsImport(INTERNAL_PATHS.importPeople, body).expect(200)).body).toEqual({ owners: null });
  for (const over of [
    { import_key: 'x' },
    { host: null },
    { people: [{ id: '1', username: 'x' }] },
    { people: [{ id: 1, username: 'x\0' }] },
    { people: Array.from({ length: 501 }, (_, id) => ({ id, username: 'x' })) },
  ]) {
    expect((await postAsImport(INTERNAL_PATHS.importPeople, { ...body, ...over }).expect(400)).body).toEqual({
      error: 'people is invalid',
    });
  }
});
