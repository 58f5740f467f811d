import type { DirectoryNamespace, DirectoryProject, FeatureGates } from '@rookery/contracts';
import { InstanceSettings } from '@rookery/instance';
import type { Role, Viewer } from '@rookery/kernel';
import {
  registerForeignParentTests,
  registerProjectDeletionTests,
  registerListPagingTests,
  registerVisibilityTests,
} from '@rookery/testing';
import type { DirectorySeed, TestApp } from '@rookery/testing';
import { DestroyDeletedPackagesJob } from '../../src/packages/removal/destruction.job';
import { MeasurePackageStorageJob } from '../../src/packages/storage.job';
import { startPackage } from '../support/app';
import type { PackageService } from '../support/app';
import { genericPath, uploaded } from '../support/packages';

let service: PackageService;
let seed: DirectorySeed;
let app: TestApp;
let project: DirectoryProject;
let maintainer: Viewer;

beforeAll(async () => {
  service = await startPackage();
  ({ seed, app } = service);
  project = await seed.project({ visibility: 'private' });
  maintainer = await createMember(project, 'maintainer');
});
afterAll(() => service.close());

async function createMember(of: DirectoryProject, role: Role): Promise<Viewer> {
  const user = await seed.user();
  await seed.member(user, of, role);
  return seed.viewer(user);
}

interface ListedPackage {
  readonly id: number;
  readonly name: string;
  readonly [name: string]: unknown;
}

const packagesPath = (of: DirectoryProject) => `/api/v4/projects/${of.id}/packages`;
const names = (rows: readonly ListedPackage[]) => rows.map(({ name }) => name);
async function listRows(path: string, query: object = {}, viewer = maintainer): Promise<ListedPackage[]> {
  return (await app.as(viewer).get(path).query(query).expect(200)).body;
}
async function setPackageStatus(id: number, status: string): Promise<void> {
  await service.database.query(`update packages set status = '${status}' where id = ${id}`);
}

describe('GET /projects/:id/packages', () => {
  it('shows a package', async () => {
    const own = await seed.project({ visibility: 'private' });
    const viewer = await createMember(own, 'maintainer');
    const { package_id: id } = await uploaded(app, viewer, own, { name: 'tool', version: '1.0.0' });
    expect(await listRows(packagesPath(own), {}, viewer)).toEqual([
      {
        id,
        name: 'tool',
        version: '1.0.0',
        package_type: 'generic',
        status: 'default',
        _links: {
          web_path: expect.stringMatching(new RegExp(`^/.+/-/packages/${id}$`)),
          delete_api_path: expect.stringMatching(new RegExp(`^http.+/api/v4/projects/${own.id}/packages/${id}$`)),
        },
        created_at: expect.any(String),
        last_downloaded_at: null,
        creator_id: viewer.userId,
        tags: [],
      },
    ]);
    const [seen] = await listRows(packagesPath(own), {}, await createMember(own, 'reporter'));
    expect(Object.keys(seen!['_links'] as object)).toEqual(['web_path']);
  });

  it('filters and orders', async () => {
    const own = await seed.project({ visibility: 'private' });
    const viewer = await createMember(own, 'maintainer');
    for (const [name, version] of [
      ['alpha-tool', '2'],
      ['beta_tool', '1'],
      ['gamma', '3'],
    ] as const)
      await uploaded(app, viewer, own, { name, version });
    await service.database.query(
      `insert into packages (project_id, package_type, name, name_key, version) values
        (${own.id}, 'npm', 'delta', 'delta', '4'), (${own.id}, 'maven', 'epsilon', 'epsilon', null)`,
    );
    const asked = async (query: object) => names(await listRows(packagesPath(own), query, viewer));
    expect(await asked({})).toEqual(['alpha-tool', 'beta_tool', 'gamma', 'delta']);
    expect(await asked({ sort: 'desc' })).toEqual(['delta', 'gamma', 'beta_tool', 'alpha-tool']);
    expect(await asked({ order_by: 'version' })).toEqual(['beta_tool', 'alpha-tool', 'gamma', 'delta']);
    expect(await asked({ order_by: 'name', sort: 'desc' })).toEqual(['gamma', 'delta', 'beta_tool', 'alpha-tool']);
    expect(await asked({ order_by: 'type', include_versionless: true })).toEqual([
      ...['epsilon', 'delta', 'alpha-tool', 'beta_tool', 'gamma'],
    ]);
    expect(await asked({ package_type: 'npm' })).toEqual(['delta']);
    expect(await asked({ package_name: ' TOOL a' })).toEqual(['alpha-tool', 'beta_tool']);
    expect(await asked({ package_name: '"a tool"' })).toEqual([]);
    expect(await asked({ package_name: 'a_t' })).toEqual(['beta_tool']);
    expect(await asked({ package_name: '%' })).toEqual([]);
    expect(await asked({ package_version: '3' })).toEqual(['gamma']);
    expect(await asked({ package_version: '3', include_versionless: true })).toEqual(['gamma']);
  });

  it('shows default, deprecated and error, or one status', async () => {
    const own = await seed.project({ visibility: 'private' });
    const viewer = await createMember(own, 'maintainer');
    for (const status of ['default', 'hidden', 'processing', 'error', 'pending_destruction', 'deprecated']) {
      const { package_id } = await uploaded(app, viewer, own, { name: status });
      await setPackageStatus(package_id, status);
    }
    expect(names(await listRows(packagesPath(own), {}, viewer))).toEqual(['default', 'error', 'deprecated']);
    for (const status of ['hidden', 'processing', 'pending_destruction'])
      expect(names(await listRows(packagesPath(own), { status }, viewer))).toEqual([status]);
    const [, failed] = await listRows(packagesPath(own), {}, viewer);
    expect(Object.keys(failed!['_links'] as object)).toEqual(['delete_api_path']);
  });

  it.each([
    [{ order_by: 'project_path' }, 'order_by does not have a valid value'],
    [{ package_type: 'none' }, 'package_type does not have a valid value'],
    [{ status: 'none' }, 'status does not have a valid value'],
  ])('refuses %j', async (query, error) => {
    const { status, body } = await app.as(maintainer).get(packagesPath(project)).query(query);
    expect([status, body]).toEqual([400, { error }]);
  });

  registerVisibilityTests({
    app: () => app,
    from: async (level, standing) => {
      const own = await seed.project({ visibility: level });
      if (standing === 'anonymous') return { viewer: seed.anonymous(), path: packagesPath(own) };
      const person = await seed.user({ admin: standing === 'admin', external: standing === 'external' });
      if (!['admin', 'external', 'outsider'].includes(standing)) await seed.member(person, own, standing as 'guest');
      return { viewer: seed.viewer(person), path: packagesPath(own) };
    },
    seen: (standing, level) => (level === 'private' && ['guest', 'planner'].includes(standing) ? 403 : 200),
  });

  describe('of many', () => {
    let own: DirectoryProject;
    let viewer: Viewer;
    beforeAll(async () => {
      own = await seed.project({ visibility: 'private' });
      viewer = await createMember(own, 'reporter');
      await service.database.query(`insert into packages (project_id, package_type, name, name_key, version)
        select ${own.id}, 'generic', 'p' || n, 'p' || n, '1' from generate_series(1, 7) n`);
    });
    registerListPagingTests(() => ({ app, viewer, path: packagesPath(own), rows: 7 }));
  });
});

describe('GET /groups/:id/packages', () => {
  let group: DirectoryNamespace;
  let projects: Record<'open' | 'internal' | 'closed' | 'below' | 'off', DirectoryProject>;
  beforeAll(async () => {
    group = await seed.group({ visibility: 'public' });
    const inner = await seed.group({ visibility: 'public', parent: group });
    const at = (path: string, fields: object) =>
      seed.project({ path, namespace_id: group.id, visibility: 'public', ...fields });
    projects = {
      open: await at('b-open', {}),
      internal: await at('c-internal', { visibility: 'internal' }),
      closed: await at('d-closed', { visibility: 'private' }),
      below: await at('a-below', { namespace_id: inner.id }),
      off: await at('e-off', { packages_enabled: false }),
    };
    const names = Object.entries(projects);
    for (const [name, { id }] of names)
      await service.database.query(`insert into packages (project_id, package_type, name, name_key, version) values
        (${id}, 'generic', '${name}', '${name}', '1'), (${id}, 'terraform_module', '${name}', '${name}', '1')`);
  });
  const path = () => `/api/v4/groups/${group.id}/packages`;

  it('shows the packages of projects whose packages the caller may read', async () => {
    const shown = async (viewer: Viewer, query: object = {}) => names(await listRows(path(), query, viewer));
    expect(await shown(seed.anonymous())).toEqual(['open', 'below']);
    expect(await shown(seed.viewer(await seed.user()))).toEqual(['open', 'internal', 'below']);
    expect(await shown(seed.viewer(await seed.user({ external: true })))).toEqual(['open', 'below']);
    expect(await shown(await createMember(projects.closed, 'guest'))).toEqual(['open', 'internal', 'below']);
    expect(await shown(await createMember(projects.closed, 'reporter'))).toEqual([
      'open',
      'internal',
      'closed',
      'below',
    ]);
    const admin = seed.viewer(await seed.user({ admin: true }));
    expect(await shown(admin)).toEqual(['open', 'internal', 'closed', 'below']);
    expect(await shown(admin, { exclude_subgroups: true })).toEqual(['open', 'internal', 'closed']);
    expect(await shown(admin, { order_by: 'project_path' })).toEqual(['below', 'open', 'internal', 'closed']);
    expect(await shown(admin, { order_by: 'project_path', sort: 'desc' })).toEqual([
      ...['closed', 'internal', 'open', 'below'],
    ]);
    expect(await shown(admin, { package_name: 'low' })).toEqual(['below']);
  });

  it('leaves out projects whose repository is not available to the caller', async () => {
    const shown = async (viewer: Viewer) => names(await listRows(path(), {}, viewer));
    const member = await createMember(projects.open, 'guest');
    const reporter = await createMember(projects.open, 'reporter');
    const admin = seed.viewer(await seed.user({ admin: true }));
    const viewers = [seed.anonymous(), seed.viewer(await seed.user()), member, reporter, admin];
    const isOpenShown = async () => {
      const lists = [];
      for (const viewer of viewers) lists.push(await shown(viewer));
      return lists.map((list) => list.includes('open'));
    };
    expect(await isOpenShown()).toEqual([true, true, true, true, true]);
    await seed.put('projects', { ...projects.open, repository_access_level: 'private' });
    expect(await isOpenShown()).toEqual([false, false, true, true, true]);
    await seed.put('projects', { ...projects.open, repository_access_level: 'disabled' });
    expect(await isOpenShown()).toEqual([false, false, false, false, false]);
    await seed.put('projects', projects.open);
  });

  it('names the project, and the deletion to callers who may delete', async () => {
    const viewer = await createMember(projects.closed, 'maintainer');
    const rows = await listRows(path(), {}, viewer);
    const closed = rows.find(({ name }) => name === 'closed')!;
    expect(closed).toMatchObject({
      project_id: projects.closed.id,
      project_path: `${group.full_path}/d-closed`,
      _links: { delete_api_path: expect.any(String) },
    });
    expect(rows[0]!['_links']).not.toHaveProperty('delete_api_path');
  });

  it('refuses terraform_module and hides groups', async () => {
    const { status, body } = await app.as(maintainer).get(path()).query({ package_type: 'terraform_module' });
    expect([status, body]).toEqual([400, { error: 'package_type does not have a valid value' }]);
    const hidden = await seed.group({ visibility: 'private' });
    const response = await app.as(maintainer).get(`/api/v4/groups/${hidden.id}/packages`);
    expect([response.status, response.body]).toEqual([404, { message: '404 Group Not Found' }]);
  });
});

describe('GET /projects/:id/packages/:package_id', () => {
  it('shows other versions of the same name and type', async () => {
    const versions = ['2.0', '1.0', '10.0'];
    const ids: number[] = [];
    for (const version of versions)
      ids.push((await uploaded(app, maintainer, project, { name: 'series', version })).package_id);
    const { body } = await app
      .as(maintainer)
      .get(`${packagesPath(project)}/${ids[0]!}`)
      .expect(200);
    expect(body.versions.map(({ version }: { version: string }) => version)).toEqual(['1.0', '10.0']);
  });

  it.each([
    ['hidden', '404 Not found'],
    ['processing', '404 Not found'],
    ['pending_destruction', '404 Not found'],
    ['error', 'Package not found'],
  ])('hides a package with the status %s', async (status, message) => {
    const { package_id } = await uploaded(app, maintainer, project, { name: `of-${status}` });
    await setPackageStatus(package_id, status);
    const response = await app.as(maintainer).get(`${packagesPath(project)}/${package_id}`);
    expect([response.status, response.body]).toEqual([404, { message }]);
  });

  it('has files, and no pipelines', async () => {
    const { package_id, id } = await uploaded(app, maintainer, project, { name: 'filed', file: 'b' });
    await uploaded(app, maintainer, project, { name: 'filed', file: 'a', content: 'x' });
    const path = `${packagesPath(project)}/${package_id}`;
    const files = await listRows(`${path}/package_files`);
    expect(files[0]).toEqual({
      ...{ id, package_id, created_at: expect.any(String), file_name: 'b', size: 12 },
      ...{ file_md5: expect.any(String), file_sha1: expect.any(String), file_sha256: expect.any(String) },
    });
    const sorted = await listRows(`${path}/package_files`, { order_by: 'file_name', sort: 'desc' });
    expect(sorted.map(({ file_name }) => file_name)).toEqual(['b', 'a']);
    expect(await listRows(`${path}/pipelines`)).toEqual([]);
    const { status, body } = await app.as(maintainer).get(`${path}/pipelines`).query({ per_page: 21 });
    expect([status, body]).toEqual([400, { error: 'per_page does not have a valid value' }]);
    await setPackageStatus(package_id, 'error');
    const failed = await app.as(maintainer).get(`${path}/pipelines`);
    expect([failed.status, failed.body]).toEqual([404, { message: '404 Package not found Not Found' }]);
  });
});

describe('DELETE /projects/:id/packages/:package_id', () => {
  it('removes the package at once, and its rows with the job', async () => {
    const { package_id } = await uploaded(app, maintainer, project, { name: 'doomed' });
    await app
      .as(maintainer)
      .delete(`${packagesPath(project)}/${package_id}`)
      .expect(204);
    expect((await app.as(maintainer).get(`${packagesPath(project)}/${package_id}`)).status).toBe(404);
    expect((await app.as(maintainer).get(genericPath(project, 'doomed', '1.0.0', 'tool.bin'))).status).toBe(404);
    expect((await app.as(maintainer).delete(`${packagesPath(project)}/${package_id}`)).status).toBe(404);
    const again = await uploaded(app, maintainer, project, { name: 'doomed' });
    expect(again.package_id).not.toBe(package_id);
    await app.get(DestroyDeletedPackagesJob).destroy({ signal: new AbortController().signal });
    expect(await service.database.query(`select 1 from packages where id = ${package_id}`)).toEqual([]);
    expect((await app.as(maintainer).get(genericPath(project, 'doomed', '1.0.0', 'tool.bin'))).status).toBe(200);
  });

  it('announces the publication and the deletion', async () => {
    const { package_id } = await uploaded(app, maintainer, project, { name: 'announced' });
    await app
      .as(maintainer)
      .delete(`${packagesPath(project)}/${package_id}`)
      .expect(204);
    const events = await service.database.query<{ type: string }>(
      `select type from outbox where aggregate_id = '${package_id}' and aggregate_type = 'package' order by id`,
    );
    expect(events.map(({ type }) => type)).toEqual([
      expect.stringContaining('package.published.v1'),
      expect.stringContaining('package.deleted.v1'),
    ]);
  });

  it('deletes a file, and the package with the last one', async () => {
    const first = await uploaded(app, maintainer, project, { name: 'shrinking', file: 'a' });
    const second = await uploaded(app, maintainer, project, { name: 'shrinking', file: 'b' });
    const path = `${packagesPath(project)}/${first.package_id}`;
    await app.as(maintainer).delete(`${path}/package_files/${first.id}`).expect(204);
    expect((await app.as(maintainer).delete(`${path}/package_files/${first.id}`)).status).toBe(404);
    expect((await listRows(`${path}/package_files`)).map(({ id }) => id)).toEqual([second.id]);
    await app.as(maintainer).delete(`${path}/package_files/${second.id}`).expect(204);
    expect((await app.as(maintainer).get(path)).status).toBe(404);
  });

  it('honours If-Unmodified-Since', async () => {
    const { package_id } = await uploaded(app, maintainer, project, { name: 'changed' });
    const path = `${packagesPath(project)}/${package_id}`;
    const old = await app.as(maintainer).delete(path).set('if-unmodified-since', new Date(0).toUTCString());
    expect([old.status, old.body]).toEqual([412, { message: '412 Precondition Failed' }]);
    await app.as(maintainer).delete(path).set('if-unmodified-since', new Date().toUTCString()).expect(204);
  });

  it('compares If-Unmodified-Since with the change of the deleted file, and not of its package', async () => {
    const first = await uploaded(app, maintainer, project, { name: 'changed-file', file: 'a' });
    const second = await uploaded(app, maintainer, project, { name: 'changed-file', file: 'b' });
    const setChanged = (table: string, id: number, time: string) =>
      service.database.query(`update ${table} set updated_at = '${time}' where id = ${id}`);
    await setChanged('packages', first.package_id, '2020-03-01T00:00:00Z');
    await setChanged('package_files', first.id, '2020-01-01T00:00:00Z');
    await setChanged('package_files', second.id, '2020-05-01T00:00:00Z');
    const remove = (id: number, since: string) =>
      app
        .as(maintainer)
        .delete(`${packagesPath(project)}/${first.package_id}/package_files/${id}`)
        .set('if-unmodified-since', new Date(since).toUTCString());
    await remove(second.id, '2020-04-01T00:00:00Z').expect(412, { message: '412 Precondition Failed' });
    await remove(first.id, '2020-02-01T00:00:00Z').expect(204);
    await remove(first.id, '2019-01-01T00:00:00Z').expect(404);
    await remove(second.id, '2020-05-01T00:00:00Z').expect(204);
  });

  it('refuses developers with 403, and anonymous callers with 403 or 404', async () => {
    const open = await seed.project({ visibility: 'public' });
    const { package_id } = await uploaded(app, await createMember(open, 'developer'), open);
    const path = `${packagesPath(open)}/${package_id}`;
    for (const viewer of [await createMember(open, 'developer'), seed.anonymous()]) {
      const { status, body } = await app.as(viewer).delete(path);
      expect([status, body]).toEqual([403, { message: '403 Forbidden' }]);
    }
    const own = await uploaded(app, maintainer, project, { name: 'closed' });
    const { status, body } = await app.as(seed.anonymous()).delete(`${packagesPath(project)}/${own.package_id}`);
    expect([status, body]).toEqual([404, { message: '404 Project Not Found' }]);
  });

  it('refuses a protected package and its files while the feature is on', async () => {
    const { id, package_id } = await uploaded(app, maintainer, project, { name: 'kept' });
    const rules = `/api/v4/projects/${project.id}/packages/protection/rules`;
    const gates: FeatureGates = {
      boolean: true,
      percentage_of_time: 0,
      percentage_of_actors: 0,
      actors: [],
      groups: [],
    };
    const instance = app.get(InstanceSettings);
    const path = `${packagesPath(project)}/${package_id}`;
    try {
      instance.applyAnswer({ version: 1, features: { packages_protected_packages_delete: gates }, settings: {} });
      const rule = { package_name_pattern: 'kept', package_type: 'generic', minimum_access_level_for_delete: 'owner' };
      await app.as(maintainer).post(rules).send(rule).expect(201);
      for (const protectedPath of [path, `${path}/package_files/${id}`]) {
        const { status, body } = await app.as(maintainer).delete(protectedPath);
        expect([status, body]).toEqual([403, { message: '403 Forbidden - Package is deletion protected.' }]);
      }
    } finally {
      instance.applyAnswer({ version: 2, features: {}, settings: {} });
    }
    await app.as(maintainer).delete(path).expect(204);
  });

  registerForeignParentTests({
    app: () => app,
    viewer: () => maintainer,
    requests: async () => {
      const other = await seed.project({ visibility: 'private' });
      await seed.member({ id: maintainer.userId! } as never, other, 'maintainer');
      const { id, package_id } = await uploaded(app, maintainer, project, { name: 'foreign' });
      const path = `${packagesPath(other)}/${package_id}`;
      return [
        { method: 'GET', path },
        { method: 'GET', path: `${path}/package_files` },
        { method: 'GET', path: `${path}/pipelines` },
        { method: 'DELETE', path },
        { method: 'DELETE', path: `${path}/package_files/${id}` },
      ];
    },
  });
});

it('measures the files of a project that are not deleted', async () => {
  const own = await seed.project({ visibility: 'private' });
  const viewer = await createMember(own, 'maintainer');
  await uploaded(app, viewer, own, { content: '12345' });
  const gone = await uploaded(app, viewer, own, { name: 'gone', content: '123' });
  await app
    .as(viewer)
    .delete(`${packagesPath(own)}/${gone.package_id}`)
    .expect(204);
  await app.get(MeasurePackageStorageJob).measure({ params: { project_id: own.id } } as never);
  const [event] = await service.database.query<{ data: { packages_size: number } }>(
    `select payload as data from outbox where aggregate_type = 'project_storage' and aggregate_id = '${own.id}'`,
  );
  expect(event!.data.packages_size).toBe(5);
});

registerProjectDeletionTests({
  service: () => service,
  effect: 'drop-packages',
  tables: ['packages', 'package_files'],
  fill: (owner, of) =>
    owner
      .put(genericPath(of, 'a', '1', 'f'))
      .type('application/octet-stream')
      .send(Buffer.from('x'))
      .expect(201),
});
