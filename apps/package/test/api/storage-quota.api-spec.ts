import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import { InstanceSettings } from '@rookery/instance';
import type { PlanLimitName } from '@rookery/instance';
import type { Viewer } from '@rookery/kernel';
import type { DirectorySeed, TestApp } from '@rookery/testing';
import type { Response } from 'supertest';
import { startPackage } from '../support/app';
import type { PackageService } from '../support/app';
import { conanOf, put as putConan, recipeV2, revisionOf } from '../support/conan';
import { mavenPath, putMaven } from '../support/maven';
import { documentOf, npmOf, npmPath, put as putDocument } from '../support/npm';
import { genericPath } from '../support/packages';
import { upload } from '../support/pypi';

let service: PackageService;
let seed: DirectorySeed;
let app: TestApp;
let root: DirectoryNamespace;
let project: DirectoryProject;
let sibling: DirectoryProject;
let maintainer: Viewer;
let version = 0;

beforeAll(async () => {
  service = await startPackage();
  ({ seed, app } = service);
});
beforeEach(async () => {
  const owner = await seed.user();
  root = await seed.group({ visibility: 'private' });
  const below = await seed.group({ visibility: 'private', parent: root });
  project = await seed.project({ visibility: 'private', namespace_id: below.id });
  sibling = await seed.project({ visibility: 'private', namespace_id: root.id });
  await seed.member(owner, root, 'maintainer');
  maintainer = seed.viewer(owner);
});
afterEach(() => applyLimits({}));
afterAll(() => service.close());

/** Sets limits of all plans. Units: bytes. */
function applyLimits(limits: Partial<Record<PlanLimitName, number>>): void {
  app
    .get(InstanceSettings)
    .applyAnswer({ version: (version += 1), features: {}, settings: {}, plan_limits: { default: limits } });
}
const put = (name: string, size: number, o: { into?: DirectoryProject } = {}) =>
  app
    .as(maintainer)
    .put(genericPath(o.into ?? project, name, '1.0.0', 'a.txt'))
    .type('application/octet-stream')
    .send(Buffer.alloc(size, name));
const refusedBody = (kind: string): object => ({ message: `403 Forbidden - Package storage of the ${kind} is full.` });
const statusAndBody = ({ status, body }: Response): unknown[] => [status, body];

it('takes files of a project up to the limit to the byte', async () => {
  applyLimits({ project_packages_size_limit: 10 });
  await put('first', 6).expect(201);
  expect(statusAndBody(await put('second', 5))).toEqual([403, refusedBody('project')]);
  await put('second', 4).expect(201);
  expect(statusAndBody(await put('third', 1))).toEqual([403, refusedBody('project')]);
  await put('third', 6, { into: sibling }).expect(201);
  applyLimits({});
  await put('third', 6).expect(201);
});

it('refuses a file whose size is known at its end only', async () => {
  applyLimits({ project_packages_size_limit: 10 });
  const wrapped = await app
    .as(maintainer)
    .put(genericPath(project, 'wrapped', '1.0.0', 'a.txt'))
    .attach('file', Buffer.alloc(11), 'a.txt');
  expect(statusAndBody(wrapped)).toEqual([403, refusedBody('project')]);
  expect((await app.as(maintainer).get(`/api/v4/projects/${project.id}/packages`)).body).toEqual([]);
});

it('counts all projects below the top-level group', async () => {
  applyLimits({ namespace_packages_size_limit: 10 });
  await put('first', 6).expect(201);
  expect(statusAndBody(await put('second', 5, { into: sibling }))).toEqual([403, refusedBody('namespace')]);
  await put('second', 4, { into: sibling }).expect(201);
  const elsewhere = await seed.project({ visibility: 'private' });
  await seed.member({ id: maintainer.userId! }, elsewhere, 'maintainer');
  await put('second', 10, { into: elsewhere }).expect(201);
});

it('gives the room of deleted packages back at once', async () => {
  applyLimits({ project_packages_size_limit: 10 });
  await put('first', 10).expect(201);
  const [row] = (await app.as(maintainer).get(`/api/v4/projects/${project.id}/packages`).expect(200)).body;
  await app.as(maintainer).delete(`/api/v4/projects/${project.id}/packages/${row.id}`).expect(204);
  await put('second', 10).expect(201);
});

it('holds the limit while many upload at once', async () => {
  applyLimits({ project_packages_size_limit: 10, namespace_packages_size_limit: 10 });
  const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => put(`p${index}`, 1)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
  expect(answers.filter(({ status }) => status === 403)).toHaveLength(20);
});

it('is kept by all formats', async () => {
  applyLimits({ project_packages_size_limit: 3 });
  const maven = await putMaven(app, maintainer, mavenPath(project, 'com/acme/a/1/a-1.jar'), 'bytes');
  expect(statusAndBody(maven)).toEqual([403, refusedBody('project')]);
  expect(statusAndBody(await upload(app, maintainer, project, { content: 'bytes' }))).toEqual([
    403,
    refusedBody('project'),
  ]);
  const conan = `${revisionOf(recipeV2(conanOf(project)))}/files/conanfile.py`;
  const { message } = refusedBody('project') as { message: string };
  expect(statusAndBody(await putConan(app, maintainer, conan, 'bytes'))).toEqual([
    403,
    { errors: [{ status: 403, message }] },
  ]);
  const document = await documentOf({ name: 'a', version: '1.0.0' });
  expect(statusAndBody(await putDocument(app, maintainer, npmPath(npmOf.project(project), 'a'), document))).toEqual([
    403,
    { ...refusedBody('project'), error: 'Package storage of the project is full.' },
  ]);
  expect((await app.as(maintainer).get(`/api/v4/projects/${project.id}/packages`)).body).toEqual([]);
});
