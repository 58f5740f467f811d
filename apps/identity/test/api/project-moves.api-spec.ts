import {
  anonymousViewer,
  makeViewer,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
} from '@rookery/testing';
import { maker } from '../support/groups-and-projects';
import type { MadeGroup, MadeProject } from '../support/groups-and-projects';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;
let bob: Person;
const { person, group, project, join, unique } = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
  bob = await identity.person('bob');
});
afterAll(() => identity.close());

const encodedPathOf = ({ path_with_namespace }: MadeProject) => encodeURIComponent(path_with_namespace);
const lastPathSegmentOf = ({ path_with_namespace }: MadeProject) => path_with_namespace.split('/').at(-1)!;
const transferProject = (by: Person, id: number | string, namespace: unknown) =>
  by.client.put(`/api/v4/projects/${id}/transfer`).send({ namespace });
const transferFailure = (text: string) => ({ status: 400, body: { message: `Failed to transfer project: ${text}` } });
const TAKEN = 'Project with same name or path in target namespace already exists';
const listChangesAfter = (version: number) =>
  identity.db.query<{ version: number; kind: string; entity_id: number; state: Record<string, unknown> }>(
    `select version, kind, entity_id, state from directory_changes where version > $1 order by version, ordinal`,
    [version],
  );
const readDirectoryVersion = async (): Promise<number> =>
  (await identity.db.query<{ version: number }>(`select version from directory_head`))[0]!.version;

describe('PUT /projects/:id/transfer', () => {
  it('moves a project; its former path redirects, and the directory changes in one version', async () => {
    const [moved, home] = [await project(ada), await group(ada)];
    const before = await readDirectoryVersion();
    const { status, body } = await transferProject(ada, encodedPathOf(moved), home.id);
    expect([status, body.id, body.path_with_namespace]).toEqual([
      200,
      moved.id,
      `${home.full_path}/${lastPathSegmentOf(moved)}`,
    ]);
    expect(body).toEqual((await ada.client.get(`/api/v4/projects/${moved.id}`)).body);
    expect(body).not.toHaveProperty('owner');
    const changes = await listChangesAfter(before);
    expect(new Set(changes.map((change) => change.version)).size).toBe(1);
    expect(changes).toEqual([
      expect.objectContaining({
        kind: 'project',
        entity_id: moved.id,
        state: expect.objectContaining({ namespace_id: home.id }),
      }),
    ]);

    const [told] = await identity.db.query(
      `select payload, directory_version from outbox where subject = 'identity.project.moved.v1' order by id desc limit 1`,
    );
    const payload = { project_id: moved.id, namespace_id: home.id };
    expect(told).toEqual({ payload, directory_version: changes[0]!.version });

    const old = await ada.client.get(`/api/v4/projects/${encodedPathOf(moved)}`);
    expect([old.status, old.get('location')]).toEqual([301, `http://localhost:8080/api/v4/projects/${moved.id}`]);
    await ada.client
      .put(`/api/v4/projects/${encodedPathOf(moved)}`)
      .send({ description: 'x' })
      .expect(405);
    const heir = await project(ada, { path: lastPathSegmentOf(moved) });
    expect((await ada.client.get(`/api/v4/projects/${encodedPathOf(moved)}`)).body.id).toBe(heir.id);
  });

  it('accepts ids and full paths of groups and personal namespaces, also back to the first', async () => {
    const moved = await project(ada);
    const top = await group(ada);
    const sub = await group(ada, { parent_id: top.id });
    for (const [namespace, expected] of [
      [sub.full_path.toUpperCase(), sub.full_path],
      [String(top.id), top.full_path],
      ['ada', 'ada'],
      [sub.id, sub.full_path],
      [ada.namespaceId, 'ada'],
    ])
      expect((await transferProject(ada, moved.id, namespace)).body.namespace.full_path).toBe(expected);
    expect((await ada.client.get(`/api/v4/projects/${encodedPathOf(moved)}`)).body.id).toBe(moved.id);
  });

  it.each([
    ['public', 'private', 'private'],
    ['public', 'internal', 'internal'],
    ['internal', 'public', 'internal'],
    ['private', 'public', 'private'],
  ])('of a %s project into a %s group makes it %s', async (from, where, expected) => {
    const moved = await project(ada, { visibility: from });
    const home = await group(ada, { visibility: where });
    expect((await transferProject(ada, moved.id, home.id)).body.visibility).toBe(expected);
  });

  it('makes the user of a personal namespace an owner, and lets the former one be removed', async () => {
    const home = await group(ada);
    const moved = await project(ada, { namespace_id: home.id });
    await join(`/api/v4/projects/${moved.id}`, bob, 30);
    const before = await readDirectoryVersion();
    const { status } = await identity.root.put(`/api/v4/projects/${moved.id}/transfer`).send({ namespace: 'bob' });
    expect(status).toBe(200);
    expect((await listChangesAfter(before)).map(({ kind }) => kind)).toEqual(['project', 'membership']);
    expect((await bob.client.get(`/api/v4/projects/${moved.id}/members/${bob.id}`)).body.access_level).toBe(50);
    await ada.client.get(`/api/v4/projects/${moved.id}`).expect(404);
    await identity.root.delete(`/api/v4/projects/${moved.id}/members/${bob.id}`).expect(403);

    const other = await group(bob);
    await transferProject(bob, moved.id, other.id).expect(200);
    expect((await bob.client.get(`/api/v4/projects/${moved.id}/members/${bob.id}`)).body.access_level).toBe(50);
    await identity.root.delete(`/api/v4/projects/${moved.id}/members/${bob.id}`).expect(204);
  });

  it('refuses the same namespace, taken and reserved paths, and a full namespace', async () => {
    const home = await group(ada);
    const inside = await project(ada, { namespace_id: home.id });
    expect(await transferProject(ada, inside.id, home.id)).toMatchObject(
      transferFailure('Project is already in this namespace.'),
    );
    const sameName = await project(ada, { name: lastPathSegmentOf(inside).toUpperCase(), path: unique('other') });
    expect(await transferProject(ada, sameName.id, home.id)).toMatchObject(transferFailure(TAKEN));
    const samePath = await project(ada, { name: unique('other'), path: lastPathSegmentOf(inside).toUpperCase() });
    expect(await transferProject(ada, samePath.id, home.id)).toMatchObject(transferFailure(TAKEN));
    const sub = await group(ada, { parent_id: home.id });
    const likeGroup = await project(ada, { name: unique('other'), path: sub.path });
    expect(await transferProject(ada, likeGroup.id, home.id)).toMatchObject(transferFailure(TAKEN));
    const reserved = await group(ada, { path: 'environments', parent_id: home.id });
    const folders = await project(ada, { name: 'folders' });
    expect(await transferProject(ada, folders.id, reserved.id)).toMatchObject(
      transferFailure('Path folders is a reserved name'),
    );
    const full = await person({ projects_limit: 0 });
    const room = await group(full);
    const { id } = await project(full, { namespace_id: room.id });
    expect(await transferProject(full, id, full.namespaceId)).toMatchObject(
      transferFailure('Personal project creation is not allowed. Please contact your administrator with questions'),
    );
    expect((await ada.client.get(`/api/v4/projects/${encodedPathOf(samePath)}`)).body.id).toBe(samePath.id);
  });

  it('refuses namespaces in which the caller may not create projects, and hides unknown ones', async () => {
    const moved = await project(ada);
    const [hidden, shown] = [await group(bob), await group(bob, { visibility: 'public' })];
    const refused = transferFailure("You don't have permission to transfer projects into that namespace.");
    expect(await transferProject(ada, moved.id, shown.full_path)).toMatchObject(refused);
    await join(`/api/v4/groups/${shown.id}`, ada, 20);
    expect(await transferProject(ada, moved.id, shown.id)).toMatchObject(refused);
    const unknown = { status: 404, body: { message: '404 Namespace Not Found' } };
    for (const namespace of [hidden.id, hidden.full_path, 'bob', 999_999, 'none/such', 9_007_199_254_740_991])
      expect(await transferProject(ada, moved.id, namespace)).toMatchObject(unknown);
    await identity.root.delete(`/api/v4/groups/${shown.id}/members/${ada.id}`);
    await join(`/api/v4/groups/${shown.id}`, ada, 30);
    await transferProject(ada, moved.id, shown.id).expect(200);
  });

  it.each([
    [10, 403],
    [30, 403],
    [40, 403],
    [50, 200],
  ])('with level %i in the project: %i', async (level, expected) => {
    const [moved, one] = [await project(ada), await person()];
    await join(`/api/v4/projects/${moved.id}`, one, level);
    await transferProject(one, moved.id, one.namespaceId).expect(expected);
  });

  it('refuses invalid values', async () => {
    const { id } = await project(ada);
    expect((await ada.client.put(`/api/v4/projects/${id}/transfer`).send({})).body).toEqual({
      error: 'namespace is missing',
    });
    for (const namespace of [['x'], { a: 1 }, 'a\0b'])
      expect((await transferProject(ada, id, namespace)).body).toEqual({ error: 'namespace is invalid' });
  });

  registerParameterEncodingTests({
    app: () => identity.app,
    to: async () => {
      const [moved, home] = [await project(ada), await group(ada)];
      const viewer = makeViewer({ userId: ada.id, username: 'ada' });
      return {
        viewer,
        method: 'PUT',
        path: `/api/v4/projects/${encodedPathOf(moved)}/transfer`,
        params: { namespace: home.full_path },
      };
    },
    seen: (body) => (body['namespace'] as { kind: string }).kind,
    expected: 'group',
  });

  registerRefusalOrderTests(
    () => identity.app,
    async () => {
      const [moved, reader] = [await project(ada), await person()];
      await join(`/api/v4/projects/${moved.id}`, reader, 40);
      return {
        method: 'PUT',
        path: `/api/v4/projects/${moved.id}/transfer`,
        good: { namespace: 'bob' },
        bad: {},
        anonymous: anonymousViewer(),
        outsider: makeViewer({ userId: (await person()).id }),
        reader: makeViewer({ userId: reader.id }),
        allowed: makeViewer({ userId: 1, isAdmin: true, username: 'root' }),
      };
    },
  );
});

describe('concurrent moves', () => {
  it('give the path to one of several projects, and leave the others in place', async () => {
    const homes = await Promise.all(Array.from({ length: 5 }, () => group(ada)));
    const same = unique('same');
    const several = await Promise.all(homes.map(({ id }) => project(ada, { name: same, namespace_id: id })));
    const target = await group(ada);
    const answers = await Promise.all(several.map(({ id }) => transferProject(ada, id, target.id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
    for (const [index, { status, body }] of answers.entries())
      if (status === 400) {
        expect(body).toEqual(transferFailure(TAKEN).body);
        expect((await ada.client.get(`/api/v4/projects/${encodedPathOf(several[index]!)}`)).body.id).toBe(
          several[index]!.id,
        );
      }
  });

  it('of one project back and forth end in one namespace, with one entry in the table of paths', async () => {
    const moved = await project(ada);
    const homes = await Promise.all(Array.from({ length: 4 }, () => group(ada)));
    const targets = [...homes, ...homes].map(({ id }) => id);
    const renames = [1, 2].map((n) => ada.client.put(`/api/v4/projects/${moved.id}`).send({ path: unique(`r${n}`) }));
    const answers = await Promise.all([...targets.map((id) => transferProject(ada, moved.id, id)), ...renames]);
    for (const { status } of answers) expect([200, 400, 409]).toContain(status);
    const { body } = await ada.client.get(`/api/v4/projects/${moved.id}`);
    const places = await identity.db.query(`select parent_id, path from sibling_paths where project_id = $1`, [
      moved.id,
    ]);
    expect(places).toEqual([{ parent_id: body.namespace.id, path: body.path }]);
    expect((await ada.client.get(`/api/v4/projects/${encodeURIComponent(body.path_with_namespace)}`)).body.id).toBe(
      moved.id,
    );
    await ada.client.get(`/api/v4/projects/${encodedPathOf(moved)}`).expect(301);
  });

  it('never leave a project more visible than a group that is lowered meanwhile', async () => {
    for (let round = 0; round < 5; round += 1) {
      const home = await group(ada, { visibility: 'public' });
      const moved = await project(ada, { visibility: 'public' });
      await Promise.all([
        transferProject(ada, moved.id, home.id),
        ada.client.put(`/api/v4/groups/${home.id}`).send({ visibility: 'private' }),
      ]);
      const { body } = await ada.client.get(`/api/v4/groups/${home.id}`);
      const visibilities = body.projects.map((one: { visibility: string }) => one.visibility);
      if (body.visibility === 'private') expect(visibilities).not.toContain('public');
    }
  });

  it('enforce the limit of a personal namespace', async () => {
    const small = await person({ projects_limit: 2 });
    const home = await group(small);
    const several = await Promise.all(Array.from({ length: 5 }, () => project(small, { namespace_id: home.id })));
    const answers = await Promise.all(several.map(({ id }) => transferProject(small, id, small.namespaceId)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 400, 400, 400]);
  });
});

describe('POST /groups/:id/projects/:project_id', () => {
  const into = (home: MadeGroup, ref: number | string, client = identity.root) =>
    client.post(`/api/v4/groups/${encodeURIComponent(home.full_path)}/projects/${ref}`).send({});

  it('moves a project into a group and returns the group without projects and secrets', async () => {
    const [home, moved] = [await group(ada), await project(ada)];
    const { status, body } = await into(home, encodedPathOf(moved));
    expect([status, body.id, body.full_path]).toEqual([201, home.id, home.full_path]);
    expect(body).toHaveProperty('shared_with_groups', []);
    for (const key of ['projects', 'shared_projects', 'runners_token']) expect(body).not.toHaveProperty(key);
    expect((await ada.client.get(`/api/v4/projects/${moved.id}`)).body.namespace.id).toBe(home.id);
  });

  it('refuses with the field in the notation of groups', async () => {
    const [home, moved] = [await group(ada), await project(ada)];
    await into(home, moved.id);
    expect(await into(home, moved.id)).toMatchObject({
      status: 400,
      body: { message: 'Failed to transfer project: Project is already in this namespace.' },
    });
  });

  it('is for administrators, and checks in the usual order', async () => {
    const [home, moved] = [await group(ada, { visibility: 'public' }), await project(ada)];
    expect((await into(home, moved.id, identity.anonymous)).body).toEqual({ message: '401 Unauthorized' });
    expect(await into(home, moved.id, ada.client)).toMatchObject({ status: 403, body: { message: '403 Forbidden' } });
    const noGroup = await identity.root.post(`/api/v4/groups/999999/projects/${moved.id}`);
    expect([noGroup.status, noGroup.body]).toEqual([404, { message: '404 Group Not Found' }]);
    for (const ref of [999_999, 'none%2Fsuch'])
      expect(await into(home, ref)).toMatchObject({ status: 404, body: { message: '404 Project Not Found' } });
  });
});
