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
    limited[visibility] = await createPlace({ visibility, repository_access_level: 'private' }, people);
    disabled[visibility] = await createPlace({ visibility }, people);
    await service.database.query(`update directory_projects set repository_access_level = 'disabled' where id = $1`, [
      disabled[visibility]['project'],
    ]);
  }
  clients.anonymous = app.as(seed.anonymous());
  clients.outsider = app.as(seed.viewer(await seed.user()));
  clients.administrator = app.as(seed.viewer(await seed.user({ admin: true })));
});
afterAll(async () => {
  await scene.stop();
  await service.close();
});

/** A project with a commit and a tag, in which people have their roles. */
async function createPlace(over: Partial<DirectoryProject>, people: ReadonlyMap<Role, Viewer>) {
  const { project, folder, mainSha, fullPath } = await scene.place(over);
  for (const [role, { userId }] of people) await service.seed.member({ id: userId! }, project, role);
  await scene.git.ok(folder, 'tag', 'v1');
  await scene.git.ok(folder, 'push', '--quiet', 'origin', 'v1');
  const blob = (await scene.git.ok(folder, 'rev-parse', 'HEAD:README.md')).trim();
  return { project: `${project.id}`, path: fullPath, sha: mainSha, blob };
}

const routes = /\/projects\/:id\/(?:protected_|repository\/)(?!commits\/:sha\/(?:comments|discussions))/;
const matrixFile = (name: string): string => join(__dirname, '../matrix', name);

describe('a repository for all who see the project', () => {
  registerRoleMatrixTests({ file: matrixFile('repositories.tsv'), routes, clients: () => clients, places: () => open });
});

describe('a repository for members', () => {
  registerRoleMatrixTests({
    file: matrixFile('members-repositories.tsv'),
    routes,
    clients: () => clients,
    places: () => limited,
  });
});

describe('a disabled repository', () => {
  registerRoleMatrixTests({
    file: matrixFile('disabled-repositories.tsv'),
    routes,
    clients: () => clients,
    places: () => disabled,
  });
});
