import { anonymousViewer, makeViewer, registerRefusalOrderTests, requestOf } from '@rookery/testing';
import { inDays, maker } from '../support/groups-and-projects';
import type { MadeProject } from '../support/groups-and-projects';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';

let identity: IdentityApp;
let ada: Person;
const { person, group, project, join } = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
});
afterAll(() => identity.close());

const encodedPathOf = ({ path_with_namespace }: MadeProject) => encodeURIComponent(path_with_namespace);
const listLoggedStates = async (id: number): Promise<Record<string, unknown>[]> =>
  (
    await identity.db.query<{ state: Record<string, unknown> }>(
      `select state from directory_changes where kind = 'project' and entity_id = $1 order by version`,
      [id],
    )
  ).map(({ state }) => state);

describe('POST /projects/:id/archive and /unarchive', () => {
  it('return the project and change the directory; a second time they change nothing', async () => {
    const made = await project(ada);
    const first = await ada.client.post(`/api/v4/projects/${encodedPathOf(made)}/archive`).send({});
    expect([first.status, first.body.archived]).toEqual([201, true]);
    expect(first.body).toEqual((await ada.client.get(`/api/v4/projects/${made.id}`)).body);
    const again = await ada.client.post(`/api/v4/projects/${made.id}/archive`);
    expect([again.status, again.body.updated_at]).toEqual([201, first.body.updated_at]);
    expect((await listLoggedStates(made.id)).map((state) => state['archived'])).toEqual([false, true]);
    const back = await ada.client.post(`/api/v4/projects/${encodedPathOf(made)}/unarchive`).send({});
    expect([back.status, back.body.archived]).toEqual([201, false]);
    await ada.client.post(`/api/v4/projects/${made.id}/unarchive`).expect(201);
    expect((await listLoggedStates(made.id)).map((state) => state['archived'])).toEqual([false, true, false]);
  });

  it('leave administrative changes to owners, and refuse new members', async () => {
    const made = await project(ada, { visibility: 'public' });
    await ada.client.post(`/api/v4/projects/${made.id}/archive`).expect(201);
    const [stranger, member] = [await person(), await person()];
    const home = await group(ada);
    await stranger.client.post(`/api/v4/projects/${made.id}/access_requests`).expect(403);
    expect((await ada.client.put(`/api/v4/projects/${made.id}`).send({ description: 'told' })).body.description).toBe(
      'told',
    );
    await join(`/api/v4/projects/${made.id}`, member, 30);
    await ada.client.put(`/api/v4/projects/${made.id}/transfer`).send({ namespace: home.id }).expect(200);
    await ada.client.delete(`/api/v4/projects/${made.id}`).expect(202);
    expect((await ada.client.post(`/api/v4/projects/${made.id}/restore`)).body.archived).toBe(true);
  });
});

/** The project as it is after the mark. */
const withDeletionPath = (made: MadeProject): MadeProject => ({
  ...made,
  path_with_namespace: `${made.path_with_namespace}-deletion_scheduled-${made.id}`,
});

describe('POST /projects/:id/restore', () => {
  it('restores the project and changes the directory; without a mark it is 400', async () => {
    const made = await project(ada);
    await ada.client.delete(`/api/v4/projects/${made.id}`);
    const { status, body } = await ada.client
      .post(`/api/v4/projects/${encodedPathOf(withDeletionPath(made))}/restore`)
      .send({});
    expect([status, body.marked_for_deletion_on, body.marked_for_deletion_at]).toEqual([201, null, null]);
    expect(body).toEqual((await ada.client.get(`/api/v4/projects/${made.id}`)).body);
    expect(body).toMatchObject({ path_with_namespace: made.path_with_namespace, name: made.name });
    expect((await listLoggedStates(made.id)).map((state) => state['archived'])).toEqual([false, true, false]);
    const again = await ada.client.post(`/api/v4/projects/${made.id}/restore`);
    expect([again.status, again.body]).toEqual([400, { message: 'Project has not been marked for deletion' }]);
    await ada.client.delete(`/api/v4/projects/${made.id}`).expect(202);
  });
});

describe('DELETE /projects/:id', () => {
  const remove = (made: MadeProject, body: object = {}) =>
    ada.client.delete(`/api/v4/projects/${encodedPathOf(made)}`).send(body);
  it('refuses the flag without a mark, a second mark, and a wrong path', async () => {
    const made = await project(ada);
    const refused = (message: string) => ({ status: 400, body: { message } });
    const flag = { permanently_remove: true, full_path: made.path_with_namespace };
    expect(await remove(made, flag)).toMatchObject(refused('Project must be marked for deletion first.'));
    expect(await remove(made)).toMatchObject({ status: 202, body: { message: '202 Accepted' } });
    expect(await remove(withDeletionPath(made))).toMatchObject(refused('Project has been already marked for deletion'));
    expect(await remove(made)).toMatchObject({ status: 405 });
    const wrong = refused('`full_path` is incorrect. You must enter the complete path for the project.');
    for (const full_path of ['ada', '', undefined, made.path_with_namespace])
      expect(await remove(withDeletionPath(made), { permanently_remove: 'true', full_path })).toMatchObject(wrong);
    await ada.client
      .delete(`/api/v4/projects/${made.id}`)
      .query({ full_path: withDeletionPath(made).path_with_namespace, permanently_remove: 'True' })
      .expect(202);
    await ada.client.get(`/api/v4/projects/${made.id}`).expect(404);
    expect((await listLoggedStates(made.id)).at(-1)).toBeNull();
  });

  it('is 412 for a project that has changed since', async () => {
    const made = await project(ada);
    const remove = (since: Date) =>
      ada.client.delete(`/api/v4/projects/${made.id}`).set('if-unmodified-since', since.toUTCString());
    const refused = await remove(new Date(Date.now() - 60_000));
    expect([refused.status, refused.body]).toEqual([412, { message: '412 Precondition Failed' }]);
    await remove(new Date(Date.now() + 60_000)).expect(202);
  });

  it('gives the name and path of a marked project free, and restores them where they are free', async () => {
    const made = await project(ada);
    await remove(made).expect(202);
    const { body: marked } = await ada.client
      .get(`/api/v4/projects/${encodedPathOf(withDeletionPath(made))}`)
      .expect(200);
    expect(marked).toMatchObject({ id: made.id, name: `${made.name}-deletion_scheduled-${made.id}`, archived: false });
    const former = await ada.client.get(`/api/v4/projects/${encodedPathOf(made)}/members`);
    expect([former.status, former.get('location')]).toEqual([301, expect.stringContaining(`/${made.id}/members`)]);
    const heir = await project(ada, { name: made.name, path: made.path });
    expect(heir.path_with_namespace).toBe(made.path_with_namespace);
    expect((await ada.client.get(`/api/v4/projects/${encodedPathOf(made)}`)).body.id).toBe(heir.id);
    const kept = await ada.client.post(`/api/v4/projects/${made.id}/restore`).expect(201);
    expect(kept.body).toMatchObject({ path_with_namespace: marked.path_with_namespace, name: marked.name });
    await remove(heir).expect(202);
    await ada.client.delete(`/api/v4/projects/${made.id}`).expect(202);
    const back = await ada.client.post(`/api/v4/projects/${made.id}/restore`).expect(201);
    expect(back.body.marked_for_deletion_on).toBeNull();
  });

  it('marks a project whose longer path somebody has', async () => {
    const made = await project(ada);
    const squatter = await project(ada, { path: `${made.path}-deletion_scheduled-${made.id}` });
    await remove(made).expect(202);
    const { body } = await ada.client.get(`/api/v4/projects/${made.id}`).expect(200);
    expect([body.path, body.marked_for_deletion_on === null]).toEqual([made.path, false]);
    expect(squatter.path).toContain(body.path);
  });

  it('marks a project and a group with the longest names', async () => {
    const longest = 'x'.repeat(255);
    const home = await group(ada);
    const made = await project(ada, { namespace_id: home.id, name: longest, path: longest });
    await remove(made).expect(202);
    const below = await group(ada, { parent_id: home.id, name: longest, path: `y${longest.slice(1)}` });
    await ada.client.delete(`/api/v4/groups/${below.id}`).expect(202);
    await ada.client.post(`/api/v4/groups/${below.id}/restore`).expect(201);
    const { body } = await ada.client.post(`/api/v4/projects/${made.id}/restore`).expect(201);
    expect([body.name, body.path]).toEqual([longest, longest]);
  });

  it('makes projects below a marked group read-only in the directory, also after moves', async () => {
    const [top, other] = [await group(ada), await group(ada)];
    const child = await group(ada, { parent_id: top.id });
    const made = await project(ada, { namespace_id: child.id });
    const readOnly = async () => (await listLoggedStates(made.id)).at(-1)!['archived'];
    await ada.client.delete(`/api/v4/groups/${top.id}`).expect(202);
    expect(await readOnly()).toBe(true);
    const { body } = await ada.client.get(`/api/v4/projects/${made.id}`).expect(200);
    expect([body.archived, body.path_with_namespace]).toEqual([
      false,
      `${top.full_path}-deletion_scheduled-${top.id}/${child.path}/${made.path}`,
    ]);
    await ada.client.post(`/api/v4/groups/${top.id}/restore`).expect(201);
    expect(await readOnly()).toBe(false);
    await ada.client.delete(`/api/v4/groups/${top.id}`).expect(202);
    await ada.client.post(`/api/v4/groups/${child.id}/transfer`).send({ group_id: other.id }).expect(201);
    expect(await readOnly()).toBe(false);
  });

  it('keeps a marked project readable, and its administration open', async () => {
    const made = await project(ada);
    const day = inDays(0);
    await remove(made).expect(202);
    const { body: kept } = await ada.client.put(`/api/v4/projects/${made.id}`).send({ description: 'kept' });
    expect(kept.description).toBe('kept');
    expect([day, inDays(0)]).toContain(kept.marked_for_deletion_on);
    await ada.client.post(`/api/v4/projects/${made.id}/star`).expect(201);
    const home = await group(ada);
    const moved = await ada.client.put(`/api/v4/projects/${made.id}/transfer`).send({ namespace: home.id });
    expect([moved.status, moved.body.marked_for_deletion_on === null]).toEqual([200, false]);
  });

  it('deletes stars, the source of forks and members', async () => {
    const made = await project(ada, { visibility: 'public' });
    await ada.client.post(`/api/v4/projects/${made.id}/star`).expect(201);
    await remove(made).expect(202);
    const full_path = withDeletionPath(made).path_with_namespace;
    await remove(withDeletionPath(made), { permanently_remove: true, full_path }).expect(202);
    const [left] = await identity.db.query(
      `select (select count(*)::int from project_stars where project_id = $1) as stars,
         (select count(*)::int from members where source_type = 'project' and source_id = $1) as members,
         (select count(*)::int from sibling_paths where project_id = $1) as paths`,
      [made.id],
    );
    expect(left).toEqual({ stars: 0, members: 0, paths: 0 });
  });
});

const VERBS = [
  ['POST', '/archive', 201],
  ['POST', '/unarchive', 201],
  ['POST', '/restore', 201],
  ['DELETE', '', 202],
] as const;

describe.each(VERBS)('%s /projects/:id%s', (method, verb, success) => {
  const ready = async (): Promise<MadeProject> => {
    const made = await project(ada);
    if (verb === '/restore') await ada.client.delete(`/api/v4/projects/${made.id}`);
    return made;
  };

  it.each([
    [10, 403],
    [30, 403],
    [40, 403],
    [50, success],
  ])('with level %i: %i', async (level, expected) => {
    const [made, one] = [await ready(), await person()];
    await join(`/api/v4/projects/${made.id}`, one, level);
    const { status, body } = await requestOf(one.client, method, `/api/v4/projects/${made.id}${verb}`);
    expect(status).toBe(expected);
    if (expected === 403) expect(body).toEqual({ message: '403 Forbidden' });
  });

  it('checks in the usual order; administrators may', async () => {
    const made = await ready();
    const path = `/api/v4/projects/${made.id}${verb}`;
    expect((await requestOf(identity.anonymous, method, path)).body).toEqual({ message: '401 Unauthorized' });
    const narrow = identity.as({ userId: ada.id, username: 'ada', scopes: ['read_api'] });
    expect(await requestOf(narrow, method, path)).toMatchObject({ status: 403, body: { error: 'insufficient_scope' } });
    const stranger = (await person()).client;
    for (const ref of [made.id, encodedPathOf(made), 999_999, 'none%2Fsuch']) {
      const refused = await requestOf(stranger, method, `/api/v4/projects/${ref}${verb}`);
      expect([refused.status, refused.body]).toEqual([404, { message: '404 Project Not Found' }]);
    }
    await requestOf(identity.root, method, path).expect(success);
  });
});

describe('the parameter of a deletion', () => {
  registerRefusalOrderTests(
    () => identity.app,
    async () => {
      const [made, reader] = [await project(ada), await person()];
      await join(`/api/v4/projects/${made.id}`, reader, 40);
      return {
        method: 'DELETE',
        path: `/api/v4/projects/${made.id}`,
        good: {},
        bad: { permanently_remove: 'perhaps' },
        anonymous: anonymousViewer(),
        outsider: makeViewer({ userId: (await person()).id }),
        reader: makeViewer({ userId: reader.id }),
        allowed: makeViewer({ userId: 1, isAdmin: true, username: 'root' }),
      };
    },
  );
});
