import { randomUUID } from 'node:crypto';
import { INTERNAL_PATHS } from '@rookery/contracts';
import type { ImportByUrlAnswer } from '@rookery/contracts';
import { Work } from '@rookery/persistence';
import { internalAuthorization } from '@rookery/testing';
import { ImportsByUrlConsumer } from '../../src/imports/by-url/imports-by-url.consumer';
import { StateReportsJob } from '../../src/imports/running/state-reports.job';
import { ImportScene } from '../support/scene';

let scene: ImportScene;
beforeAll(async () => void (scene = await ImportScene.open()));
afterAll(() => scene.close());

const prepareImport = async (url: string, import_key = randomUUID()) => {
  const { body } = await scene.service.app
    .bare()
    .post(INTERNAL_PATHS.importByUrl)
    .set('authorization', internalAuthorization('identity', 'import'))
    .send({ import_key, user_id: scene.owner.id, url })
    .expect(200);
  return { key: import_key, answer: body as ImportByUrlAnswer };
};
const withSecret = (url: string, secret = `${scene.host.token}:x-oauth-basic`) => url.replace('://', `://${secret}@`);
const findImportRow = async (key: string) =>
  (
    await scene.service.database.query<Record<string, unknown> & { readonly id: number }>(
      'select * from project_imports where import_key = $1',
      [key],
    )
  )[0];

/** Delivers the event of the creation of a project. */
async function deliverProjectCreated(import_key: string | undefined): Promise<number> {
  const { seed, app } = scene.service;
  const project = await seed.project({ namespace_id: scene.owner.namespace_id, visibility: 'private' });
  await seed.member(scene.owner, project, 'owner');
  const folder = scene.inside.repositoryOf(project.id);
  await scene.host.git.ok('.', 'init', '--quiet', '--bare', '--initial-branch=main', folder);
  const data = {
    ...{ project_id: project.id, namespace_id: scene.owner.namespace_id, creator_id: scene.owner.id },
    ...{ created_at: new Date().toISOString(), ...(import_key === undefined ? {} : { import_key }) },
  };
  const about = { id: randomUUID(), time: data.created_at, aggregateType: 'project', actorId: null };
  const events = [{ ...about, aggregateId: project.id, data }];
  await app.get(Work).run((tx) => app.get(ImportsByUrlConsumer).projectCreated({ tx, events }));
  return project.id;
}
const showImport = async (projectId: number) =>
  (await scene.as(scene.owner).get(`/api/v4/projects/${projectId}/import`).expect(200)).body as Record<string, unknown>;

it('imports a repository by its URL, with the credentials of the URL', async () => {
  const { clone_url } = await scene.host.add('heron');
  const { key, answer } = await prepareImport(withSecret(clone_url));
  expect(answer).toEqual({ outcome: 'prepared', url: clone_url });
  expect(await findImportRow(key)).toMatchObject({ state: 'pending', source: 'git', clone_url, project_id: null });
  const projectId = await deliverProjectCreated(key);
  const { id } = (await findImportRow(key))!;
  expect(await findImportRow(key)).toMatchObject({ state: 'scheduled', project_id: projectId });
  await scene.run(id);
  expect(await scene.refs(scene.inside.repositoryOf(projectId))).toEqual(await scene.refs('wren/heron.git'));
  const shown = await showImport(projectId);
  expect(shown).toMatchObject({ import_status: 'finished', import_type: 'git', correlation_id: key });
  expect(shown).not.toHaveProperty('stats');
  expect(await findImportRow(key)).toMatchObject({ state: 'finished', sealed_credential: null });
  for (const table of ['project_imports', 'background_jobs', 'outbox']) {
    expect(JSON.stringify(await scene.service.database.query(`select * from ${table}`))).not.toContain(
      scene.host.token,
    );
  }
  expect(JSON.stringify(scene.service.app.logs)).not.toContain(scene.host.token);
});

it('sends no credential without one in the URL, and fails with a wrong one', async () => {
  const { clone_url } = await scene.host.add('egret');
  for (const [url, authorization] of [
    [clone_url, undefined],
    [withSecret(clone_url, 'a%3Ab:c%40d'), `Basic ${Buffer.from('a:b:c@d').toString('base64')}`],
  ] as const) {
    const { key } = await prepareImport(url);
    const projectId = await deliverProjectCreated(key);
    const before = scene.host.seen.length;
    await scene.run((await findImportRow(key))!.id, 4);
    expect(await showImport(projectId)).toMatchObject({
      ...{ import_status: 'failed', import_error: expect.stringContaining('remote repository') as string },
    });
    const sent = scene.host.seen.slice(before).map((request) => request.authorization);
    expect(sent.filter((one) => one !== undefined && one !== authorization)).toEqual([]);
    expect(sent.includes(authorization)).toBe(true);
  }
});

it.each([
  ['ssh://git.example/a.git', 'is not a valid URL of a git repository'],
  ['no address', 'is not a valid URL of a git repository'],
  ['https://git.example/a\\r\\nb', 'is blocked: '],
  [`https://git.example/${'x'.repeat(2048)}`, 'is not a valid URL of a git repository'],
  ['https://%ff:x@git.example/a.git', 'is not a valid URL of a git repository'],
  ['https://a%0ab:x@git.example/a.git', 'is not a valid URL of a git repository'],
  ['file:///etc', 'is not a valid URL of a git repository'],
  ['https://git.example/a.git?private_token=x', 'is not a valid URL of a git repository'],
  ['http://169.254.169.254/a.git', 'is blocked: the host has no address on the public internet'],
  ['https://localhost/a.git', 'is blocked: the host has no address on the public internet'],
  ['https://name.invalid/a.git', 'is blocked: the host has no address on the public internet'],
])('refuses %s', async (url, problem) => {
  const { key, answer } = await prepareImport(url);
  expect(answer).toEqual({ outcome: 'refused', problem: expect.stringMatching(`^${problem}`) as string });
  expect(await findImportRow(key)).toBeUndefined();
});

it('ignores other projects and unknown keys, and repeated events', async () => {
  const { key } = await prepareImport((await scene.host.add('ibis')).clone_url);
  await deliverProjectCreated(undefined);
  await deliverProjectCreated(randomUUID());
  expect(await findImportRow(key)).toMatchObject({ state: 'pending' });
  const projectId = await deliverProjectCreated(key);
  await deliverProjectCreated(key);
  expect(await findImportRow(key)).toMatchObject({ state: 'scheduled', project_id: projectId });
});

it('forgets a prepared import whose project was refused', async () => {
  const { key } = await prepareImport(withSecret('https://93.184.215.14/a.git', 'wren:canary'));
  const { database, app } = scene.service;
  await database.query(`update project_imports set updated_at = now() - interval '11 minutes' where import_key = $1`, [
    key,
  ]);
  await app.get(StateReportsJob).failStuck();
  expect(await findImportRow(key)).toMatchObject({ state: 'failed', sealed_credential: null });
  await database.query(`update project_imports set updated_at = now() - interval '2 days' where import_key = $1`, [
    key,
  ]);
  await app.get(StateReportsJob).failStuck();
  expect(await findImportRow(key)).toBeUndefined();
});

it('forgets a prepared import at once if identity says that the project was refused', async () => {
  const forget = (body: object, caller: 'identity' | 'collaboration' = 'identity') =>
    scene.service.app
      .bare()
      .post(INTERNAL_PATHS.importRefused)
      .set('authorization', internalAuthorization(caller, 'import'))
      .send(body);
  const { key } = await prepareImport(withSecret('https://93.184.215.14/a.git', 'wren:canary'));
  await forget({ import_key: key }, 'collaboration').expect(403);
  await forget({ import_key: 7 }).expect(400);
  expect(await findImportRow(key)).toBeDefined();
  await forget({ import_key: key }).expect(200);
  await forget({ import_key: key }).expect(200);
  expect(await findImportRow(key)).toBeUndefined();
  const { key: other } = await prepareImport((await scene.host.add('osprey')).clone_url);
  await deliverProjectCreated(other);
  await forget({ import_key: other }).expect(200);
  expect(await findImportRow(other)).toMatchObject({ state: 'scheduled' });
});

it('has one caller, which sends whole requests', async () => {
  const ask = (authorization: string, body: object) =>
    scene.service.app.bare().post(INTERNAL_PATHS.importByUrl).set('authorization', authorization).send(body);
  await ask(internalAuthorization('collaboration', 'import'), {}).expect(403);
  const body = { import_key: 'x', user_id: 1, url: 'https://git.example/a.git' };
  await ask(internalAuthorization('identity', 'import'), body).expect(400);
  await ask(internalAuthorization('identity', 'import'), { ...body, import_key: randomUUID(), url: 1 }).expect(400);
});

it('refuses every URL if the operator does not allow them', async () => {
  const other = await ImportScene.open({ IMPORT_SOURCES: 'remote' });
  try {
    const { body } = await other.service.app
      .bare()
      .post(INTERNAL_PATHS.importByUrl)
      .set('authorization', internalAuthorization('identity', 'import'))
      .send({ import_key: randomUUID(), user_id: 1, url: 'https://git.example/a.git' })
      .expect(200);
    expect(body).toEqual({ outcome: 'refused', problem: 'git import source is disabled' });
  } finally {
    await other.close();
  }
});
