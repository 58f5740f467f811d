import {
  makeViewer,
  anonymousViewer,
  registerForeignParentTests,
  registerParameterEncodingTests,
} from '@rookery/testing';
import { MembershipExpiryJob } from '../../src/members/expiry.job';
import { inDays, maker } from '../support/groups-and-projects';
import type { MadeGroup } from '../support/groups-and-projects';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;
let bob: Person;
const { group, project, person, join } = maker(() => identity);
/** One user for each level in invited groups. */
let members: { level: number; person: Person }[];
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
  bob = await identity.person('bob');
  members = await Promise.all(LEVELS.map(async (level) => ({ level, person: await person() })));
});
afterAll(() => identity.close());

const LEVELS = [10, 15, 20, 30, 40, 50];
const readDirectoryVersion = async () =>
  (await identity.db.query<{ version: number }>(`select version from directory_head`))[0]!.version;
const listChangesSince = (version: number) =>
  identity.db.query<{ version: number; kind: string; entity_id: number; state: unknown }>(
    `select version, kind, entity_id, state from directory_changes where version > $1 order by version, ordinal`,
    [version],
  );

/** A source that ada owns, and a group of bob's that ada can see. */
const kinds = {
  group: async () => ({ source: await group(ada), base: 'groups' as const, noun: 'Group' }),
  project: async () => ({ source: await project(ada), base: 'projects' as const, noun: 'Project' }),
};
const createInvitedGroup = () => group(bob, { visibility: 'internal' });

describe.each(['group', 'project'] as const)('sharing a %s', (kind) => {
  const sourced = async () => {
    const { source, base, noun } = await kinds[kind]();
    const member =
      kind === 'group' ? (`/api/v4/groups/${source.id}` as const) : (`/api/v4/projects/${source.id}` as const);
    return { source, noun, one: `/api/v4/${base}/${source.id}`, member, invited: await createInvitedGroup() };
  };

  it.each(LEVELS)('gives members of the invited group at most level %i', async (group_access) => {
    const { one, invited } = await sourced();
    for (const { level, person } of members) await join(`/api/v4/groups/${invited.id}`, person, level);
    for (const { person } of members) await person.client.get(one).expect(404);
    await ada.client.post(`${one}/share`).send({ group_id: invited.id, group_access }).expect(201);
    for (const { level, person } of members) {
      await person.client.get(one).expect(200);
      const held = (await ada.client.get(`${one}/members/all/${person.id}`)).body.access_level;
      expect([level, held]).toEqual([level, Math.min(level, group_access)]);
    }
  });

  it('refuses with the documented bodies', async () => {
    const { one, noun, invited } = await sourced();
    const hidden = await group(bob);
    const good = { group_id: invited.id, group_access: 30 };
    const cases: [object, number, unknown][] = [
      [{ group_access: 30 }, 400, { error: 'group_id is missing' }],
      [{ group_id: invited.id }, 400, { error: 'group_access is missing' }],
      [{ ...good, group_id: 'x' }, 400, { error: 'group_id is invalid' }],
      [{ ...good, group_access: 25 }, 400, { error: 'group_access does not have a valid value' }],
      [{ ...good, group_access: 0 }, 400, { error: 'group_access does not have a valid value' }],
      [{ ...good, expires_at: 'soon' }, 400, { error: 'expires_at is invalid' }],
      [{ ...good, group_id: 999_999 }, 404, { message: '404 Group Not Found' }],
      [{ ...good, group_id: bob.namespaceId }, 404, { message: '404 Group Not Found' }],
      [{ ...good, group_id: hidden.id }, 404, { message: '404 Group Not Found' }],
      [{ ...good, expires_at: inDays(-1) }, 409, { message: 'Expires at cannot be a date in the past' }],
    ];
    for (const [body, status, expected] of cases) {
      const response = await ada.client.post(`${one}/share`).send(body);
      expect([body, response.status, response.body]).toEqual([body, status, expected]);
    }
    const outsider = await person();
    const parent = { message: `404 ${noun} Not Found` };
    expect((await outsider.client.post(`${one}/share`).send(good)).body).toEqual(parent);
    expect((await outsider.client.delete(`${one}/share/${invited.id}`)).body).toEqual(parent);
    expect((await identity.anonymous.post(`${one}/share`).send(good)).body).toEqual({ message: '401 Unauthorized' });
    expect((await identity.anonymous.delete(`${one}/share/1`)).body).toEqual({ message: '401 Unauthorized' });
    const readOnly = identity.as({ userId: ada.id, username: 'ada', scopes: ['read_api'] });
    await readOnly.post(`${one}/share`).send(good).expect(403);
  });

  it('happens once, also in concurrent requests', async () => {
    const { one, invited } = await sourced();
    const share = () => ada.client.post(`${one}/share`).send({ group_id: invited.id, group_access: 20 });
    const answers = await Promise.all(Array.from({ length: 6 }, share));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    const message =
      kind === 'group' ? 'The group has already been shared with this group' : 'Group already shared with this group';
    expect((await share()).body).toEqual({ message });
  });

  it('ends with the share', async () => {
    const { one, invited } = await sourced();
    await ada.client.post(`${one}/share`).send({ group_id: invited.id, group_access: 20 }).expect(201);
    await bob.client.get(one).expect(200);
    const late = await ada.client
      .delete(`${one}/share/${invited.id}`)
      .set('if-unmodified-since', 'Thu, 01 Jan 2015 00:00:00 GMT');
    expect([late.status, late.body]).toEqual([412, { message: '412 Precondition Failed' }]);
    const before = await readDirectoryVersion();
    const gone = await ada.client.delete(`${one}/share/${invited.id}`);
    expect([gone.status, gone.text]).toEqual([204, '']);
    await bob.client.get(one).expect(404);
    expect(await listChangesSince(before)).toEqual([
      { version: before + 1, kind: 'share', entity_id: expect.any(Number), state: null },
    ]);
    for (const id of [invited.id, 999_999, bob.namespaceId]) {
      expect((await ada.client.delete(`${one}/share/${id}`)).body).toEqual({ message: '404 Group Link Not Found' });
    }
    const odd = await ada.client.delete(`${one}/share/x`);
    expect([odd.status, odd.body]).toEqual([400, { error: 'group_id is invalid' }]);
    await ada.client.delete(`${one}/share/99999999999999999999`).expect(400);
  });

  it('gives no access from its last day on, and is deleted', async () => {
    const { source, one, invited } = await sourced();
    await ada.client
      .post(`${one}/share`)
      .send({ group_id: invited.id, group_access: 20, expires_at: inDays(2) })
      .expect(201);
    await bob.client.get(one).expect(200);
    await identity.db.query(`update shares set expires_on = $2 where group_id = $1`, [invited.id, inDays(0)]);
    await bob.client.get(one).expect(404);
    expect((await ada.client.get(one)).body.shared_with_groups).toEqual([]);
    await ada.client.delete(`${one}/share/${invited.id}`).expect(404);
    const before = await readDirectoryVersion();
    await identity.app.get(MembershipExpiryJob).run();
    expect(await listChangesSince(before)).toContainEqual(expect.objectContaining({ kind: 'share', state: null }));
    expect(
      await identity.db.query(`select id from shares where source_id = $1 and group_id = $2`, [source.id, invited.id]),
    ).toEqual([]);
  });

  it('works again at once after a former one has expired', async () => {
    const { one, invited } = await sourced();
    const share = (expires_at: string | null) =>
      ada.client.post(`${one}/share`).send({ group_id: invited.id, group_access: 20, expires_at });
    await share(inDays(0)).expect(201);
    await bob.client.get(one).expect(404);
    await share(null).expect(201);
    await bob.client.get(one).expect(200);
  });

  it('is recorded with its state', async () => {
    const { source, one, invited } = await sourced();
    const before = await readDirectoryVersion();
    await ada.client
      .post(`${one}/share`)
      .send({ group_id: invited.id, group_access: 30, expires_at: inDays(5) })
      .expect(201);
    const state = { group_id: invited.id, source_id: source.id, access_level: 30, expires_on: inDays(5) };
    const source_type = kind === 'group' ? 'namespace' : 'project';
    expect(await listChangesSince(before)).toEqual([
      expect.objectContaining({ kind: 'share', state: expect.objectContaining({ ...state, source_type }) }),
    ]);
  });

  it('is refused while the group or one above locks it', async () => {
    const top = await group(ada);
    const below = await group(ada, { parent_id: top.id });
    const inside = await project(ada, { namespace_id: below.id });
    const one = kind === 'group' ? `/api/v4/groups/${below.id}` : `/api/v4/projects/${inside.id}`;
    const invited = await createInvitedGroup();
    const share = () => ada.client.post(`${one}/share`).send({ group_id: invited.id, group_access: 20 });
    for (const locking of [top, below]) {
      await ada.client.put(`/api/v4/groups/${locking.id}`).send({ share_with_group_lock: true }).expect(200);
      const { status, body } = await share();
      expect([status, body]).toEqual([400, { message: `The ${kind} sharing with group is disabled` }]);
      await ada.client.put(`/api/v4/groups/${locking.id}`).send({ share_with_group_lock: false }).expect(200);
    }
    await share().expect(201);
  });

  it('stays within the hierarchy if the top-level group requires it', async () => {
    const top = await group(ada);
    await ada.client
      .put(`/api/v4/groups/${top.id}`)
      .send({ prevent_sharing_groups_outside_hierarchy: true })
      .expect(200);
    const [one, two] = [await group(ada, { parent_id: top.id }), await group(ada, { parent_id: top.id })];
    const inside = await project(ada, { namespace_id: one.id });
    const path = kind === 'group' ? `/api/v4/groups/${one.id}` : `/api/v4/projects/${inside.id}`;
    const share = (group_id: number) => ada.client.post(`${path}/share`).send({ group_id, group_access: 20 });
    const outside = await share((await createInvitedGroup()).id);
    expect([outside.status, outside.body]).toEqual([404, { message: 'Not Found' }]);
    await share(two.id).expect(201);
  });

  it('is refused with the group itself and groups above', async () => {
    const top = await group(ada);
    const own = await group(ada, { parent_id: top.id });
    const below = await group(ada, { parent_id: own.id });
    const inside = await project(ada, { namespace_id: own.id });
    const one = kind === 'group' ? `/api/v4/groups/${own.id}` : `/api/v4/projects/${inside.id}`;
    const share = (group_id: number) => ada.client.post(`${one}/share`).send({ group_id, group_access: 20 });
    const message =
      kind === 'group'
        ? 'Group cannot be shared with itself or one of its ancestors.'
        : 'Project cannot be shared with the group it is in or one of its ancestors.';
    for (const id of [own.id, top.id]) {
      const { status, body } = await share(id);
      expect([status, body]).toEqual([409, { message }]);
    }
    await share(below.id).expect(201);
  });

  it('shows invited groups only to callers who can see them', async () => {
    const source = await group(ada, { visibility: 'public' });
    const inside = await project(ada, { namespace_id: source.id, visibility: 'public' });
    const one = kind === 'group' ? `/api/v4/groups/${source.id}` : `/api/v4/projects/${inside.id}`;
    const secret = await group(ada);
    const open = await group(ada, { visibility: 'internal' });
    for (const { id } of [secret, open]) {
      await ada.client.post(`${one}/share`).send({ group_id: id, group_access: 20 }).expect(201);
    }
    const shown = async (client: typeof identity.anonymous) =>
      ((await client.get(one)).body.shared_with_groups as { group_id: number }[] | undefined)?.map(
        (row) => row.group_id,
      );
    expect(await shown(ada.client)).toEqual([secret.id, open.id]);
    expect(await shown(identity.root)).toEqual([secret.id, open.id]);
    expect(await shown(bob.client)).toEqual([open.id]);
    const external = await person({ external: true });
    expect(await shown(external.client)).toEqual([]);
    if (kind === 'group') expect(await shown(identity.anonymous)).toEqual([]);
  });

  registerParameterEncodingTests({
    app: () => identity.app,
    to: async () => {
      const { one, invited } = await sourced();
      const params = { group_id: invited.id, group_access: 30, expires_at: inDays(3) };
      return { viewer: makeViewer({ userId: ada.id, username: 'ada' }), method: 'POST', path: `${one}/share`, params };
    },
    seen: (body) => {
      const [link] = kind === 'group' ? (body['shared_with_groups'] as Record<string, unknown>[]) : [body];
      return [link!['group_access_level'] ?? link!['group_access'], link!['expires_at']];
    },
    expected: [30, inDays(3)],
  });

  registerForeignParentTests({
    app: () => identity.app,
    viewer: () => makeViewer({ userId: ada.id, username: 'ada' }),
    requests: async () => {
      const { one, invited } = await sourced();
      const other = await sourced();
      await ada.client.post(`${one}/share`).send({ group_id: invited.id, group_access: 20 }).expect(201);
      return [{ method: 'DELETE', path: `${other.one}/share/${invited.id}` }];
    },
  });
});

describe('sharing a group', () => {
  it('returns the group with its shares', async () => {
    const own = await group(ada, { visibility: 'public' });
    const invited = await createInvitedGroup();
    const body = { group_id: invited.id, group_access: '30', expires_at: null };
    const response = await ada.client
      .post(`/api/v4/groups/${encodeURIComponent(own.full_path)}/share`)
      .send(body)
      .expect(201);
    expect(response.body).toMatchObject({
      id: own.id,
      full_path: own.full_path,
      shared_with_groups: [
        {
          group_id: invited.id,
          group_name: invited.name,
          group_full_path: invited.full_path,
          group_access_level: 30,
          expires_at: null,
        },
      ],
    });
    for (const key of ['projects', 'shared_projects', 'runners_token', 'enabled_git_access_protocol'])
      expect(response.body).not.toHaveProperty(key);
  });

  it('is 404 for callers who do not own it, and ending it is 204 without effect', async () => {
    const own = await group(ada, { visibility: 'public' });
    const invited = await createInvitedGroup();
    const secret = await group(ada);
    for (const id of [invited.id, secret.id])
      await ada.client.post(`/api/v4/groups/${own.id}/share`).send({ group_id: id, group_access: 20 }).expect(201);
    for (const level of [10, 20, 30, 40]) {
      const member = await person();
      await join(`/api/v4/groups/${own.id}`, member, level);
      const refused = await member.client
        .post(`/api/v4/groups/${own.id}/share`)
        .send({ group_id: 1, group_access: 10 });
      expect([level, refused.status, refused.body]).toEqual([level, 404, { message: 'Not Found' }]);
      const ignored = await member.client.delete(`/api/v4/groups/${own.id}/share/${invited.id}`);
      expect([ignored.status, ignored.text]).toEqual([204, '']);
      // Such callers learn nothing about groups that they cannot see.
      expect((await member.client.delete(`/api/v4/groups/${own.id}/share/${secret.id}`)).body).toEqual({
        message: '404 Group Link Not Found',
      });
    }
    expect((await ada.client.get(`/api/v4/groups/${own.id}`)).body.shared_with_groups).toHaveLength(2);
    await identity.root.delete(`/api/v4/groups/${own.id}/share/${secret.id}`).expect(204);
  });

  it('lets administrators share any pair', async () => {
    const [one, two] = [await group(ada), await group(bob)];
    await identity.root.post(`/api/v4/groups/${one.id}/share`).send({ group_id: two.id, group_access: 50 }).expect(201);
    expect((await bob.client.get(`/api/v4/groups/${one.id}`)).body.runners_token).toEqual(expect.any(String));
  });

  it('includes members of groups above the invited one, but neither those below it nor shares of shares', async () => {
    const top = await group(bob, { visibility: 'internal' });
    const invited = await group(bob, { parent_id: top.id, visibility: 'internal' });
    const below = await group(bob, { parent_id: invited.id, visibility: 'internal' });
    const friends = await group(bob, { visibility: 'internal' });
    const [above, under, friend] = [await person(), await person(), await person()];
    await join(`/api/v4/groups/${top.id}`, above, 30);
    await join(`/api/v4/groups/${below.id}`, under, 30);
    await join(`/api/v4/groups/${friends.id}`, friend, 30);
    await bob.client
      .post(`/api/v4/groups/${invited.id}/share`)
      .send({ group_id: friends.id, group_access: 50 })
      .expect(201);
    const own = await group(ada);
    const sub = await group(ada, { parent_id: own.id });
    const inside = await project(ada, { namespace_id: sub.id });
    await ada.client
      .post(`/api/v4/groups/${own.id}/share`)
      .send({ group_id: invited.id, group_access: 20 })
      .expect(201);
    const statuses = async (who: Person) =>
      Promise.all(
        [`/api/v4/groups/${own.id}`, `/api/v4/groups/${sub.id}`, `/api/v4/projects/${inside.id}`].map(
          async (path) => (await who.client.get(path)).status,
        ),
      );
    expect(await statuses(above)).toEqual([200, 200, 200]);
    expect(await statuses(under)).toEqual([404, 404, 404]);
    expect(await statuses(friend)).toEqual([404, 404, 404]);
  });

  it('is removed with either group', async () => {
    const [own, invited] = [await group(ada), await createInvitedGroup()];
    await ada.client
      .post(`/api/v4/groups/${own.id}/share`)
      .send({ group_id: invited.id, group_access: 20 })
      .expect(201);
    await bob.client.delete(`/api/v4/groups/${invited.id}`).expect(202);
    const before = await readDirectoryVersion();
    const body = { permanently_remove: true, full_path: `${invited.full_path}-deletion_scheduled-${invited.id}` };
    await bob.client.delete(`/api/v4/groups/${invited.id}`).send(body).expect(202);
    expect((await listChangesSince(before)).map((row) => row.kind)).toContain('share');
    expect((await ada.client.get(`/api/v4/groups/${own.id}`)).body.shared_with_groups).toEqual([]);
  });
});

describe('sharing a project', () => {
  it('returns the share', async () => {
    const own = await project(ada);
    const invited = await createInvitedGroup();
    const { status, body } = await ada.client
      .post(`/api/v4/projects/${encodeURIComponent(own.path_with_namespace)}/share`)
      .send({ group_id: invited.id, group_access: 30 });
    expect([status, body]).toEqual([
      201,
      { id: expect.any(Number), project_id: own.id, group_id: invited.id, group_access: 30, expires_at: null },
    ]);
    expect((await bob.client.get(`/api/v4/projects/${own.id}`)).body.shared_with_groups).toEqual([
      {
        group_id: invited.id,
        group_name: invited.name,
        group_full_path: invited.full_path,
        group_access_level: 30,
        expires_at: null,
      },
    ]);
  });

  it('requires maintainers, who can share and unshare up to their own level', async () => {
    const home = await group(ada, { visibility: 'public' });
    const own = await project(ada, { namespace_id: home.id, visibility: 'public' });
    const [maintainer, developer] = [await person(), await person()];
    await join(`/api/v4/projects/${own.id}`, maintainer, 40);
    await join(`/api/v4/projects/${own.id}`, developer, 30);
    const mine: MadeGroup = await group(maintainer);
    const share = (by: Person, group_access: number) =>
      by.client.post(`/api/v4/projects/${own.id}/share`).send({ group_id: mine.id, group_access });
    for (const [by, level] of [
      [developer, 10],
      [maintainer, 50],
    ] as const) {
      const { status, body } = await share(by, level);
      expect([status, body]).toEqual([403, { message: '403 Forbidden' }]);
    }
    await share(maintainer, 40).expect(201);
    // An owner of the invited group has no additional permission.
    expect(
      (await maintainer.client.get(`/api/v4/projects/${own.id}/members/all/${maintainer.id}`)).body.access_level,
    ).toBe(40);
    expect((await developer.client.delete(`/api/v4/projects/${own.id}/share/${mine.id}`)).body).toEqual({
      message: '403 Forbidden',
    });
    const owners = await group(ada, { visibility: 'internal' });
    await ada.client
      .post(`/api/v4/projects/${own.id}/share`)
      .send({ group_id: owners.id, group_access: 50 })
      .expect(201);
    await maintainer.client.delete(`/api/v4/projects/${own.id}/share/${owners.id}`).expect(403);
    await maintainer.client.delete(`/api/v4/projects/${own.id}/share/${mine.id}`).expect(204);
    await identity.app.as(anonymousViewer()).delete(`/api/v4/projects/${own.id}/share/${owners.id}`).expect(401);
  });
});
