import { join } from 'node:path';
import type { Role, Viewer } from '@rookery/kernel';
import { MATRIX_MEMBERS, MATRIX_VISIBILITIES, registerRoleMatrixTests } from '@rookery/testing';
import type { MatrixRole, MatrixVisibility } from '@rookery/testing';
import type { Agent } from 'supertest';
import { startPackage } from '../support/app';
import type { PackageService } from '../support/app';
import { addRef, published as publishedComposer } from '../support/composer';
import { conanOf, INSTANCE, uploadedRecipe, uploadedV1 } from '../support/conan';
import { FakeCollaboration, shaOf } from '../support/fake-collaboration';
import { uploaded as uploadedHelm } from '../support/helm';
import { mavenPath, putMaven } from '../support/maven';
import { published } from '../support/npm';
import { pushed } from '../support/nuget';
import { uploaded } from '../support/packages';
import { sha256, uploaded as uploadedPypi } from '../support/pypi';
import { uploaded as uploadedTerraform } from '../support/terraform';

let service: PackageService;
let source: FakeCollaboration;
const clients = {} as Record<MatrixRole, Agent>;
const places = {} as Record<MatrixVisibility, Readonly<Record<string, string>>>;

beforeAll(async () => {
  source = await new FakeCollaboration().start();
  service = await startPackage({ COLLABORATION_URL: source.url });
  const { app, seed } = service;
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
afterAll(async () => {
  await service.close();
  await source.stop();
});

/** A group with a project and a package of each format. */
async function createPlace(visibility: MatrixVisibility, people: ReadonlyMap<Role, Viewer>) {
  const { app, seed } = service;
  const group = await seed.group({ visibility, path: visibility });
  const project = await seed.project({ visibility, namespace_id: group.id, path: 'eggs' });
  for (const [role, { userId }] of people) await seed.member({ id: userId! }, group, role);
  const owner = people.get('owner')!;
  const { package_id } = await uploaded(app, owner, project, { file: 'a.txt' });
  await uploaded(app, owner, project, { file: 'dir/a.txt' });
  await putMaven(app, owner, mavenPath(project, `${visibility}/eggs/1.0/eggs-1.0.jar`), 'jar').expect(200);
  await uploadedHelm(app, owner, project, { name: 'chart' });
  await pushed(app, owner, project);
  await uploadedTerraform(app, owner, project, 'vpc/aws/1.0.0');
  await uploadedRecipe(app, owner, conanOf(project));
  await uploadedV1(app, owner, `${conanOf(project)}/v1/files/hello/1.0/me/stable/0`);
  await uploadedV1(app, owner, `${INSTANCE}/v1/files/hello/1.0/${visibility}+eggs/stable/0`);
  await uploadedRecipe(app, owner, INSTANCE, { reference: `hello/1.0/${visibility}+eggs/stable` });
  await publishedComposer(app, owner, project, source, { commit: shaOf('a') });
  addRef(source, project, 'refs/heads/main');
  await uploadedPypi(app, owner, project, { name: 'pkg', content: 'python' });
  await published(app, owner, project, { name: `@${visibility}/pkg`, version: '1.0.0' });
  return {
    ...{ group: `${group.id}`, project: `${project.id}`, root: visibility, package: `${package_id}` },
    ...{ maven: `${visibility}%2Feggs%2F1.0`, sha: sha256('python') },
  };
}

registerRoleMatrixTests({
  file: join(__dirname, '../matrix/role-matrix.tsv'),
  routes: /\/packages\b/,
  clients: () => clients,
  places: () => places,
});
