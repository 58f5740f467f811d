import { makeViewer, registerListPagingTests } from '@rookery/testing';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
});
afterAll(() => identity.close());

let serial = 0;
const uniqueName = (stem: string) => `${stem}-${++serial}`;
const createPerson = (over = {}) => identity.person(uniqueName('person'), over);
const createGroupOrProject = async (kind: 'group' | 'project', over: Readonly<Record<string, unknown>> = {}) => {
  const path = uniqueName(kind);
  const { body } = await ada.client
    .post(`/api/v4/${kind}s`)
    .send({ name: path, path, ...over })
    .expect(201);
  return body as { id: number; path: string };
};
const sortedIdsOf = (body: { id: number }[]) => body.map((row) => row.id).sort((a, b) => a - b);

/** A public project, and a private group invited to it with one member of its own. */
async function createInvitation() {
  const host = await createGroupOrProject('project', { visibility: 'public' });
  const secret = await createGroupOrProject('group', { visibility: 'private' });
  const agent = await createPerson();
  await ada.client
    .post(`/api/v4/groups/${secret.id}/members`)
    .send({ user_id: agent.id, access_level: 30 })
    .expect(201);
  await identity.db.query(
    `insert into shares (source_type, source_id, group_id, access_level) values ('project', $1, $2, 20)`,
    [host.id, secret.id],
  );
  return { host, secret, agent };
}

describe('members of an invited private group', () => {
  it.each(['members/all', 'users'])('are in %s for members of the source', async (list) => {
    const { host, agent } = await createInvitation();
    const [member, stranger] = [await createPerson(), await createPerson()];
    await ada.client
      .post(`/api/v4/projects/${host.id}/members`)
      .send({ user_id: member.id, access_level: 10 })
      .expect(201);
    const path = `/api/v4/projects/${host.id}/${list}`;
    const everybody = [ada.id, agent.id, member.id].sort((a, b) => a - b);
    expect(sortedIdsOf((await member.client.get(path)).body)).toEqual(everybody);
    expect(sortedIdsOf((await agent.client.get(path)).body)).toEqual(everybody);
    expect(sortedIdsOf((await identity.root.get(path)).body)).toEqual(everybody);
    const open = everybody.filter((id) => id !== agent.id);
    const seen = await stranger.client.get(path);
    expect(sortedIdsOf(seen.body)).toEqual(open);
    expect(seen.get('x-total')).toBe('2');
    if (list === 'users') expect(sortedIdsOf((await identity.anonymous.get(path)).body)).toEqual(open);
    else await stranger.client.get(`${path}/${agent.id}`).expect(404);
  });

  it('are shown to other callers if they are members of that group, and to all once it is public', async () => {
    const { host, secret, agent } = await createInvitation();
    const insider = await createPerson();
    const below = await createGroupOrProject('group', { parent_id: secret.id, visibility: 'private' });
    await ada.client
      .post(`/api/v4/groups/${below.id}/members`)
      .send({ user_id: insider.id, access_level: 30 })
      .expect(201);
    const path = `/api/v4/projects/${host.id}/users`;
    // A member of a subgroup of the invited group gets no level by the invitation and cannot see it.
    expect(sortedIdsOf((await insider.client.get(path)).body)).not.toContain(agent.id);
    await ada.client.put(`/api/v4/groups/${secret.id}`).send({ visibility: 'internal' }).expect(200);
    expect(sortedIdsOf((await insider.client.get(path)).body)).toContain(agent.id);
    expect(sortedIdsOf((await identity.anonymous.get(path)).body)).not.toContain(agent.id);
    const outside = await createPerson({ external: true });
    expect(sortedIdsOf((await outside.client.get(path)).body)).not.toContain(agent.id);
  });
});

describe('users of a project', () => {
  it('are summaries, with search and exclusion', async () => {
    const host = await createGroupOrProject('project', { visibility: 'public' });
    const bob = await createPerson();
    await ada.client
      .post(`/api/v4/projects/${host.id}/members`)
      .send({ user_id: bob.id, access_level: 30 })
      .expect(201);
    const path = `/api/v4/projects/${encodeURIComponent(`ada/${host.path}`)}/users`;
    const found = await identity.anonymous.get(path).query({ search: bob.username.toUpperCase() });
    expect(found.body).toEqual([
      {
        id: bob.id,
        username: bob.username,
        public_email: null,
        name: `Name of ${bob.username}`,
        state: 'active',
        locked: false,
        avatar_url: null,
        web_url: `http://localhost:8080/${bob.username}`,
      },
    ]);
    expect(sortedIdsOf((await ada.client.get(path).query({ 'skip_users[]': [bob.id] })).body)).toEqual([ada.id]);
    expect((await ada.client.get(path).query({ skip_users: 'x' })).body).toEqual({ error: 'skip_users is invalid' });
  });

  describe('in pages', () => {
    let path: string;
    beforeAll(async () => {
      const { id } = await createGroupOrProject('project', { visibility: 'public' });
      path = `/api/v4/projects/${id}/users`;
      for (let i = 0; i < 4; i++) {
        const { id: userId } = await createPerson();
        await ada.client.post(`/api/v4/projects/${id}/members`).send({ user_id: userId, access_level: 20 }).expect(201);
      }
    });
    registerListPagingTests(() => ({
      app: identity.app,
      viewer: makeViewer({ userId: ada.id, username: 'ada' }),
      path,
      rows: 5,
    }));
  });

  it('are hidden with their project', async () => {
    const host = await createGroupOrProject('project', { visibility: 'private' });
    for (const client of [identity.anonymous, (await createPerson()).client])
      expect(await client.get(`/api/v4/projects/${host.id}/users`)).toMatchObject({
        status: 404,
        body: { message: '404 Project Not Found' },
      });
  });
});

describe('membership rules', () => {
  it('placeholders cannot be members', async () => {
    const host = await createGroupOrProject('group');
    const ghost = await createPerson();
    await identity.db.query(`update users set kind = 'placeholder' where id = $1`, [ghost.id]);
    for (const who of [{ user_id: ghost.id }, { username: ghost.username }])
      expect(
        await ada.client.post(`/api/v4/groups/${host.id}/members`).send({ ...who, access_level: 10 }),
      ).toMatchObject({
        status: 404,
        body: { message: '404 User Not Found' },
      });
  });

  it('a bot that owns a group does not count as another owner', async () => {
    const host = await createGroupOrProject('group');
    const bot = await createPerson();
    await ada.client.post(`/api/v4/groups/${host.id}/members`).send({ user_id: bot.id, access_level: 50 }).expect(201);
    await identity.db.query(`update users set kind = 'project_bot' where id = $1`, [bot.id]);
    await ada.client.delete(`/api/v4/groups/${host.id}/members/${ada.id}`).expect(403);
  });

  it.each([
    ['group', true],
    ['project', true],
    ['group', false],
  ] as const)('unassign_issuables at a %s is published in the event: %s', async (kind, unassigns) => {
    const host = await createGroupOrProject(kind);
    const bob = await createPerson();
    await ada.client
      .post(`/api/v4/${kind}s/${host.id}/members`)
      .send({ user_id: bob.id, access_level: 30 })
      .expect(201);
    await ada.client
      .delete(`/api/v4/${kind}s/${host.id}/members/${bob.id}`)
      .send({ unassign_issuables: unassigns, skip_subresources: kind === 'group' });
    const events = await identity.db.query<{ data: unknown }>(
      `select payload as data from outbox where subject = 'identity.member.unassigned.v1'
         and (payload->>'user_id')::bigint = $1`,
      [bob.id],
    );
    const data = { user_id: bob.id, source_type: kind, source_id: host.id, includes_below: kind !== 'group' };
    expect(events).toEqual(unassigns ? [{ data }] : []);
  });
});
