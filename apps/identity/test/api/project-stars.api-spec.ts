import { makeViewer, anonymousViewer, registerListPagingTests, registerVisibilityTests } from '@rookery/testing';
import { maker } from '../support/groups-and-projects';
import type { MadeProject } from '../support/groups-and-projects';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;
const { person, project, join, unique } = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
});
afterAll(() => identity.close());

const createPublicProject = () => project(ada, { visibility: 'public' });
const encodedPathOf = ({ path_with_namespace }: MadeProject) => encodeURIComponent(path_with_namespace);
const fetchStarCount = async (id: number): Promise<number> =>
  (await identity.root.get(`/api/v4/projects/${id}`).expect(200)).body.star_count;

describe('POST /projects/:id/star and /unstar', () => {
  it('return the project with its new count; a second time 304 without a body', async () => {
    const [starred, bob] = [await createPublicProject(), await person()];
    const first = await bob.client.post(`/api/v4/projects/${encodedPathOf(starred)}/star`).send({});
    expect([first.status, first.body.id, first.body.star_count]).toEqual([201, starred.id, 1]);
    expect(first.body).toEqual((await bob.client.get(`/api/v4/projects/${starred.id}`)).body);
    const again = await bob.client.post(`/api/v4/projects/${starred.id}/star`);
    expect([again.status, again.text]).toEqual([304, '']);
    expect((await ada.client.post(`/api/v4/projects/${starred.id}/star`)).body.star_count).toBe(2);

    const gone = await bob.client.post(`/api/v4/projects/${encodedPathOf(starred)}/unstar`);
    expect([gone.status, gone.body.star_count]).toEqual([201, 1]);
    const none = await bob.client.post(`/api/v4/projects/${starred.id}/unstar`);
    expect([none.status, none.text]).toEqual([304, '']);
    expect(await fetchStarCount(starred.id)).toBe(1);
  });

  it('count exactly for concurrent requests, and each user once', async () => {
    const starred = await createPublicProject();
    const people = await Promise.all(Array.from({ length: 8 }, () => person()));
    const rounds = people.flatMap((one) =>
      [one, one, one].map((same) => same.client.post(`/api/v4/projects/${starred.id}/star`)),
    );
    const statuses = (await Promise.all(rounds.map((request) => request))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(8);
    expect(statuses.filter((status) => status === 304)).toHaveLength(16);
    expect(await fetchStarCount(starred.id)).toBe(8);
    const leaving = people.slice(0, 5).map((one) => one.client.post(`/api/v4/projects/${starred.id}/unstar`));
    const coming = [ada.client.post(`/api/v4/projects/${starred.id}/star`)];
    await Promise.all([...leaving, ...coming]);
    expect(await fetchStarCount(starred.id)).toBe(4);
  });

  it('remove the stars of removed users', async () => {
    const [starred, bob] = [await createPublicProject(), await person()];
    await bob.client.post(`/api/v4/projects/${starred.id}/star`).expect(201);
    await identity.db.query(`delete from project_stars where user_id = $1`, [bob.id]);
    expect(await fetchStarCount(starred.id)).toBe(0);
  });

  it('are for all callers who can see the project, archived or not', async () => {
    const starred = await createPublicProject();
    await ada.client.post(`/api/v4/projects/${starred.id}/archive`).expect(201);
    await (await person()).client.post(`/api/v4/projects/${starred.id}/star`).expect(201);
  });

  it.each(['star', 'unstar'])('%s checks in the usual order', async (verb) => {
    const hidden = await project(ada);
    const path = `/api/v4/projects/${hidden.id}/${verb}`;
    const { client } = await person();
    expect((await identity.anonymous.post(path)).body).toEqual({ message: '401 Unauthorized' });
    const scoped = identity.as({ userId: ada.id, username: 'ada', scopes: ['read_api'] });
    expect(await scoped.post(path)).toMatchObject({ status: 403, body: { error: 'insufficient_scope' } });
    for (const ref of [hidden.id, encodedPathOf(hidden), 999_999, 'none%2Fsuch']) {
      const refused = await client.post(`/api/v4/projects/${ref}/${verb}`);
      expect([refused.status, refused.body]).toEqual([404, { message: '404 Project Not Found' }]);
    }
  });
});

describe('GET /projects/:id/starrers', () => {
  it('lists users with the time of their star, newest first', async () => {
    const [starred, bob, cleo] = [await createPublicProject(), await person(), await person()];
    for (const one of [bob, cleo]) await one.client.post(`/api/v4/projects/${starred.id}/star`).expect(201);
    await identity.db.query(`update project_stars set created_at = '2026-01-02T03:04:05.678Z' where user_id = $1`, [
      bob.id,
    ]);
    const { status, body } = await identity.anonymous.get(`/api/v4/projects/${encodedPathOf(starred)}/starrers`);
    expect([status, body.map(({ user }: { user: { id: number } }) => user.id)]).toEqual([200, [cleo.id, bob.id]]);
    expect(body[1]).toEqual({
      starred_since: '2026-01-02T03:04:05.678Z',
      user: {
        id: bob.id,
        username: bob.username,
        public_email: null,
        name: `Name of ${bob.username}`,
        state: 'active',
        locked: false,
        avatar_url: null,
        web_url: `http://localhost:8080/${bob.username}`,
      },
    });
  });

  it('finds users by name or username', async () => {
    const starred = await createPublicProject();
    const [zoe, yan] = [await person({ name: 'Zoe 100%' }), await person({ name: 'Yan' })];
    for (const one of [zoe, yan]) await one.client.post(`/api/v4/projects/${starred.id}/star`).expect(201);
    const found = async (search: string): Promise<number[]> =>
      (await ada.client.get(`/api/v4/projects/${starred.id}/starrers`).query({ search })).body.map(
        ({ user }: { user: { id: number } }) => user.id,
      );
    expect(await found('zOE')).toEqual([zoe.id]);
    expect(await found('0%')).toEqual([zoe.id]);
    expect(await found(yan.username)).toEqual([yan.id]);
    expect(await found('')).toEqual([yan.id, zoe.id]);
  });

  it('shows private profiles only to their user and administrators, and no blocked users', async () => {
    const starred = await createPublicProject();
    const [shy, blocked] = [await person({ private_profile: true }), await person()];
    for (const one of [shy, blocked]) await one.client.post(`/api/v4/projects/${starred.id}/star`).expect(201);
    await identity.root.post(`/api/v4/users/${blocked.id}/block`).expect(201);
    const seen = async (client = ada.client) =>
      (await client.get(`/api/v4/projects/${starred.id}/starrers`)).body.length;
    expect([await seen(), await seen(identity.anonymous), await seen(shy.client), await seen(identity.root)]).toEqual([
      0, 0, 1, 1,
    ]);
  });

  let many: MadeProject;
  beforeAll(async () => {
    many = await createPublicProject();
    for (let i = 0; i < 6; i += 1) await (await person()).client.post(`/api/v4/projects/${many.id}/star`).expect(201);
  });
  registerListPagingTests(() => ({
    app: identity.app,
    viewer: makeViewer({ userId: ada.id, username: 'ada' }),
    path: `/api/v4/projects/${many.id}/starrers`,
    query: { search: 'person' },
    rows: 6,
    key: (row) => (row['user'] as { id: number }).id,
  }));

  registerVisibilityTests({
    app: () => identity.app,
    from: async (level, standing) => {
      const parent = await project(ada, { visibility: level });
      const path = `/api/v4/projects/${parent.id}/starrers`;
      if (standing === 'anonymous') return { viewer: anonymousViewer(), path };
      if (standing === 'admin') return { viewer: makeViewer({ userId: 1, isAdmin: true }), path };
      const isExternal = standing === 'external';
      const one = await identity.person(unique('stand'), isExternal ? { external: true } : {});
      const levels: Record<string, number> = {
        guest: 10,
        planner: 15,
        reporter: 20,
        developer: 30,
        maintainer: 40,
        owner: 50,
      };
      if (levels[standing]) await join(`/api/v4/projects/${parent.id}`, one, levels[standing]);
      return { viewer: makeViewer({ userId: one.id, username: one.username, isExternal }), path };
    },
  });
});
