import { randomUUID } from 'node:crypto';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { internalAuthorization } from '@rookery/testing';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';
import { maker } from '../support/groups-and-projects';

let identity: IdentityApp;
let ada: Person;
let bob: Person;
const { group, join, unique, person } = maker(() => identity);
beforeAll(async () => {
  identity = await startIdentity();
  ada = await identity.person('ada');
  bob = await identity.person('bob');
});
afterAll(() => identity.close());

const postAsImport = (path: string, body: object) =>
  identity.app.bare().post(path).set('authorization', internalAuthorization('import', 'identity')).send(body);
const findTargetOutcome = async (by: { readonly id: number }, namespace: string): Promise<unknown> =>
  (await postAsImport(INTERNAL_PATHS.importTarget, { user_id: by.id, namespace }).expect(200)).body.outcome;
const importRequest = (over: object = {}) => ({
  ...{ user_id: ada.id, namespace: 'ada', import_key: randomUUID(), import_type: 'remote' },
  ...{ import_url: 'https://git.example/wren/heron.git', name: unique('Heron'), description: 'About herons' },
  ...{ default_branch: 'trunk', is_private: true },
  ...over,
});
const importProject = async (over: object = {}) =>
  (await postAsImport(INTERNAL_PATHS.importProject, importRequest(over)).expect(200)).body as Record<
    string,
    unknown
  > & {
    readonly project: { readonly id: number };
  };
const reportImportState = async (import_key: string, state: string, error: string | null = null) =>
  (await postAsImport(INTERNAL_PATHS.importState, { import_key, state, error }).expect(200)).body as object;
const fetchProject = async (id: number, by = ada) =>
  (await by.client.get(`/api/v4/projects/${id}`).expect(200)).body as Record<string, unknown>;

describe('the target of an import', () => {
  it('is the personal namespace of the user alone', async () => {
    expect(await findTargetOutcome(ada, 'ADA')).toBe('allowed');
    expect(await findTargetOutcome(bob, 'ada')).toBe('forbidden');
    expect(await findTargetOutcome(ada, 'nobody')).toBe('missing');
    expect(await findTargetOutcome({ id: 999_999 }, 'ada')).toBe('forbidden');
  });

  it.each([
    [10, 'forbidden'],
    [30, 'forbidden'],
    [40, 'allowed'],
    [50, 'allowed'],
  ])('is a group for members of level %i: %s', async (level, outcome) => {
    const { id, full_path } = await group(ada, { visibility: 'private' });
    const member = await person();
    expect(await findTargetOutcome(member, full_path)).toBe('missing');
    await join(`/api/v4/groups/${id}`, member, level);
    expect(await findTargetOutcome(member, full_path)).toBe(outcome);
  });

  it('is a group for developers who import by URL, if its rules let them create projects', async () => {
    const byUrl = async (by: { readonly id: number }, namespace: string): Promise<unknown> =>
      (await postAsImport(INTERNAL_PATHS.importTarget, { user_id: by.id, namespace, import_type: 'git' }).expect(200))
        .body.outcome;
    const { id, full_path } = await group(ada, { visibility: 'private', project_creation_level: 'developer' });
    const [reporter, developer] = [await person(), await person()];
    await join(`/api/v4/groups/${id}`, reporter, 20);
    await join(`/api/v4/groups/${id}`, developer, 30);
    expect([await byUrl(reporter, full_path), await byUrl(developer, full_path)]).toEqual(['forbidden', 'allowed']);
    await postAsImport(INTERNAL_PATHS.importTarget, { user_id: 1, namespace: 'ada', import_type: 'other' }).expect(400);
  });

  it('is no group that is marked for deletion, nor one below', async () => {
    const { id, full_path } = await group(ada, { visibility: 'private' });
    await ada.client.delete(`/api/v4/groups/${id}`).expect(202);
    expect(await findTargetOutcome(ada, `${full_path}-deletion_scheduled-${id}`)).toBe('forbidden');
  });

  it('is a group only as far as its rules let members create projects', async () => {
    const { id, full_path } = await group(ada, { project_creation_level: 'noone', visibility: 'public' });
    const maintainer = await person();
    expect(await findTargetOutcome(maintainer, full_path)).toBe('forbidden');
    await join(`/api/v4/groups/${id}`, maintainer, 40);
    expect(await findTargetOutcome(maintainer, full_path)).toBe('forbidden');
  });
});

describe('the project of an import', () => {
  it('is created with the facts of upstream, and announced as imported', async () => {
    const { outcome, project } = await importProject({ name: 'Grey Heron' });
    expect([outcome, project]).toEqual([
      'created',
      {
        id: expect.any(Number) as number,
        name: 'Grey Heron',
        full_path: 'ada/grey-heron',
        name_with_namespace: expect.stringMatching(/ \/ Grey Heron$/) as string,
      },
    ]);
    expect(await fetchProject(project.id)).toMatchObject({
      path_with_namespace: 'ada/grey-heron',
      description: 'About herons',
      visibility: 'private',
      default_branch: 'trunk',
      creator_id: ada.id,
      import_status: 'scheduled',
      import_type: 'remote',
      import_url: 'https://git.example/wren/heron.git',
      import_error: null,
    });
    const [event] = await identity.db.query<{ payload: { data: object } }>(
      `select payload from outbox where type like '%project.created.v1' and aggregate_id = $1`,
      [project.id],
    );
    expect(JSON.stringify(event)).toContain('"imported_from":"remote"');
    const { body: mine } = await ada.client.get('/api/v4/projects').query({ imported: true }).expect(200);
    expect((mine as { id: number }[]).map(({ id }) => id)).toContain(project.id);
  });

  it('is the same when the request is repeated', async () => {
    const request = importRequest();
    const [first, second] = [await importProject(request), await importProject(request)];
    expect(second).toEqual(first);
  });

  it('is public like upstream, and never above its group', async () => {
    expect(await fetchProject((await importProject({ is_private: false })).project.id)).toMatchObject({
      visibility: 'public',
    });
    const { full_path } = await group(ada, { visibility: 'internal' });
    const { project } = await importProject({ is_private: false, namespace: full_path });
    expect(await fetchProject(project.id)).toMatchObject({ visibility: 'internal' });
  });

  it('names the problems in sentences', async () => {
    const { project } = await importProject();
    const { name } = await fetchProject(project.id);
    const taken = ['Name has already been taken', 'Path has already been taken'];
    expect(await importProject({ name })).toEqual({ outcome: 'invalid', problems: taken });
    const limited = await person();
    await identity.root.put(`/api/v4/users/${limited.id}`).send({ projects_limit: 0 }).expect(200);
    expect(await importProject({ user_id: limited.id, namespace: limited.username })).toEqual({
      outcome: 'invalid',
      problems: ['Personal project creation is not allowed. Please contact your administrator with questions'],
    });
  });

  it('is refused in namespaces of others', async () => {
    expect(await importProject({ user_id: bob.id })).toEqual({ outcome: 'forbidden' });
    expect(await importProject({ namespace: 'nobody' })).toEqual({ outcome: 'missing' });
  });

  it.each([
    ['user_id', 'one'],
    ['namespace', 'a\0b'],
    ['import_key', 'key'],
    ['import_type', 'elsewhere'],
    ['name', null],
  ])('refuses a malformed %s', async (field, value) => {
    const { body } = await postAsImport(INTERNAL_PATHS.importProject, importRequest({ [field]: value })).expect(400);
    expect(body).toEqual({ error: `${field} is invalid` });
  });
});

describe('the state of an import', () => {
  it('is shown with the project, and stays once it is final', async () => {
    const request = importRequest();
    const { project } = await importProject(request);
    expect(await reportImportState(request.import_key, 'started')).toEqual({ is_known: true });
    expect(await fetchProject(project.id)).toMatchObject({ import_status: 'started' });
    await reportImportState(request.import_key, 'failed', 'The server cannot be reached.');
    await reportImportState(request.import_key, 'finished');
    expect(await fetchProject(project.id)).toMatchObject({
      import_status: 'failed',
      import_error: 'The server cannot be reached.',
    });
  });

  it('of an unknown import has no effect', async () => {
    expect(await reportImportState(randomUUID(), 'failed')).toEqual({ is_known: false });
  });
});
