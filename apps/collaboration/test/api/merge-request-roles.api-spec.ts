import { join } from 'node:path';
import type { DirectoryProject } from '@rookery/contracts';
import type { Role, Viewer } from '@rookery/kernel';
import { MATRIX_MEMBERS, MATRIX_VISIBILITIES, registerRoleMatrixTests } from '@rookery/testing';
import type { MatrixRole, MatrixVisibility, SeededService } from '@rookery/testing';
import type { Agent } from 'supertest';
import { startCollaboration } from '../support/app';
import { MergeRequestScene } from '../support/merge-request-scene';

type Places = Record<MatrixVisibility, Readonly<Record<string, string>>>;

let service: SeededService;
let scene: MergeRequestScene;
const clients = {} as Record<MatrixRole, Agent>;
const open = {} as Places;
const limited = {} as Places;
const disabled = {} as Places;

beforeAll(async () => {
  service = await startCollaboration();
  scene = await MergeRequestScene.start(service);
  const { app, seed } = service;
  const people = new Map<Role, Viewer>();
  for (const role of MATRIX_MEMBERS) {
    const viewer = seed.viewer(await seed.user());
    people.set(role, viewer);
    clients[role] = app.as(viewer);
  }
  for (const visibility of MATRIX_VISIBILITIES) {
    open[visibility] = await createPlace({ visibility }, people);
    limited[visibility] = await createPlace({ visibility, merge_requests_access_level: 'private' }, people);
    disabled[visibility] = await createPlace({ visibility }, people);
    await service.database.query(
      `update directory_projects set merge_requests_access_level = 'disabled' where id = $1`,
      [disabled[visibility]['project']],
    );
  }
  // Only plans with approval rules let callers write them.
  await service.database.query(`update directory_namespaces set plan = 'premium'`);
  clients.anonymous = app.as(seed.anonymous());
  clients.outsider = app.as(seed.viewer(await seed.user()));
  clients.administrator = app.as(seed.viewer(await seed.user({ admin: true })));
});
afterAll(async () => {
  await scene.stop();
  await service.close();
});

/** A project with a merge request, in which people have their roles. */
async function createPlace(over: Partial<DirectoryProject>, people: ReadonlyMap<Role, Viewer>) {
  const place = await scene.place(over);
  const { project, cast, path } = place;
  for (const [role, { userId }] of people) await service.seed.member({ id: userId! }, project, role);
  await scene.branch(place, 'topic');
  const sent = { title: 'A change', source_branch: 'topic', target_branch: 'main' };
  const { body } = await service.app.as(service.seed.viewer(cast.developer)).post(path).send(sent).expect(201);
  return { project: `${project.id}`, iid: `${body.iid}` };
}

const BELOW = [
  ...['approval_state', 'approve', 'changes', 'closes_issues', 'commits', 'diffs', 'merge', 'merge_ref'],
  ...['participants', 'pipelines', 'raw_diffs', 'rebase', 'related_issues', 'reviewers', 'versions'],
];
const routes = new RegExp(`/projects/:id/merge_requests(/:merge_request_iid(/(${BELOW.join('|')}))?)?$`);
const REVIEWS = 'approval_rules|approvals|draft_notes|discussions|notes(?!/:note_id/)';
const reviews = new RegExp(
  `/projects/:id/(approval_rules|approvals|merge_requests/:merge_request_iid/(${REVIEWS}))(/|$)`,
);
const matrixFile = (name: string): string => join(__dirname, '../matrix', name);

describe('merge requests for all who see the project', () => {
  registerRoleMatrixTests({
    file: matrixFile('merge-requests.tsv'),
    routes,
    clients: () => clients,
    places: () => open,
  });
});

describe('merge requests for members', () => {
  registerRoleMatrixTests({
    file: matrixFile('members-merge-requests.tsv'),
    routes,
    clients: () => clients,
    places: () => limited,
  });
});

describe('reviews of merge requests', () => {
  registerRoleMatrixTests({
    file: matrixFile('reviews.tsv'),
    routes: reviews,
    clients: () => clients,
    places: () => open,
  });
});

describe('disabled merge requests', () => {
  registerRoleMatrixTests({
    file: matrixFile('disabled-merge-requests.tsv'),
    routes,
    clients: () => clients,
    places: () => disabled,
  });
});
