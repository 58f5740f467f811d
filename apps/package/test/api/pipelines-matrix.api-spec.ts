import { join } from 'node:path';
import type { Role, Viewer } from '@rookery/kernel';
import { MATRIX_MEMBERS, MATRIX_VISIBILITIES, registerRoleMatrixTests } from '@rookery/testing';
import type { MatrixRole, MatrixVisibility } from '@rookery/testing';
import type { Agent } from 'supertest';
import { COMMITTED_AT, shaOf } from '../support/fake-collaboration';
import { PipelineScene } from '../support/pipelines';

let scene: PipelineScene;
const clients = {} as Record<MatrixRole, Agent>;
const places = {} as Record<MatrixVisibility, Readonly<Record<string, string>>>;

beforeAll(async () => {
  scene = await PipelineScene.open();
  const { app, seed, collaboration } = scene;
  collaboration.heads.set(7, { is_found: true, head: { sha: shaOf('2'), committed_at: COMMITTED_AT } });
  const people = new Map<Role, Viewer>();
  for (const role of MATRIX_MEMBERS) {
    const viewer = seed.viewer(await seed.user());
    people.set(role, viewer);
    clients[role] = app.as(viewer);
  }
  for (const visibility of MATRIX_VISIBILITIES) places[visibility] = await createPlace(visibility, people);
  clients.anonymous = app.as(seed.anonymous());
  clients.outsider = app.as(seed.viewer(await seed.user()));
  clients.administrator = app.as(seed.viewer(await seed.user({ admin: true })));
});
afterAll(() => scene.close());

/** A group whose project has a pipeline with a job. */
async function createPlace(visibility: MatrixVisibility, people: ReadonlyMap<Role, Viewer>) {
  const { app, seed } = scene;
  const group = await seed.group({ visibility, plan: 'ultimate' });
  const project = await seed.project({ visibility, namespace_id: group.id });
  for (const [role, { userId }] of people) await seed.member({ id: userId! }, group, role);
  const owner = people.get('owner')!;
  const pipeline = await scene.pipeline(owner, project);
  const jobs = `/api/v4/projects/${project.id}/pipelines/${pipeline.id}/jobs`;
  const { body } = await app.as(owner).post(jobs).send({ name: 'build' }).expect(201);
  return {
    ...{ group: `${group.id}`, project: `${project.id}`, pipeline: `${pipeline.id}`, sha: shaOf('1') },
    job: `${(body as { id: number }).id}`,
  };
}

registerRoleMatrixTests({
  file: join(__dirname, '../matrix/pipelines-matrix.tsv'),
  routes:
    /^\/(?!.*\/packages\/)(projects\/:id\/(pipelines?|jobs|triggers|statuses|repository|merge_requests)\b|.*dependency_list_exports)/,
  clients: () => clients,
  places: () => places,
});
