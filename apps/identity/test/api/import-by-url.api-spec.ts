import { INTERNAL_PATHS } from '@rookery/contracts';
import { internalAuthorization } from '@rookery/testing';
import { startIdentity } from '../support/app';
import type { IdentityApp, Person } from '../support/app';
import { FakeImport } from '../support/fake-import';
import { maker } from '../support/groups-and-projects';

const imports = new FakeImport();
let identity: IdentityApp;
let ada: Person;
let admin: Person;
const { unique } = maker(() => identity);
beforeAll(async () => {
  await imports.start();
  identity = await startIdentity({ IMPORT_URL: imports.url });
  ada = await identity.person('ada');
  admin = await identity.person('chief', { admin: true });
});
beforeEach(() => void (imports.answer = { outcome: 'prepared', url: 'https://git.example/wren/heron.git' }));
afterAll(async () => {
  await identity.close();
  await imports.stop();
});

const URL_WITH_SECRET = 'https://wren:s3cret-canary@git.example/wren/heron.git';
const postProject = (body: object = {}, by = ada, path = '/projects') =>
  by.client.post(`/api/v4${path}`).send({ name: unique('p'), import_url: URL_WITH_SECRET, ...body });
const fetchProject = async (id: number) => (await ada.client.get(`/api/v4/projects/${id}`).expect(200)).body as object;
const listCreatedEvents = async (id: number) =>
  (
    await identity.db.query<{ payload: object }>(
      `select payload from outbox where subject = 'identity.project.created.v1' and aggregate_id = $1`,
      [id],
    )
  ).map(({ payload }) => payload);

it('creates a project whose import was prepared, and never stores the credential', async () => {
  const { body } = await postProject({ initialize_with_readme: true }).expect(201);
  const { import_key, ...asked } = imports.asked.at(-1)!;
  expect(asked).toEqual({ user_id: ada.id, url: URL_WITH_SECRET });
  const shown = {
    ...{ import_url: 'https://git.example/wren/heron.git', import_type: 'git' },
    ...{ import_status: 'scheduled', import_error: null },
  };
  expect(body).toMatchObject(shown);
  const [event, ...others] = await listCreatedEvents(body.id as number);
  expect([event, others]).toEqual([
    expect.objectContaining({ imported_from: 'git', import_key, project_id: body.id as number }),
    [],
  ]);
  expect(event).not.toHaveProperty('initialize_with_readme');
  const state = { import_key, state: 'failed', error: 'No.' };
  await identity.app
    .bare()
    .post(INTERNAL_PATHS.importState)
    .set('authorization', internalAuthorization('import', 'identity'))
    .send(state)
    .expect(200);
  expect(await fetchProject(body.id as number)).toMatchObject({
    ...shown,
    import_status: 'failed',
    import_error: 'No.',
  });
  for (const table of ['projects', 'outbox']) {
    expect(JSON.stringify(await identity.db.query(`select * from ${table}`))).not.toContain('s3cret-canary');
  }
});

it('is for administrators who create projects of others, too', async () => {
  const { body } = await postProject({}, admin, `/projects/user/${ada.id}`).expect(201);
  expect(imports.asked.at(-1)).toMatchObject({ user_id: ada.id });
  expect(body).toMatchObject({ import_status: 'scheduled' });
});

it('refuses a URL that import refuses', async () => {
  imports.answer = { outcome: 'refused', problem: 'is blocked: The address may not be called.' };
  expect((await postProject().expect(400)).body).toEqual({
    message: { import_url: ['is blocked: The address may not be called.'] },
  });
});

it('notifies import of the refused project, and answers the refusal even if import does not answer', async () => {
  const { body } = await postProject().expect(201);
  const before = imports.refused.length;
  await postProject({ name: body.name as string }).expect(400);
  await postProject({ namespace_id: 999_999 }).expect(400);
  await postProject({}, admin, '/projects/user/999999').expect(404);
  const asked = imports.asked.slice(-3).map(({ import_key }) => ({ import_key }));
  expect(imports.refused.slice(before)).toEqual(asked);
  imports.isDeaf = true;
  await postProject({ name: body.name as string }).expect(400);
  imports.isDeaf = false;
});

it('answers 503 while import does not answer', async () => {
  imports.answer = null;
  await postProject().expect(503);
});

it('asks nothing for projects without a URL, and refuses a URL on update', async () => {
  const before = imports.asked.length;
  const { body } = await postProject({ import_url: '' }).expect(201);
  expect(body).toMatchObject({ import_status: 'none', import_url: null });
  expect((await listCreatedEvents(body.id as number))[0]).not.toHaveProperty('import_key');
  const { body: refusal } = await ada.client
    .put(`/api/v4/projects/${body.id}`)
    .send({ import_url: URL_WITH_SECRET })
    .expect(400);
  expect(refusal).toEqual({ message: { import_url: ['git import source is disabled'] } });
  expect(imports.asked).toHaveLength(before);
});
