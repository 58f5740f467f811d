import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registerProjectDeletionTests } from '@rookery/testing';
import { ImportCredentials } from '../../src/imports/import-credentials';
import { ImportRecords } from '../../src/imports/import-records';
import { ImportStageRecords } from '../../src/imports/import-stages';
import { StateReportsJob } from '../../src/imports/running/state-reports.job';
import { ImportScene } from '../support/scene';

let scene: ImportScene;
/** A folder of this file alone, since imports of other files leave folders in the common one for a moment. */
let temporary: string;
beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'running-imports-'));
  process.env['TMPDIR'] = temporary;
  scene = await ImportScene.open({ IMPORT_REPOSITORY_BYTES: String(2 ** 20) });
});
afterEach(() => {
  scene.host.answer = null;
  scene.inside.beforePush = async () => undefined;
  scene.inside.away.clear();
});
afterAll(async () => {
  await scene.close();
  await rm(temporary, { recursive: true });
});

const LAST = 4;
const listScratchFolders = () => readdirSync(temporary).filter((name) => name.startsWith('rookery-scratch-'));
const showImport = async (projectId: number) =>
  (await scene.as(scene.owner).get(`/api/v4/projects/${projectId}/import`).expect(200)).body as Record<string, unknown>;
const reportState = async (importId: number) => {
  await scene.report(importId);
  const { state, error } = scene.inside.states.at(-1)!;
  return { state, error };
};

it('brings branches and tags along, and wipes the credential', async () => {
  const { projectId, importId } = await scene.started('heron');
  const { git } = scene.host;
  await git.ok('heron', 'checkout', '--quiet', '-b', 'feature/nest');
  await git.commit('heron', 'Second');
  await git.ok('heron', 'tag', '-a', '-m', 'First release', 'v1');
  await git.ok('heron', 'push', '--quiet', 'origin', 'feature/nest', 'v1', 'HEAD:refs/pull/1/head');
  await scene.run(importId);
  const upstream = await scene.refs('wren/heron.git');
  expect(await scene.refs(scene.inside.repositoryOf(projectId))).toEqual(
    upstream.map((ref) => ref.replace(/^refs\/pull\/(\d+)\/head/, 'refs/imports/$1')).sort(),
  );
  expect(upstream).toHaveLength(4);
  expect(await scene.row(importId)).toMatchObject({ state: 'finished', sealed_credential: null, error: null });
  expect(await reportState(importId)).toEqual({ state: 'finished', error: null });
  expect(await showImport(projectId)).toMatchObject({ import_status: 'finished', failed_relations: [] });
});

it('leaves out refs that a push may not create, and lists them', async () => {
  const { projectId, importId } = await scene.started('egret');
  const id = 'a'.repeat(40);
  await scene.host.git.ok('egret', 'push', '--quiet', 'origin', `HEAD:refs/heads/${id}`, 'HEAD:refs/tags/main');
  await scene.run(importId);
  const refs = await scene.refs(scene.inside.repositoryOf(projectId));
  expect(refs.map((ref) => ref.split(' ')[0])).toEqual(['refs/heads/main']);
  const { failed_relations: failed, import_status: state } = await showImport(projectId);
  expect(state).toBe('finished');
  expect(failed).toEqual([
    {
      id: expect.any(Number) as number,
      created_at: expect.any(String) as string,
      exception_class: 'ImportFailure',
      exception_message: `${id}: The name of the branch is not allowed.`,
      source: 'import',
      relation_name: 'branch',
      line_number: null,
    },
    expect.objectContaining({
      exception_message: 'main: A tag cannot have the name of the default branch.',
      relation_name: 'tag',
    }),
  ]);
});

it('finishes with an empty repository', async () => {
  const { importId, projectId } = await scene.started('snipe');
  await scene.host.git.ok('.', '--git-dir', 'wren/snipe.git', 'update-ref', '-d', 'refs/heads/main');
  await scene.run(importId);
  expect(await showImport(projectId)).toMatchObject({ import_status: 'finished' });
});

it('changes nothing when a try runs a second time', async () => {
  const { importId, projectId } = await scene.started('siskin');
  const interrupted = new AbortController();
  // The process dies after collaboration has stored the push: the job neither ends nor fails.
  scene.inside.beforePush = async () => interrupted.abort(new Error('killed'));
  await expect(scene.run(importId, 1, interrupted.signal)).rejects.toThrow('killed');
  expect(await scene.row(importId)).toMatchObject({ state: 'started' });
  scene.inside.beforePush = async () => undefined;
  await scene.run(importId);
  const refs = await scene.refs(scene.inside.repositoryOf(projectId));
  await scene.run(importId);
  expect(await scene.refs(scene.inside.repositoryOf(projectId))).toEqual(refs);
  expect(await showImport(projectId)).toMatchObject({ import_status: 'finished' });
});

it('pushes nothing after a cancellation', async () => {
  const { importId, projectId } = await scene.started('dipper');
  scene.host.beforeAnswer = async () => {
    scene.host.beforeAnswer = async () => undefined;
    const body = { project_id: projectId };
    await scene.as(scene.owner).post('/api/v4/import/remote/cancel').send(body).expect(200);
  };
  await scene.run(importId);
  await scene.run(importId);
  expect(await scene.refs(scene.inside.repositoryOf(projectId))).toEqual([]);
  expect(await scene.row(importId)).toMatchObject({ state: 'canceled', sealed_credential: null });
  expect(await reportState(importId)).toEqual({ state: 'canceled', error: null });
});

it('tries again, and fails after the last try with the reason', async () => {
  const { importId, projectId } = await scene.started('bittern');
  scene.host.answer = (_, response) => void response.writeHead(500).end(scene.host.token);
  await expect(scene.run(importId)).rejects.toThrow('The remote repository cannot be read.');
  expect(await scene.row(importId)).toMatchObject({ state: 'started' });
  await scene.run(importId, LAST);
  const error = 'The remote repository cannot be read.';
  expect(await scene.row(importId)).toMatchObject({ state: 'failed', error, sealed_credential: null });
  expect(await reportState(importId)).toEqual({ state: 'failed', error });
  expect(await showImport(projectId)).toMatchObject({ import_status: 'failed', import_error: error });
  expect(listScratchFolders()).toEqual([]);
});

it('counts tries from the last progress, also those that ended with their process', async () => {
  const { importId } = await scene.started('dotterel');
  const { database } = scene.service;
  await scene.run(importId, 9);
  expect(await scene.row(importId)).toMatchObject({ state: 'finished', progress_try: 9 });
  const again = await scene.started('plover');
  await database.query('update project_imports set progress_try = 20 where id = $1', [again.importId]);
  scene.host.answer = (_, response) => void response.writeHead(500).end();
  await scene.run(again.importId, 21);
  expect(await scene.row(again.importId)).toMatchObject({ state: 'started', progress_try: 0 });
  scene.host.answer = null;
  await scene.run(again.importId, 11);
  const error = 'The import was interrupted too often.';
  expect(await scene.row(again.importId)).toMatchObject({ state: 'failed', error });
});

it('fails at once if upstream leads to a forbidden address', async () => {
  const { importId } = await scene.started('gannet');
  await scene.service.database.query('update project_imports set clone_url = $2 where id = $1', [
    importId,
    'http://169.254.169.254/x.git',
  ]);
  await scene.run(importId);
  const { state, error } = (await scene.row(importId))!;
  expect([state, error]).toEqual(['failed', expect.stringContaining('is not in EGRESS_ALLOW')]);
});

it('fails at once if the repository is larger than the limit', async () => {
  const { importId } = await scene.started('fulmar');
  const { git } = scene.host;
  await writeFile(`${git.folder}/fulmar/large`, randomBytes(2 ** 21));
  await git.ok('fulmar', 'add', '.');
  await git.ok('fulmar', 'commit', '--quiet', '-m', 'Large');
  await git.ok('fulmar', 'push', '--quiet', 'origin', 'main');
  await scene.run(importId);
  expect(await scene.row(importId)).toMatchObject({
    state: 'failed',
    error: 'The remote repository is larger than the limit.',
  });
});

it('fails if the project refuses the push', async () => {
  const { importId, projectId } = await scene.started('petrel');
  scene.inside.away.add(`/internal/repositories/${projectId}/info/refs`);
  await expect(scene.run(importId)).rejects.toThrow('The remote repository cannot be read.');
  await scene.run(importId, LAST);
  expect(await scene.row(importId)).toMatchObject({ state: 'failed' });
});

registerProjectDeletionTests({
  service: () => scene.service,
  effect: 'drop-imports',
  tables: ['project_imports', 'import_failures', 'import_stages'],
  fill: async (_, project) => {
    const { importId } = await scene.started(`rail${project.id}`);
    const { database } = scene.service;
    await database.query('update project_imports set project_id = $2 where id = $1', [importId, project.id]);
    const failed = [{ relation: 'branch', name: 'x', message: 'No.' }];
    await scene.service.app.get(ImportRecords).beginImport(importId);
    const page = { next: null, fetched: 1, imported: 0 };
    await scene.service.app.get(ImportStageRecords).advanceStage(importId, 'branch', page, failed);
  },
});

it('does nothing for an import whose project was deleted', async () => {
  const { importId } = await scene.started('linnet');
  await scene.service.database.query('delete from project_imports where id = $1', [importId]);
  await scene.run(importId);
  await scene.report(importId);
  expect(await scene.row(importId)).toBeUndefined();
});

it('ends imports that make no progress', async () => {
  const { importId } = await scene.started('whimbrel');
  const { importId: recent } = await scene.started('godwit');
  await scene.service.database.query(
    `update project_imports set state = 'started', updated_at = now() - interval '25 hours' where id = $1`,
    [importId],
  );
  await scene.service.app.get(StateReportsJob).failStuck();
  const error = 'The import made no progress for too long.';
  expect(await scene.row(importId)).toMatchObject({ state: 'failed', error, sealed_credential: null });
  expect(await scene.row(recent)).toMatchObject({ state: 'scheduled' });
});

it('ends a pending import whose request was interrupted, and reports it', async () => {
  const repository = await scene.host.add('turnstone');
  scene.inside.away.add('/internal/imports/project');
  await scene.as(scene.owner).post('/api/v4/import/remote').send(scene.parameters(repository)).expect(502);
  const [pending] = await scene.service.database.query<{ id: number }>(
    `select id from project_imports where state = 'pending'`,
  );
  await scene.service.database.query(
    `update project_imports set updated_at = now() - interval '11 minutes' where id = $1`,
    [pending!.id],
  );
  await scene.service.app.get(StateReportsJob).failStuck();
  expect(await reportState(pending!.id)).toMatchObject({ state: 'failed' });
  expect(await scene.row(pending!.id)).toMatchObject({ state: 'failed', sealed_credential: null });
});

it('leaves the credential nowhere', async () => {
  const { importId } = await scene.started('smew');
  await scene.run(importId);
  const { database, app } = scene.service;
  for (const table of ['project_imports', 'import_failures', 'background_jobs', 'outbox']) {
    expect(JSON.stringify(await database.query(`select * from ${table}`))).not.toContain(scene.host.token);
  }
  expect(JSON.stringify([app.logs, scene.inside.states, scene.inside.projects])).not.toContain(scene.host.token);
  expect(listScratchFolders()).toEqual([]);
});

it('opens a credential for its own import only', () => {
  const credentials = scene.service.app.get(ImportCredentials);
  const sealed = credentials.seal('one', 's3cret');
  expect(credentials.open('one', sealed)).toBe('s3cret');
  expect(credentials.open('another', sealed)).toBeNull();
});

describe('when its user has lost the role in the namespace', () => {
  const LOST = 'The user who started the import may not create projects in this namespace any more.';
  afterEach(() => {
    scene.inside.target = 'allowed';
    scene.inside.beforePush = async () => undefined;
    scene.inside.onObjects = async () => ({ failed: [] });
  });
  const failed = async (importId: number) =>
    expect(await scene.row(importId)).toMatchObject({ state: 'failed', error: LOST, sealed_credential: null });

  it.each(['missing', 'forbidden'] as const)('fails before it fetches anything: %s', async (target) => {
    const { importId, project } = await scene.started(`lost-${target}`);
    scene.inside.target = target;
    const before = scene.host.seen.length;
    await scene.run(importId);
    await failed(importId);
    expect(scene.host.seen).toHaveLength(before);
    const namespace = scene.owner.username;
    expect(scene.inside.targets.at(-1)).toEqual({ user_id: scene.owner.id, namespace, import_type: 'remote' });
    await scene.report(importId);
    expect(scene.inside.states.at(-1)).toMatchObject({ state: 'failed', error: LOST });
    expect(project.id).toBeGreaterThan(0);
  });

  it.each(['pessimistic', 'optimistic'])(
    'fails between the fetch and the push, and after a page: %s',
    async (strategy) => {
      const options = { timeout_strategy: strategy, pagination_limit: 1 };
      const first = await scene.started(`lost-push-${strategy}`, options, await scene.host.add(`up-push-${strategy}`));
      scene.host.beforeAnswer = async () => void (scene.inside.target = 'forbidden');
      await scene.run(first.importId);
      scene.host.beforeAnswer = async () => undefined;
      await failed(first.importId);
      expect(await scene.refs(scene.inside.repositoryOf(first.projectId))).toEqual([]);

      scene.inside.target = 'allowed';
      const second = await scene.started(`lost-page-${strategy}`, options, await scene.host.add(`up-page-${strategy}`));
      scene.host.put(
        second.repository,
        'labels',
        ['a', 'b', 'c'].map((name) => ({ name, color: 'd73a4a' })),
      );
      scene.inside.onObjects = async () => {
        scene.inside.target = 'forbidden';
        return { failed: [] };
      };
      await scene.run(second.importId);
      await failed(second.importId);
      expect(scene.inside.objects.filter(({ project_id: id }) => id === second.projectId)).toHaveLength(1);
    },
  );

  it('waits while identity does not answer', async () => {
    const { importId } = await scene.started('lost-nothing');
    scene.inside.away.add('/internal/imports/target');
    await expect(scene.run(importId)).rejects.toThrow();
    scene.inside.away.clear();
    await scene.run(importId);
    expect(await scene.row(importId)).toMatchObject({ state: 'finished' });
  });
});
