import type { DirectoryProject } from '@rookery/contracts';
import { InstanceSettings } from '@rookery/instance';
import type { Viewer } from '@rookery/kernel';
import { registerProjectDeletionTests } from '@rookery/testing';
import type { DirectorySeed, TestApp } from '@rookery/testing';
import type { Response } from 'supertest';
import { startPackage } from '../support/app';
import type { PackageService } from '../support/app';
import { addRef, composerPath } from '../support/composer';
import { conanOf, put as putConan, recipeV2, revisionOf, uploadedRecipe } from '../support/conan';
import { COMMITTED_AT, FakeCollaboration, shaOf } from '../support/fake-collaboration';
import { archiveOf, chartYaml, helmPath, upload as uploadHelm } from '../support/helm';
import { HOSTILE } from '../support/hostile-names';
import { mavenPath, putMaven } from '../support/maven';
import { documentOf, memberOf, npmOf, npmPath, put as putDocument, tarballOf } from '../support/npm';
import { nugetPath, nupkgOf, nuspecOf, pdbOf, push } from '../support/nuget';
import { genericPath } from '../support/packages';
import { pypiPath, sha256, upload as uploadPypi } from '../support/pypi';
import { terraformPath, upload as uploadTerraform } from '../support/terraform';

let source: FakeCollaboration;
let service: PackageService;
let seed: DirectorySeed;
let app: TestApp;
let settingsVersion = 0;

beforeAll(async () => {
  source = await new FakeCollaboration().start();
  service = await startPackage({ COLLABORATION_URL: source.url });
  ({ seed, app } = service);
});
afterEach(() => applySettings({}));
afterAll(async () => {
  await service.close();
  await source.stop();
});

/** Sets features and plan limits of the instance. Units: bytes. */
function applySettings({ features = {}, limits = {} }: { features?: object; limits?: object }): void {
  const taken = { version: (settingsVersion += 1), settings: {}, features, plan_limits: { default: limits } };
  app.get(InstanceSettings).applyAnswer(taken as Parameters<InstanceSettings['applyAnswer']>[0]);
}

/** A project with the path of its group. */
interface RegistryPlace {
  readonly project: DirectoryProject;
  readonly group: string;
}

interface RegistryFormat {
  /** The published version, as the packages API lists it. */
  readonly listed: (place: RegistryPlace) => { readonly name: string; readonly version: string };
  /** Name in rules, if it is another one. */
  readonly pattern?: string;
  readonly publish: (viewer: Viewer, place: RegistryPlace) => PromiseLike<Response>;
  /** Path at which a client finds the version. */
  readonly found: (place: RegistryPlace) => string;
  /** Status of a second publication of the version. */
  readonly again: number;
  /** Rules can name the type. */
  readonly isProtectable: boolean;
  /** The files are stored and use the storage of the project. */
  readonly isStored: boolean;
  /** The next request publishes a deleted version again. */
  readonly returns?: true;
  /** Tables of the format, each of which has a row of the version. */
  readonly tables: readonly string[];
}

const files = { isProtectable: true, isStored: true } as const;
/** Rules cannot name these types, and their contents are in the repository. */
const commits = { isProtectable: false, isStored: false } as const;
const [A, GUID] = [shaOf('a'), '0123456789abcdef0123456789abcdef'];
const modulePath = ({ group, project }: RegistryPlace): string => `localhost/${group}/${project.path}`;

const FORMATS: Readonly<Record<string, RegistryFormat>> = {
  generic: {
    ...files,
    again: 201,
    tables: [],
    listed: () => ({ name: 'eggs', version: '1.0.0' }),
    publish: (viewer, { project }) =>
      app
        .as(viewer)
        .put(genericPath(project, 'eggs', '1.0.0', 'eggs.txt'))
        .type('application/octet-stream')
        .send(Buffer.from('bytes')),
    found: ({ project }) => genericPath(project, 'eggs', '1.0.0', 'eggs.txt'),
  },
  npm: {
    ...files,
    again: 403,
    tables: ['npm_versions', 'package_tags', 'package_indexes'],
    listed: () => ({ name: '@nest/eggs', version: '1.0.0' }),
    publish: async (viewer, { project }) =>
      putDocument(
        app,
        viewer,
        npmPath(npmOf.project(project), '@nest/eggs'),
        await documentOf({ name: '@nest/eggs', version: '1.0.0', tarball: await tarballOf({ 'package/a': 'a' }) }),
      ),
    found: ({ project }) => `${npmOf.project(project)}/@nest/eggs/-/eggs-1.0.0.tgz`,
  },
  pypi: {
    ...files,
    again: 400,
    tables: ['pypi_versions', 'pypi_files'],
    listed: () => ({ name: 'eggs', version: '1.0' }),
    publish: (viewer, { project }) => uploadPypi(app, viewer, project, { name: 'eggs', content: 'bytes' }),
    found: ({ project }) => `${pypiPath(project)}/files/${sha256('bytes')}/eggs-1.0.tar.gz`,
  },
  maven: {
    ...files,
    again: 200,
    tables: ['maven_files'],
    listed: () => ({ name: 'com/nest/eggs', version: '1.0' }),
    publish: (viewer, { project }) =>
      putMaven(app, viewer, mavenPath(project, 'com/nest/eggs/1.0/eggs-1.0.jar'), 'bytes'),
    found: ({ project }) => mavenPath(project, 'com/nest/eggs/1.0/eggs-1.0.jar'),
  },
  helm: {
    ...files,
    again: 201,
    tables: ['helm_files'],
    listed: () => ({ name: 'eggs', version: '1.0.0' }),
    publish: async (viewer, { project }) =>
      uploadHelm(app, viewer, project, { archive: await archiveOf(chartYaml('eggs', '1.0.0')) }),
    found: ({ project }) => `${helmPath(project)}/stable/charts/eggs-1.0.0.tgz`,
  },
  nuget: {
    ...files,
    again: 201,
    tables: ['nuget_versions', 'nuget_symbols'],
    listed: () => ({ name: 'Nest.Eggs', version: '1.0.0' }),
    publish: async (viewer, { project }) => {
      const pushed = await push(app, viewer, nugetPath(project), await nupkgOf(nuspecOf('Nest.Eggs', '1.0.0')));
      const type = '<packageTypes><packageType name="SymbolsPackage"/></packageTypes>';
      const symbols = await nupkgOf(nuspecOf('Nest.Eggs', '1.0.0', type), { 'lib/eggs.pdb': pdbOf(GUID) });
      if (pushed.status === 201) await push(app, viewer, `${nugetPath(project)}/symbolpackage`, symbols).expect(201);
      return pushed;
    },
    found: ({ project }) => `${nugetPath(project)}/download/nest.eggs/1.0.0/nest.eggs.1.0.0.nupkg`,
  },
  composer: {
    ...commits,
    again: 201,
    tables: ['composer_versions'],
    listed: () => ({ name: 'nest/eggs', version: '1.0.0' }),
    publish: (viewer, { project }) => {
      addRef(source, project, 'refs/tags/v1.0.0', { commit: A });
      return app.as(viewer).post(composerPath(project)).send({ tag: 'v1.0.0' });
    },
    found: ({ project }) => `${composerPath(project)}/archives/nest/eggs.zip?sha=${A}`,
  },
  golang: {
    ...commits,
    again: 200,
    returns: true,
    tables: ['go_versions'],
    listed: (place) => ({ name: modulePath(place), version: 'v1.0.0' }),
    publish: (viewer, place) => {
      const { project } = place;
      const goMod = { 'go.mod': `module ${modulePath(place)}\n` };
      const commit = { id: A, committed_at: COMMITTED_AT, files: goMod, tags: ['v1.0.0'] };
      source.commits.set(`${project.id} refs/tags/v1.0.0`, commit).set(`${project.id} ${A}`, commit);
      source.tags.set(project.id, [{ name: 'v1.0.0', has_file: true }]);
      return app.as(viewer).get(FORMATS['golang']!.found(place));
    },
    found: (place) => `/api/v4/projects/${place.project.id}/packages/go/${modulePath(place)}/@v/v1.0.0.mod`,
  },
  terraform_module: {
    ...files,
    again: 403,
    tables: [],
    listed: () => ({ name: 'eggs/aws', version: '1.0.0' }),
    publish: (viewer, { project }) => uploadTerraform(app, viewer, project, 'eggs/aws/1.0.0', 'bytes'),
    found: ({ project }) => terraformPath(project, 'eggs/aws/1.0.0'),
  },
  conan: {
    ...files,
    again: 200,
    tables: ['conan_revisions', 'conan_files'],
    pattern: 'hello',
    listed: () => ({ name: 'hello/1.0@me/stable', version: '1.0' }),
    publish: async (viewer, { project }) => {
      const first = await putConan(app, viewer, `${conanRevision(project)}/files/conanfile.py`, 'recipe');
      if (first.status === 200) await uploadedRecipe(app, viewer, conanOf(project));
      return first;
    },
    found: ({ project }) => `${conanRevision(project)}/files/conanfile.py`,
  },
};
const conanRevision = (project: DirectoryProject): string => revisionOf(recipeV2(conanOf(project)));

/** These tables are emptied by effects of their own. */
const OWN_EFFECT = new Set(['package_tags', 'package_indexes', 'npm_versions']);

describe.each(Object.entries(FORMATS))('packages of the type %s', (type, format) => {
  let place: RegistryPlace;
  let developer: Viewer;
  let maintainer: Viewer;
  beforeEach(async () => {
    const group = await seed.group({ visibility: 'private' });
    const project = await seed.project({ visibility: 'private', namespace_id: group.id });
    place = { project, group: group.path };
    [developer, maintainer] = [await memberOf(seed, project, 'developer'), await memberOf(seed, project, 'maintainer')];
  });
  const packages = (): string => `/api/v4/projects/${place.project.id}/packages`;
  const list = async (): Promise<{ id: number }[]> =>
    (await app.as(maintainer).get(packages()).query({ package_type: type }).expect(200)).body;
  const find = async (viewer = developer): Promise<number> =>
    (await app.as(viewer).get(format.found(place)).buffer(true)).status;
  const protect = (levels: object) =>
    app
      .as(maintainer)
      .post(`${packages()}/protection/rules`)
      .send({ package_name_pattern: format.pattern ?? format.listed(place).name, package_type: type, ...levels });

  it('are listed by their type, found by members, and published again as the type says', async () => {
    expect((await format.publish(developer, place)).status).toBeLessThan(300);
    expect(await list()).toMatchObject([{ ...format.listed(place), package_type: type, status: 'default' }]);
    expect(await find()).toBe(200);
    expect(await find(seed.anonymous())).toBe(401);
    expect(await find(seed.viewer(await seed.user()))).toBe(404);
    expect((await format.publish(developer, place)).status).toBe(format.again);
    expect(await list()).toHaveLength(1);
  });

  it('are deleted by the packages API, and published again', async () => {
    await format.publish(developer, place);
    const [{ id } = { id: 0 }] = await list();
    await app.as(developer).delete(`${packages()}/${id}`).expect(403);
    await app.as(maintainer).delete(`${packages()}/${id}`).expect(204);
    expect(await list()).toEqual([]);
    if (!format.returns) expect(await find()).toBe(404);
    expect((await format.publish(developer, place)).status).toBeLessThan(300);
    expect(await list()).not.toMatchObject([{ id }]);
  });

  it('are protected by rules, or cannot be named by them', async () => {
    if (!format.isProtectable) {
      await protect({ minimum_access_level_for_push: 'maintainer' }).expect(400);
      return;
    }
    const gate = { boolean: true, actors: [], groups: [], percentage_of_time: 0, percentage_of_actors: 0 };
    applySettings({ features: { packages_protected_packages_delete: gate } });
    const levels = { minimum_access_level_for_push: 'maintainer', minimum_access_level_for_delete: 'owner' };
    await protect(levels).expect(201);
    expect((await format.publish(developer, place)).status).toBe(403);
    expect(await list()).toEqual([]);
    expect((await format.publish(maintainer, place)).status).toBeLessThan(300);
    const [{ id } = { id: 0 }] = await list();
    await app.as(maintainer).delete(`${packages()}/${id}`).expect(403);
  });

  it('use the storage of the project, or none', async () => {
    applySettings({ limits: { project_packages_size_limit: 4 } });
    const { status } = await format.publish(developer, place);
    if (format.isStored) expect([status, await list()]).toEqual([403, []]);
    else expect([status < 300, (await list()).length]).toEqual([true, 1]);
  });
});

describe('hostile names', () => {
  let place: RegistryPlace;
  let developer: Viewer;
  beforeAll(async () => {
    const group = await seed.group({ visibility: 'private' });
    const project = await seed.project({ visibility: 'private', namespace_id: group.id });
    place = { project, group: group.path };
    developer = await memberOf(seed, project, 'developer');
  });

  it.each(HOSTILE)('are refused, whatever part of a package they name: case %#', async (name) => {
    const { project } = place;
    const text = decodeURIComponent(name);
    const json = JSON.stringify(text);
    const chart = async (yaml: string, channel = 'stable') =>
      uploadHelm(app, developer, project, { channel, archive: await archiveOf(yaml) });
    const composer = (tag: string, document: string) => {
      addRef(source, project, `refs/tags/${tag}`, { json: document });
      return app.as(developer).post(composerPath(project)).send({ tag });
    };
    const nuget = async (id: string, version: string) =>
      push(app, developer, nugetPath(project), await nupkgOf(nuspecOf(id, version)));
    const module = (path: string) =>
      app.as(developer).get(`/api/v4/projects/${project.id}/packages/go/${path}`).buffer(true);
    const answers = [
      await chart(chartYaml(json, '1.0.0')),
      await chart(chartYaml('eggs', json)),
      await nuget(text, '1.0.0'),
      await nuget('Nest.Eggs', text),
      await composer(text, '{"name":"nest/eggs"}'),
      await composer('v1.0.0', `{"name":${JSON.stringify(`nest/${text}`)}}`),
    ];
    // The router refuses a long name in front of a wildcard with a status that no route lists.
    if (name.length < 1000)
      answers.push(
        await chart(chartYaml('eggs', '1.0.0'), name),
        await uploadTerraform(app, developer, project, `${name}/aws/1.0.0`),
        await uploadTerraform(app, developer, project, `eggs/${name}/1.0.0`),
        await uploadTerraform(app, developer, project, `eggs/aws/${name}`),
        await module(`${name}/@v/list`),
        await module(`${modulePath(place)}/@v/${name}.info`),
      );
    for (const [at, { status }] of answers.entries())
      expect([at, [400, 404, 414, 422].includes(status) || status]).toEqual([at, true]);
    expect((await app.as(developer).get(`/api/v4/projects/${project.id}/packages`)).body).toEqual([]);
  });
});

describe('rows of all formats', () => {
  registerProjectDeletionTests({
    service: () => service,
    effect: 'drop-packages',
    tables: Object.values(FORMATS).flatMap(({ tables }) => tables.filter((table) => !OWN_EFFECT.has(table))),
    fill: async (_, project) => {
      const [home] = await service.database.query<{ path: string }>(
        `select path from directory_namespaces where id = ${project.namespace_id}`,
      );
      const owner = await memberOf(seed, project, 'owner');
      for (const { publish } of Object.values(FORMATS)) await publish(owner, { project, group: home!.path });
    },
  });
});
