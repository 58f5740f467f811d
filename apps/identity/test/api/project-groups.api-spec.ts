import { makeViewer, registerListPagingTests, registerVisibilityTests } from '@rookery/testing';
import { inDays, maker } from '../support/groups-and-projects';
import type { MadeGroup, MadeProject } from '../support/groups-and-projects';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';
import { standpoint } from '../support/standings';

let identity: IdentityApp;
let ada: Person;
let bob: Person;
let above: MadeGroup[];
let invited: MadeGroup;
let secret: MadeGroup;
let deep: MadeProject;
const { group, project, join, unique } = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
  bob = await identity.person('bob');
  above = [await group(ada, { name: unique('Top'), visibility: 'public' })];
  for (let i = 0; i < 4; i++) above.push(await group(ada, { parent_id: above.at(-1)!.id, visibility: 'public' }));
  deep = await project(ada, { namespace_id: above[4]!.id, visibility: 'public' });
  [invited, secret] = [await group(ada, { visibility: 'public' }), await group(ada)];
  const gone = await group(ada, { visibility: 'public' });
  const share = (group_id: number, group_access: number) =>
    ada.client
      .post(`/api/v4/projects/${deep.id}/share`)
      .send({ group_id, group_access, expires_at: inDays(3) })
      .expect(201);
  await share(invited.id, 20);
  await share(secret.id, 40);
  await share(gone.id, 40);
  await identity.db.query(`update shares set expires_on = current_date where group_id = $1`, [gone.id]);
});
afterAll(() => identity.close());

const idsOf = (groups: readonly { id: number }[]) => groups.map((one) => one.id);
const listGroupIds = async (query: object = {}, client = identity.anonymous) =>
  idsOf((await client.get(`/api/v4/projects/${deep.id}/groups`).query({ ...query })).body);

describe('GET /projects/:id/groups', () => {
  it('lists the groups above, up to the top level', async () => {
    const { status, body } = await identity.anonymous.get(
      `/api/v4/projects/${encodeURIComponent(deep.path_with_namespace)}/groups`,
    );
    expect([status, idsOf(body)]).toEqual([200, idsOf(above)]);
    expect(body[1]).toEqual({
      id: above[1]!.id,
      web_url: `http://localhost:8080/groups/${above[1]!.full_path}`,
      name: above[1]!.name,
      avatar_url: null,
      full_name: `${above[0]!.name} / ${above[1]!.name}`,
      full_path: above[1]!.full_path,
    });
  });

  it('adds invited groups that the caller can see', async () => {
    expect(await listGroupIds({ with_shared: true })).toEqual([...idsOf(above), invited.id]);
    expect(await listGroupIds({ with_shared: 'True' }, bob.client)).toEqual([...idsOf(above), invited.id]);
    for (const client of [ada.client, identity.root]) {
      expect(await listGroupIds({ with_shared: true }, client)).toEqual([...idsOf(above), invited.id, secret.id]);
    }
    expect(await listGroupIds({ with_shared: true, shared_min_access_level: 30 }, ada.client)).toEqual([
      ...idsOf(above),
      secret.id,
    ]);
  });

  it('filters by name and excludes groups', async () => {
    expect(await listGroupIds({ search: 'TOP' })).toEqual([above[0]!.id]);
    expect(await listGroupIds({ search: '%' })).toEqual([]);
    expect(await listGroupIds({ 'skip_groups[]': [above[0]!.id, above[2]!.id] })).toEqual(
      idsOf([above[1]!, above[3]!, above[4]!]),
    );
    expect(await listGroupIds({ skip_groups: `${above[0]!.id},${above[1]!.id}`, per_page: 1 })).toEqual([above[2]!.id]);
    const bad = await identity.anonymous.get(`/api/v4/projects/${deep.id}/groups?skip_groups=x`);
    expect([bad.status, bad.body]).toEqual([400, { error: 'skip_groups is invalid' }]);
  });

  it('is empty for a personal project, and answers 404 for one that the caller cannot see', async () => {
    const own = await project(ada);
    expect((await ada.client.get(`/api/v4/projects/${own.id}/groups`)).body).toEqual([]);
    const unseen = await bob.client.get(`/api/v4/projects/${own.id}/groups`);
    expect([unseen.status, unseen.body]).toEqual([404, { message: '404 Project Not Found' }]);
  });

  it('lists private groups above only to members of the project, whose path names them too', async () => {
    const hidden = await group(ada);
    const inside = await project(ada, { namespace_id: hidden.id });
    await join(`/api/v4/projects/${inside.id}`, bob, 10);
    expect(idsOf((await bob.client.get(`/api/v4/projects/${inside.id}/groups`)).body)).toEqual([hidden.id]);
  });

  registerVisibilityTests({
    app: () => identity.app,
    from: async (level, standing) => {
      const { id } = await project(ada, { visibility: level });
      return standpoint(identity, standing, `/api/v4/projects/${id}`, `/api/v4/projects/${id}/groups`);
    },
  });

  registerListPagingTests(() => ({
    app: identity.app,
    viewer: makeViewer({ userId: bob.id, username: 'bob' }),
    path: `/api/v4/projects/${deep.id}/groups`,
    query: { with_shared: false },
    rows: 5,
  }));
});
