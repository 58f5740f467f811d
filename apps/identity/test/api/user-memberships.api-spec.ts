import { makeViewer, registerListPagingTests } from '@rookery/testing';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;
let bob: Person;
let groups: number[];
let project: number;
beforeAll(async () => {
  identity = await startIdentity();
  [ada, bob] = [await identity.person('ada'), await identity.person('bob')];
  groups = [];
  for (const name of ['one', 'two', 'three', 'four', 'five']) {
    const { id } = (
      await ada.client
        .post('/api/v4/groups')
        .send({ name, path: `g-${name}` })
        .expect(201)
    ).body as { id: number };
    await ada.client.post(`/api/v4/groups/${id}/members`).send({ user_id: bob.id, access_level: 30 }).expect(201);
    groups.push(id);
  }
  // Below the first group, so its membership is inherited and not listed.
  project = (await ada.client.post('/api/v4/projects').send({ name: 'tool', namespace_id: groups[0] }).expect(201)).body
    .id;
  const own = (await ada.client.post('/api/v4/projects').send({ name: 'own' }).expect(201)).body.id;
  await ada.client.post(`/api/v4/projects/${own}/members`).send({ user_id: bob.id, access_level: 40 }).expect(201);
});
afterAll(() => identity.close());

const requestMemberships = (query: Record<string, unknown> = {}, id = bob.id) =>
  identity.root.get(`/api/v4/users/${id}/memberships`).query(query);

describe('GET /users/:id/memberships', () => {
  it('lists direct memberships in groups and projects', async () => {
    const { body } = await requestMemberships().expect(200);
    expect(body).toHaveLength(6);
    expect(body[0]).toEqual({ source_id: groups[0], source_name: 'one', source_type: 'Namespace', access_level: 30 });
    expect(body[5]).toEqual({
      source_id: expect.any(Number),
      source_name: 'own',
      source_type: 'Project',
      access_level: 40,
    });
    expect(
      body.map((one: { source_id: number; source_type: string }) => [one.source_type, one.source_id]),
    ).not.toContainEqual(['Project', project]);
  });

  it('is filtered by type', async () => {
    expect(
      (await requestMemberships({ type: 'Project' })).body.map((one: { source_name: string }) => one.source_name),
    ).toEqual(['own']);
    expect((await requestMemberships({ type: 'Namespace' })).body).toHaveLength(5);
    const refused = await requestMemberships({ type: 'group' });
    expect([refused.status, refused.body]).toEqual([400, { error: 'type does not have a valid value' }]);
  });

  it('excludes shares and expired memberships', async () => {
    const cleo = await identity.person('cleo');
    const { id } = (await ada.client.post('/api/v4/groups').send({ name: 'six', path: 'g-six' }).expect(201)).body as {
      id: number;
    };
    await ada.client.post(`/api/v4/groups/${id}/members`).send({ user_id: cleo.id, access_level: 30 }).expect(201);
    await identity.db.query(
      `insert into shares (source_type, source_id, group_id, access_level) values ('namespace', $1, $2, 30)`,
      [groups[1], id],
    );
    expect((await requestMemberships({}, cleo.id)).body).toHaveLength(1);
    await identity.db.query(`update members set expires_on = current_date where user_id = $1`, [cleo.id]);
    expect((await requestMemberships({}, cleo.id)).body).toEqual([]);
  });

  it('is for administrators, and for existing users', async () => {
    expect((await bob.client.get(`/api/v4/users/${bob.id}/memberships`)).body).toEqual({ message: '403 Forbidden' });
    expect((await identity.anonymous.get(`/api/v4/users/${bob.id}/memberships`)).body).toEqual({
      message: '401 Unauthorized',
    });
    expect((await requestMemberships({}, 987654321)).body).toEqual({ message: '404 User Not Found' });
  });

  registerListPagingTests(() => ({
    app: identity.app,
    viewer: makeViewer({ userId: 1, username: 'root', isAdmin: true }),
    path: `/api/v4/users/${bob.id}/memberships`,
    rows: 6,
    key: (row) => `${row['source_type'] as string} ${row['source_id'] as number}`,
  }));
});
