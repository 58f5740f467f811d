import { makeViewer, registerListPagingTests } from '@rookery/testing';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';
import { maker } from '../support/groups-and-projects';
import type { MadeProject } from '../support/groups-and-projects';

let identity: IdentityApp;
let ada: Person;
let own: MadeProject;
const { group, join, person, project } = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
});
beforeEach(async () => {
  own = await project(ada);
});
afterAll(() => identity.close());

const scopePath = (of: MadeProject = own) => `/api/v4/projects/${of.id}/job_token_scope`;
const admitProject = (target: { readonly id: number }, by = ada) =>
  by.client.post(`${scopePath()}/allowlist`).send({ target_project_id: target.id });
const admitGroup = (target: { readonly id: number }, by = ada) =>
  by.client.post(`${scopePath()}/groups_allowlist`).send({ target_group_id: target.id });
const listAdmittedIds = async (path: string, by = ada) =>
  ((await by.client.get(`${scopePath()}/${path}`).expect(200)).body as { id: number }[]).map(({ id }) => id);
const readPublishedAdmission = async () => {
  const [newest] = await identity.db.query<{ admission: unknown }>(
    `select state -> 'job_admission' as admission from directory_changes
     where kind = 'project' and entity_id = $1 order by version desc limit 1`,
    [own.id],
  );
  return newest!.admission;
};

describe('GET and PATCH /projects/:id/job_token_scope', () => {
  it('shows whether the project admits only jobs of listed projects', async () => {
    const encoded = `/api/v4/projects/${encodeURIComponent(own.path_with_namespace)}/job_token_scope`;
    const limited = { inbound_enabled: true, outbound_enabled: false };
    expect((await ada.client.get(encoded).expect(200)).body).toEqual(limited);
    expect((await ada.client.patch(scopePath()).send({ enabled: false }).expect(204)).text).toBe('');
    expect((await ada.client.get(scopePath()).expect(200)).body).toEqual({ ...limited, inbound_enabled: false });
    expect(await readPublishedAdmission()).toEqual({ all: true, projects: [], groups: [] });
    await ada.client.patch(encoded).query({ enabled: 'true' }).expect(204);
    expect((await ada.client.get(scopePath()).expect(200)).body).toEqual(limited);
  });

  it('requires a flag', async () => {
    expect((await ada.client.patch(scopePath()).send({}).expect(400)).body).toEqual({ error: 'enabled is missing' });
    expect((await ada.client.patch(scopePath()).send({ enabled: 'x' }).expect(400)).body).toEqual({
      error: 'enabled is invalid',
    });
  });
});

describe('the list of projects', () => {
  it('has the project itself and those that were added, until they are removed', async () => {
    const other = await project(ada);
    expect((await admitProject(other).expect(201)).body).toEqual({
      source_project_id: own.id,
      target_project_id: other.id,
    });
    expect(await listAdmittedIds('allowlist')).toEqual([own.id, other.id]);
    const [first] = (await ada.client.get(`${scopePath()}/allowlist`).expect(200)).body;
    expect(first).toMatchObject({ id: own.id, path_with_namespace: own.path_with_namespace });
    expect(first).not.toHaveProperty('_links');
    expect(await readPublishedAdmission()).toEqual({ all: false, projects: [other.id], groups: [] });
    const removed = await ada.client.delete(`${scopePath()}/allowlist/${other.id}`).expect(204);
    expect(removed.text).toBe('');
    expect(await listAdmittedIds('allowlist')).toEqual([own.id]);
    expect(await readPublishedAdmission()).toEqual({ all: false, projects: [], groups: [] });
  });

  it('refuses targets that are hidden, there already, not there, and the project itself', async () => {
    const other = await project(ada);
    const hidden = await project(await person());
    const missing = { message: '404 target_project_id not found Not Found' };
    expect((await admitProject(hidden).expect(404)).body).toEqual(missing);
    expect((await admitProject({ id: 987654321 }).expect(404)).body).toEqual(missing);
    await admitProject(other).expect(201);
    const twice = { message: '400 Bad request - Target project is already in the job token scope' };
    expect((await admitProject(other).expect(400)).body).toEqual(twice);
    expect((await admitProject(own).expect(400)).body).toEqual(twice);
    const remove = async (id: number) => (await ada.client.delete(`${scopePath()}/allowlist/${id}`).expect(400)).body;
    expect(await remove(hidden.id)).toEqual({
      message: '400 Bad request - Target project is not in the job token scope',
    });
    expect(await remove(own.id)).toEqual({
      message: '400 Bad request - Source project cannot be removed from the job token scope',
    });
    const none = await ada.client.post(`${scopePath()}/allowlist`).send({}).expect(400);
    expect(none.body).toEqual({ error: 'target_project_id is missing' });
  });

  it('keeps what is added at once, and takes 200 projects', async () => {
    const some = await Promise.all([project(ada), project(ada), project(ada), project(ada)]);
    const statuses = await Promise.all([...some, ...some].map(async (one) => (await admitProject(one)).status));
    expect(statuses.filter((status) => status === 201)).toHaveLength(4);
    expect(await listAdmittedIds('allowlist')).toEqual([own, ...some].map(({ id }) => id).toSorted((a, b) => a - b));
    const full = JSON.stringify({ all: false, projects: Array.from({ length: 200 }, (_, at) => at + 1e9), groups: [] });
    await identity.db.query('update projects set job_admission = $2 where id = $1', [own.id, full]);
    expect((await admitProject(some[0]!).expect(400)).body).toEqual({
      message: '400 Bad request - The job token scope has 200 projects, which is the limit',
    });
  });

  it('shows maintainers only projects that they can see', async () => {
    const [bob, other] = [await person(), await project(ada)];
    await join(`/api/v4/projects/${own.id}`, bob, 40);
    await admitProject(other).expect(201);
    expect(await listAdmittedIds('allowlist', bob)).toEqual([own.id]);
  });
});

describe('the list of groups', () => {
  it('has groups that were added, until they are removed', async () => {
    const team = await group(ada);
    expect((await admitGroup(team).expect(201)).body).toEqual({ source_project_id: own.id, target_group_id: team.id });
    const { body } = await ada.client.get(`${scopePath()}/groups_allowlist`).expect(200);
    expect(body).toEqual([
      { id: team.id, name: team.name, web_url: expect.stringContaining(`/groups/${team.full_path}`) },
    ]);
    expect(await readPublishedAdmission()).toEqual({ all: false, projects: [], groups: [team.id] });
    const twice = { message: '400 Bad request - Target group is already in the job token scope' };
    expect((await admitGroup(team).expect(400)).body).toEqual(twice);
    await ada.client.delete(`${scopePath()}/groups_allowlist/${team.id}`).expect(204);
    expect(await listAdmittedIds('groups_allowlist')).toEqual([]);
    const gone = await ada.client.delete(`${scopePath()}/groups_allowlist/${team.id}`).expect(400);
    expect(gone.body).toEqual({ message: '400 Bad request - Target group is not in the job token scope' });
  });

  it('refuses groups that are hidden', async () => {
    const hidden = await group(await person());
    const missing = { message: '404 target_group_id not found Not Found' };
    expect((await admitGroup(hidden).expect(404)).body).toEqual(missing);
    expect((await admitGroup({ id: ada.id + 987654321 }).expect(404)).body).toEqual(missing);
  });

  it('shows maintainers only groups that they can see', async () => {
    const [bob, team] = [await person(), await group(ada)];
    await join(`/api/v4/projects/${own.id}`, bob, 40);
    await admitGroup(team).expect(201);
    expect(await listAdmittedIds('groups_allowlist', bob)).toEqual([]);
  });
});

describe('pages of both lists', () => {
  beforeEach(async () => {
    for (let at = 0; at < 5; at += 1) {
      if (at > 0) await admitProject(await project(ada)).expect(201);
      await admitGroup(await group(ada)).expect(201);
    }
  });

  describe.each(['allowlist', 'groups_allowlist'])('%s', (list) => {
    registerListPagingTests(() => ({
      app: identity.app,
      viewer: makeViewer({ userId: ada.id, username: 'ada' }),
      path: `${scopePath()}/${list}`,
      rows: 5,
    }));
  });
});
