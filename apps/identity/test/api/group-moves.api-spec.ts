import { randomBytes } from 'node:crypto';
import {
  makeViewer,
  anonymousViewer,
  registerListPagingTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
} from '@rookery/testing';
import { maker } from '../support/groups-and-projects';
import type { MadeGroup } from '../support/groups-and-projects';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;
let bob: Person;
const { group, project, person, join, unique } = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
  bob = await identity.person('bob');
});
afterAll(() => identity.close());

const transferGroup = (by: Person, from: { id: number }, group_id?: number | string | null) =>
  by.client.post(`/api/v4/groups/${from.id}/transfer`).send(group_id === undefined ? {} : { group_id });
const readDirectoryVersion = async () =>
  (await identity.db.query<{ version: number }>(`select version from directory_head`))[0]!.version;
const readNamespaceRow = async (id: number) =>
  (await identity.db.query<Record<string, unknown>>(`select * from namespaces where id = $1`, [id]))[0]!;
const transferFailure = (reason: string) => [400, { message: `Transfer failed: ${reason}` }];
const statusAndBody = async (response: ReturnType<typeof transferGroup>) => {
  const { status, body } = await response;
  return [status, body];
};

describe('POST /groups/:id/transfer', () => {
  it('moves a group with all its contents, in one version', async () => {
    const [target, top] = [await group(ada, { name: 'Target' }), await group(ada, { name: 'Top' })];
    const child = await group(ada, { parent_id: top.id, name: 'Child' });
    const inside = await project(ada, { namespace_id: child.id, path: 'web', name: 'Web' });
    const before = await readDirectoryVersion();
    const { body } = await transferGroup(ada, top, target.id).expect(201);
    expect(body).toMatchObject({
      id: top.id,
      parent_id: target.id,
      full_path: `${target.full_path}/${top.path}`,
      full_name: 'Target / Top',
      shared_with_groups: [],
    });
    for (const key of ['projects', 'shared_projects', 'runners_token', 'enabled_git_access_protocol'])
      expect(body).not.toHaveProperty(key);
    expect(await readDirectoryVersion()).toBe(before + 1);
    const changed = await identity.db.query<{ kind: string; entity_id: number; state: Record<string, unknown> }>(
      `select kind, entity_id, state from directory_changes where version = $1 order by ordinal`,
      [before + 1],
    );
    expect(changed.map(({ kind, entity_id, state }) => [kind, entity_id, state['traversal_ids']])).toEqual([
      ['namespace', top.id, [target.id, top.id]],
      ['namespace', child.id, [target.id, top.id, child.id]],
    ]);
    const events = await identity.db.query(
      `select payload, directory_version from outbox where subject = 'identity.group.moved.v1' order by id desc limit 1`,
    );
    expect(events).toEqual([{ payload: { group_id: top.id }, directory_version: before + 1 }]);
    expect((await ada.client.get(`/api/v4/groups/${child.id}`)).body).toMatchObject({
      full_path: `${target.full_path}/${top.path}/${child.path}`,
      full_name: 'Target / Top / Child',
    });
    const there = `${target.full_path}/${top.path}/${child.path}/web`;
    expect((await ada.client.get(`/api/v4/projects/${encodeURIComponent(there)}`)).body.id).toBe(inside.id);
    const former = await ada.client.get(`/api/v4/projects/${encodeURIComponent(inside.path_with_namespace)}`);
    expect([former.status, former.get('location')]).toEqual([
      301,
      `http://localhost:8080/api/v4/projects/${inside.id}`,
    ]);
    expect((await ada.client.get(`/api/v4/groups/${target.id}/subgroups`)).body).toEqual([
      expect.objectContaining({ id: top.id }),
    ]);
    expect(
      (await identity.db.query(`select namespace_id from namespace_ancestors where ancestor_id = $1`, [target.id]))
        .length,
    ).toBe(3);
    // The former path is free, and the new one is taken.
    expect((await group(ada, { path: top.path, name: 'Again' })).full_path).toBe(top.path);
    const taken = await ada.client.post('/api/v4/groups').send({ name: 'x', path: top.path, parent_id: target.id });
    expect(taken.body.message).toContain('has already been taken');
  });

  it.each([undefined, null, ''])('moves to the top level without a parent (%j)', async (nothing) => {
    const top = await group(ada, { name: 'Home' });
    const child = await group(ada, { parent_id: top.id, name: 'Child' });
    const below = await group(ada, { parent_id: child.id });
    const { status, body } = await transferGroup(ada, child, nothing);
    expect([status, body.parent_id, body.full_path, body.full_name]).toEqual([201, null, child.path, 'Child']);
    expect((await ada.client.get(`/api/v4/groups/${below.id}`)).body.full_path).toBe(`${child.path}/${below.path}`);
    // There was no direct owner, so the caller becomes one.
    expect((await ada.client.get(`/api/v4/groups/${child.id}/members`)).body).toEqual([
      expect.objectContaining({ id: ada.id, access_level: 50 }),
    ]);
  });

  it('accepts paths, and moves between parents', async () => {
    const [one, two] = [await group(ada), await group(ada)];
    const child = await group(ada, { parent_id: one.id });
    const path = `/api/v4/groups/${encodeURIComponent(child.full_path)}/transfer`;
    const { status, body } = await ada.client.post(path).send({ group_id: two.id });
    expect([status, body.full_path]).toEqual([201, `${two.full_path}/${child.path}`]);
  });

  it('raises a lower membership when it makes the caller an owner, and keeps existing owners', async () => {
    const top = await group(ada);
    await join(`/api/v4/groups/${top.id}`, bob, 50);
    const [one, two] = [await group(ada, { parent_id: top.id }), await group(ada, { parent_id: top.id })];
    const members = async ({ id }: MadeGroup) =>
      (await identity.root.get(`/api/v4/groups/${id}/members`)).body.map((m: { id: number; access_level: number }) => [
        m.id,
        m.access_level,
      ]);
    await identity.db.query(
      `insert into members (user_id, source_type, source_id, access_level, expires_on) values ($1, 'namespace', $2, 20, '2099-01-01')`,
      [bob.id, one.id],
    );
    await join(`/api/v4/groups/${two.id}`, ada, 50);
    await transferGroup(bob, one).expect(201);
    await transferGroup(bob, two).expect(201);
    expect(await members(one)).toEqual([[bob.id, 50]]);
    expect(await members(two)).toEqual([[ada.id, 50]]);
    const [membership] = await identity.db.query<{ expires_on: string | null }>(
      `select expires_on from members where source_type = 'namespace' and source_id = $1`,
      [one.id],
    );
    expect(membership!.expires_on).toBeNull();
    // Inherited levels ended with the move.
    await bob.client.get(`/api/v4/groups/${two.id}`).expect(404);
  });

  it('lowers the visibility of the moved contents', async () => {
    const target = await group(ada, { visibility: 'internal' });
    const top = await group(ada, { visibility: 'public' });
    const open = await group(ada, { parent_id: top.id, visibility: 'public' });
    const closed = await group(ada, { parent_id: top.id, visibility: 'private' });
    const shown = await project(ada, { namespace_id: open.id, visibility: 'public' });
    const hidden = await project(ada, { namespace_id: open.id, visibility: 'private' });
    const before = await readDirectoryVersion();
    await transferGroup(ada, top, target.id);
    const visibility = async (path: string) => (await ada.client.get(path)).body.visibility;
    expect(await visibility(`/api/v4/groups/${top.id}`)).toBe('internal');
    expect(await visibility(`/api/v4/groups/${open.id}`)).toBe('internal');
    expect(await visibility(`/api/v4/groups/${closed.id}`)).toBe('private');
    expect(await visibility(`/api/v4/projects/${shown.id}`)).toBe('internal');
    expect(await visibility(`/api/v4/projects/${hidden.id}`)).toBe('private');
    const changes = await identity.db.query<{ version: number; kind: string; entity_id: number }>(
      `select version, kind, entity_id from directory_changes where version > $1`,
      [before],
    );
    expect(new Set(changes.map(({ version }) => version)).size).toBe(1);
    expect(changes).toContainEqual(expect.objectContaining({ kind: 'project', entity_id: shown.id }));
    expect(changes).not.toContainEqual(expect.objectContaining({ kind: 'project', entity_id: hidden.id }));
  });

  it('applies the plan of the new root, and drops settings of top-level groups', async () => {
    const [free, top] = [await group(ada), await group(ada)];
    const child = await group(ada, { parent_id: top.id });
    await identity.db.query(`update namespaces set plan = 'free' where id = $1`, [free.id]);
    await ada.client
      .put(`/api/v4/groups/${top.id}`)
      .send({ prevent_sharing_groups_outside_hierarchy: true })
      .expect(200);
    await transferGroup(ada, top, free.id);
    expect([(await readNamespaceRow(top.id))['plan'], (await readNamespaceRow(child.id))['plan']]).toEqual([
      'free',
      'free',
    ]);
    expect((await readNamespaceRow(top.id))['settings']).toEqual({});
    await transferGroup(ada, child, null);
    expect([(await readNamespaceRow(top.id))['plan'], (await readNamespaceRow(child.id))['plan']]).toEqual([
      'free',
      'ultimate',
    ]);
  });

  it('answers the reason of a failure', async () => {
    const top = await group(ada);
    const child = await group(ada, { parent_id: top.id });
    const below = await group(ada, { parent_id: child.id });
    expect(await statusAndBody(transferGroup(ada, top))).toEqual(transferFailure('Group is already a root group.'));
    expect(await statusAndBody(transferGroup(ada, child, top.id))).toEqual(
      transferFailure('Group is already associated to the parent group.'),
    );
    for (const id of [child.id, below.id])
      expect(await statusAndBody(transferGroup(ada, child, id))).toEqual(
        transferFailure('Cannot transfer group to one of its subgroup.'),
      );

    const foreign = await group(bob, { visibility: 'public' });
    expect(await statusAndBody(transferGroup(ada, child, foreign.id))).toEqual(
      transferFailure("You don't have enough permissions."),
    );
    await join(`/api/v4/groups/${foreign.id}`, ada, 40);
    await bob.client.put(`/api/v4/groups/${foreign.id}`).send({ subgroup_creation_level: 'owner' }).expect(200);
    expect(await statusAndBody(transferGroup(ada, child, foreign.id))).toEqual(
      transferFailure("You don't have enough permissions."),
    );
    await bob.client.put(`/api/v4/groups/${foreign.id}`).send({ subgroup_creation_level: 'maintainer' }).expect(200);
    await transferGroup(ada, child, foreign.id).expect(201);
  });

  it('fails for a taken or invalid path or name, and beyond the maximum depth', async () => {
    const [top, other] = [await group(ada), await group(ada)];
    const same = 'The parent group already has a subgroup or a project with the same path.';
    const one = await group(ada, { parent_id: top.id, path: 'twin', name: 'One' });
    await project(ada, { namespace_id: other.id, path: 'twin', name: 'Whatever' });
    expect(await statusAndBody(transferGroup(ada, one, other.id))).toEqual(transferFailure(same));
    const user = await group(ada, { parent_id: top.id, path: 'BOB', name: 'Bob' });
    expect(await statusAndBody(transferGroup(ada, user))).toEqual(transferFailure(same));
    const reserved = await group(ada, { parent_id: top.id, path: 'admin', name: 'Admin' });
    expect(await statusAndBody(transferGroup(ada, reserved))).toEqual(
      transferFailure('Validation failed: Path admin is a reserved name'),
    );
    const named = await group(ada, { parent_id: top.id, name: 'Same name' });
    await group(ada, { parent_id: other.id, name: 'Same name' });
    expect(await statusAndBody(transferGroup(ada, named, other.id))).toEqual(
      transferFailure('Validation failed: Name has already been taken'),
    );
    let deep = await group(ada);
    for (let depth = 2; depth <= 18; depth++) deep = await group(ada, { parent_id: deep.id });
    await group(ada, { parent_id: (await group(ada, { parent_id: named.id })).id });
    expect(await statusAndBody(transferGroup(ada, named, deep.id))).toEqual(
      transferFailure('Validation failed: Parent has too deep level of nesting'),
    );
    expect((await ada.client.get(`/api/v4/groups/${named.id}`)).body.parent_id).toBe(top.id);
  });

  it('requires the permission to create top-level groups for a move to the top level', async () => {
    const external = await person({ external: true });
    const top = await group(ada);
    const child = await group(ada, { parent_id: top.id });
    await join(`/api/v4/groups/${top.id}`, external, 50);
    expect(await statusAndBody(transferGroup(external, child))).toEqual(
      transferFailure("You don't have enough permissions."),
    );
  });

  it('hides targets that the caller cannot see', async () => {
    const own = await group(ada);
    const hidden = await group(bob);
    for (const id of [hidden.id, 999_999, bob.namespaceId])
      expect(await statusAndBody(transferGroup(ada, own, id))).toEqual([404, { message: '404 Group Not Found' }]);
    expect(await statusAndBody(transferGroup(ada, own, 'x'))).toEqual([400, { error: 'group_id is invalid' }]);
    expect(await statusAndBody(transferGroup(ada, own, '99999999999999999999'))).toEqual([
      400,
      { error: 'group_id is invalid' },
    ]);
  });

  registerRefusalOrderTests(
    () => identity.app,
    async () => {
      const [own, target] = [await group(ada), await group(ada)];
      await join(`/api/v4/groups/${own.id}`, bob, 40);
      const stranger = await person();
      const viewer = ({ id, username }: Person) => makeViewer({ userId: id, username });
      return {
        method: 'POST',
        path: `/api/v4/groups/${own.id}/transfer`,
        good: { group_id: target.id },
        bad: { group_id: 'x' },
        anonymous: anonymousViewer(),
        outsider: viewer(stranger),
        reader: viewer(bob),
        allowed: viewer(ada),
      };
    },
  );

  registerParameterEncodingTests({
    app: () => identity.app,
    to: async () => {
      const [own, target] = [await group(ada), await group(ada, { name: 'Same target' })];
      const params = { group_id: target.id };
      return {
        viewer: makeViewer({ userId: ada.id }),
        method: 'POST',
        path: `/api/v4/groups/${own.id}/transfer`,
        params,
      };
    },
    seen: (body) => String(body['full_name']).split(' / ')[0],
    expected: 'Same target',
  });
});

describe('a full path that is too long for an index', () => {
  const LEVELS = 9;
  const tooLong = 'is too long (maximum is 2400 characters with its parents)';
  /** 254 characters that PostgreSQL cannot compress. */
  const longPath = () => randomBytes(127).toString('hex');
  const groupsBelow = async (levels: number): Promise<MadeGroup[]> => {
    const made = [await group(ada, { path: longPath() })];
    while (made.length < levels) made.push(await group(ada, { path: longPath(), parent_id: made.at(-1)!.id }));
    return made;
  };

  it('is refused to a new subgroup, and to a tree that moves', async () => {
    const [tree, target] = [await groupsBelow(LEVELS), await groupsBelow(2)];
    const draft = { name: 'Deep', path: longPath(), parent_id: tree.at(-1)!.id };
    const { status, body } = await ada.client.post('/api/v4/groups').send(draft);
    expect([status, body]).toEqual([400, { message: `Failed to save group {:path=>["${tooLong}"]}` }]);
    const moved = await statusAndBody(transferGroup(ada, tree[0]!, target[1]!.id));
    expect(moved).toEqual(transferFailure(`Validation failed: Path ${tooLong}`));
  });
});

describe('GET /groups/:id/transfer_locations', () => {
  let lena: Person;
  let top: MadeGroup;
  let child: MadeGroup;
  beforeAll(async () => {
    lena = await identity.person('lena');
    top = await group(lena, { name: 'M top', path: unique('lena') });
    child = await group(lena, { name: 'Child', parent_id: top.id });
    await group(lena, { name: 'Below', parent_id: child.id });
    for (const name of ['D', 'A', 'C', 'B']) await group(lena, { name, path: `${unique('lena')}-${name}` });
    const theirs = await group(bob, { name: 'E theirs' });
    await join(`/api/v4/groups/${theirs.id}`, lena, 40);
    const closed = await group(bob, { name: 'F closed', subgroup_creation_level: 'owner' });
    await join(`/api/v4/groups/${closed.id}`, lena, 40);
    const developed = await group(bob, { name: 'G developed' });
    await join(`/api/v4/groups/${developed.id}`, lena, 30);
    const marked = await group(lena, { name: 'H marked' });
    await lena.client.delete(`/api/v4/groups/${marked.id}`).expect(202);
  });
  const names = async (path: string, query = {}, who = lena.client) =>
    (await who.get(path).query(query)).body.map((one: { name: string }) => one.name);

  it('lists groups in which the caller may create subgroups, by name, without the group, its descendants and its parent', async () => {
    expect(await names(`/api/v4/groups/${child.id}/transfer_locations`)).toEqual(['A', 'B', 'C', 'D', 'E theirs']);
    expect(await names(`/api/v4/groups/${top.id}/transfer_locations`)).toEqual(['A', 'B', 'C', 'D', 'E theirs']);
    const all = await names(`/api/v4/groups/${child.id}/transfer_locations`, { per_page: 100 }, identity.root);
    expect(all).toEqual(expect.arrayContaining(['F closed', 'G developed']));
    expect(all).not.toContain('M top');
  });

  it('returns six fields, and searches names and paths', async () => {
    const path = `/api/v4/groups/${encodeURIComponent(child.full_path)}/transfer_locations`;
    const { body } = await lena.client.get(path).query({ search: 'THEIRS' });
    expect(body).toEqual([
      {
        id: expect.any(Number),
        web_url: expect.stringContaining('http://localhost:8080/groups/g-'),
        name: 'E theirs',
        avatar_url: null,
        full_name: 'E theirs',
        full_path: expect.stringMatching(/^g-/),
      },
    ]);
    expect(await names(path, { search: '-A' })).toEqual(['A']);
    expect(await names(path, { search: '%' })).toEqual([]);
    expect((await lena.client.get(path).query({ search: 'a\0b' })).status).toBeLessThan(500);
  });

  it('refuses callers who do not own the group', async () => {
    const open = await group(ada, { visibility: 'public' });
    await join(`/api/v4/groups/${open.id}`, bob, 40);
    const ask = async (who: typeof identity.anonymous, id: number) => {
      const { status, body } = await who.get(`/api/v4/groups/${id}/transfer_locations`);
      return [status, body];
    };
    expect(await ask(bob.client, open.id)).toEqual([403, { message: '403 Forbidden' }]);
    expect(await ask(identity.anonymous, open.id)).toEqual([401, { message: '401 Unauthorized' }]);
    expect(await ask(identity.anonymous, top.id)).toEqual([404, { message: '404 Group Not Found' }]);
    expect(await ask(ada.client, top.id)).toEqual([404, { message: '404 Group Not Found' }]);
    expect((await ask(ada.client, open.id))[0]).toBe(200);
  });

  registerListPagingTests(() => ({
    app: identity.app,
    viewer: makeViewer({ userId: lena.id, username: 'lena' }),
    path: `/api/v4/groups/${child.id}/transfer_locations`,
    query: { search: '' },
    rows: 5,
  }));
});
