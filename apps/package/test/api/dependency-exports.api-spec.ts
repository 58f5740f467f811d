import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { registerProjectDeletionTests, registerRefusalOrderTests } from '@rookery/testing';
import type { SeededUser } from '@rookery/testing';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { ExpireDependencyExportsJob } from '../../src/dependency-exports/expiry.job';
import { component, cycloneDx, DependencyScene } from '../support/dependencies';
import { shaOf } from '../support/fake-collaboration';
import { PipelineScene } from '../support/pipelines';

let scene: PipelineScene;
let dependencies: DependencyScene;
let developer: SeededUser;
let project: DirectoryProject;

beforeAll(async () => {
  scene = await PipelineScene.open();
  dependencies = new DependencyScene(scene);
  developer = await scene.seed.user();
});
beforeEach(async () => {
  project = await scene.project({ developer });
});
afterAll(() => scene.close());

const me = (): Viewer => scene.seed.viewer(developer);
const as = (viewer = me()) => scene.app.as(viewer);
const EXPORTS = 'dependency_list_exports';
const exportsPath = (id = project.id): string => `/api/v4/projects/${id}/${EXPORTS}`;
const exportPath = (id: number): string => `/api/v4/${EXPORTS}/${id}`;
const createExport = async (params: object = { export_type: 'csv' }): Promise<number> =>
  (await as().post(exportsPath()).send(params).expect(201)).body.id;
const runExpiryJob = () => scene.app.get(ExpireDependencyExportsJob).expire({ signal: new AbortController().signal });
const exportStatus = async (id: number): Promise<string> => (await as().get(exportPath(id))).body.status;
const eventsOf = (id: number) =>
  scene.service.database.query<{ payload: { data: object } }>(
    `select payload from outbox where aggregate_type = 'dependency_list_export' and aggregate_id = $1`,
    [id],
  );
/** Lets the file of an export fail until the returned function is called. */
async function breakReports(): Promise<() => Promise<void>> {
  await scene.service.database.query('alter table dependency_reports rename to gone_reports');
  return async () => void (await scene.service.database.query('alter table gone_reports rename to dependency_reports'));
}

describe('POST …/dependency_list_exports', () => {
  it('starts an export of a project', async () => {
    const before = Date.now();
    const { body } = await as()
      .post(exportsPath())
      .send({ export_type: 'dependency_list', send_email: true })
      .expect(201);
    expect(body).toEqual({
      ...{ id: expect.any(Number), status: 'created', has_finished: false, export_type: 'dependency_list' },
      ...{ send_email: true, expires_at: expect.any(String) },
      self: expect.stringMatching(new RegExp(`^http.*/api/v4/${EXPORTS}/${body.id}$`)),
      download: expect.stringMatching(new RegExp(`/api/v4/${EXPORTS}/${body.id}/download$`)),
    });
    const lasts = Date.parse(body.expires_at) - before;
    expect(Math.round(lasts / 60_000)).toBeGreaterThanOrEqual(7 * 24 * 60);
    expect(Math.round(lasts / 3_600_000)).toBe(7 * 24);
  });

  it('takes form and query, ids and encoded paths', async () => {
    await as().post(exportsPath()).type('form').send({ export_type: 'csv', send_email: '1' }).expect(201);
    const byQuery = await as().post(exportsPath()).query({ export_type: 'csv' }).expect(201);
    expect(byQuery.body).toMatchObject({ export_type: 'csv', send_email: false });
    const [{ path }] = (await scene.service.database.query<{ path: string }>(
      `select n.full_path || '/' || p.path as path from directory_projects p
       join directory_namespaces n on n.id = p.namespace_id where p.id = $1`,
      [project.id],
    )) as [{ path: string }];
    await as()
      .post(`/api/v4/projects/${encodeURIComponent(path)}/${EXPORTS}`)
      .send({ export_type: 'csv' })
      .expect(201);
  });

  it.each([
    ['projects', {}, 'export_type is missing'],
    ['projects', { export_type: 'sbom' }, 'export_type does not have a valid value'],
    ['projects', { export_type: 'json_array' }, 'export_type does not have a valid value'],
    ['projects', { export_type: 'csv', send_email: 'maybe' }, 'send_email is invalid'],
    ['groups', {}, 'export_type is missing'],
    ['groups', { export_type: 'dependency_list' }, 'export_type does not have a valid value'],
    ['pipelines', {}, 'export_type is missing'],
    ['pipelines', { export_type: 'csv' }, 'export_type does not have a valid value'],
  ])('of %s with %j is 400', async (kind, params, error) => {
    const { status, body } = await as().post(`/api/v4/${kind}/${project.id}/${EXPORTS}`).send(params);
    expect([status, body]).toEqual([400, { error }]);
  });

  it('needs the plan that has dependency lists', async () => {
    const group = await scene.seed.group({ plan: 'premium' });
    const other = await scene.project({ developer }, { namespace_id: group.id });
    const { status, body } = await as().post(exportsPath(other.id)).send({ export_type: 'csv' });
    expect([status, body]).toEqual([403, { message: '403 Forbidden' }]);
  });

  it.each([
    ['guest', 403],
    ['planner', 403],
    ['reporter', 403],
    ['developer', 201],
    ['maintainer', 201],
    ['owner', 201],
    ['admin', 201],
    ['outsider', 404],
    ['anonymous', 401],
  ])('by %s is %i', async (standing, status) => {
    const viewer = await scene.viewer(standing, project);
    await as(viewer).post(exportsPath()).send({ export_type: 'csv' }).expect(status);
    const { id } = await scene.pipeline(me(), project);
    const sbom = await as(viewer).post(`/api/v4/pipelines/${id}/${EXPORTS}`).send({ export_type: 'sbom' });
    expect(sbom.status).toBe(status);
    if (status === 404) expect(sbom.body).toEqual({ message: '404 Pipeline Not Found' });
  });

  it('of a pipeline that does not exist is 404', async () => {
    const { status, body } = await as().post(`/api/v4/pipelines/987654321/${EXPORTS}`).send({ export_type: 'sbom' });
    expect([status, body]).toEqual([404, { message: '404 Pipeline Not Found' }]);
  });

  registerRefusalOrderTests(
    () => scene.app,
    async () => ({
      ...{ method: 'POST', path: exportsPath(), good: { export_type: 'csv' }, bad: { export_type: 'x' } },
      anonymous: scene.seed.anonymous(),
      outsider: await scene.viewer('outsider', project),
      reader: await scene.viewer('reporter', project),
      allowed: me(),
    }),
  );

  describe('of a group', () => {
    registerRefusalOrderTests(
      () => scene.app,
      async () => {
        const group = await scene.seed.group({ visibility: 'private' });
        const [reader, allowed] = [await scene.seed.user(), await scene.seed.user()];
        await scene.seed.member(reader, group, 'reporter');
        await scene.seed.member(allowed, group, 'developer');
        return {
          ...{ method: 'POST', path: `/api/v4/groups/${group.id}/${EXPORTS}` },
          ...{ good: { export_type: 'csv' }, bad: { export_type: 'x' } },
          anonymous: scene.seed.anonymous(),
          outsider: await scene.viewer('outsider', project),
          ...{ reader: scene.seed.viewer(reader), allowed: scene.seed.viewer(allowed) },
        };
      },
    );
  });
});

describe('GET /dependency_list_exports/:id', () => {
  it('is 202 until the file is written, then 200', async () => {
    const id = await createExport();
    const waiting = await as().get(exportPath(id)).expect(202);
    expect(waiting.body).toMatchObject({ id, status: 'created', has_finished: false });
    expect(waiting.headers['poll-interval']).toBe('5000');
    await dependencies.generate(id);
    const finished = await as().get(exportPath(id)).expect(200);
    expect(finished.body).toMatchObject({ id, status: 'finished', has_finished: true });
    expect(finished.headers).not.toHaveProperty('poll-interval');
    const [event] = await eventsOf(id);
    expect(event!.payload).toMatchObject({ export_id: id, project_id: project.id, send_email: false });
  });

  it('is 401, 403 and 404 to others', async () => {
    const id = await createExport();
    await dependencies.generate(id);
    for (const path of [exportPath(id), `${exportPath(id)}/download`]) {
      const anonymous = await scene.app.as(scene.seed.anonymous()).get(path).expect(401);
      expect(anonymous.body).toEqual({ message: '401 Unauthorized' });
      for (const standing of ['maintainer', 'outsider', 'admin']) {
        const { body } = await as(await scene.viewer(standing, project))
          .get(path)
          .expect(403);
        expect(body).toEqual({ message: '403 Forbidden' });
      }
    }
    const unknown = await as().get(exportPath(987654321)).expect(404);
    expect(unknown.body).toEqual({ message: '404 Not Found' });
    await as()
      .get(exportPath('abc' as never))
      .expect(400);
  });

  it('is 403 once the author may not read the dependencies any more', async () => {
    const author = await scene.seed.user();
    const member = await scene.seed.member(author, project, 'developer');
    const viewer = (): Viewer => scene.seed.viewer(author);
    const { body } = await as(viewer()).post(exportsPath()).send({ export_type: 'csv' }).expect(201);
    await dependencies.generate(body.id);
    await as(viewer())
      .get(`${exportPath(body.id)}/download`)
      .expect(200);
    await scene.seed.remove('memberships', member.id);
    await as(viewer()).get(exportPath(body.id)).expect(403);
    await as(viewer())
      .get(`${exportPath(body.id)}/download`)
      .expect(403);
  });
});

describe('GET /dependency_list_exports/:id/download', () => {
  it('is 404 until the export has finished', async () => {
    const id = await createExport();
    const { body } = await as()
      .get(`${exportPath(id)}/download`)
      .expect(404);
    expect(body).toEqual({ message: '404 DependencyListExport Not Found' });
  });

  it('has ranges, conditions and HEAD', async () => {
    const id = await createExport();
    await dependencies.generate(id);
    const file = await as()
      .get(`${exportPath(id)}/download`)
      .expect(200);
    expect(file.headers['content-type']).toBe('text/csv');
    const part = await as()
      .get(`${exportPath(id)}/download`)
      .set('Range', 'bytes=0-3')
      .expect(206);
    expect(part.text).toBe('Name');
    await as()
      .get(`${exportPath(id)}/download`)
      .set('If-None-Match', file.headers['etag']!)
      .expect(304);
    await as()
      .head(`${exportPath(id)}/download`)
      .expect(200);
  });
});

describe('files', () => {
  const location = [{ name: 'gitlab:dependency_scanning:input_file:path', value: 'web/package-lock.json' }];
  const document = cycloneDx(
    [
      component('b', '2.0.0', { licenses: [{ license: { id: 'MIT' } }, { license: { name: 'Own' } }] }),
      component('=cmd()', undefined),
      component('a', '1.0.0'),
    ],
    {
      metadata: { component: { type: 'application', name: 'app', 'bom-ref': 'app' }, properties: location },
      dependencies: [
        { ref: 'app', dependsOn: ['b'] },
        { ref: 'b', dependsOn: ['a'] },
      ],
    },
  );
  const pathOf = async (id = project.id): Promise<string> =>
    (await as().get(`/api/v4/projects/${id}/pipelines`).expect(200)).body[0].web_url
      .split('/-/')[0]
      .split('/')
      .slice(3)
      .join('/');

  it('list dependencies as an object', async () => {
    await dependencies.report(me(), project, document);
    const { text, name } = await dependencies.exported(me(), `projects/${project.id}`, 'dependency_list');
    expect(name).toMatch(
      new RegExp(`^attachment; filename="?project_${project.id}_dependencies_\\d{4}-\\d\\d-\\d\\dT\\d{4}\\.json`),
    );
    const { dependencies: list, report } = JSON.parse(text);
    expect(report).toEqual({ status: 'ok' });
    const blob = `/${await pathOf()}/-/blob/${shaOf('1')}/web/package-lock.json`;
    expect(list[0]).toEqual({
      ...{ name: 'b', packager: 'npm', version: '2.0.0', occurrence_id: expect.any(Number) },
      location: { blob_path: blob, path: 'web/package-lock.json', top_level: true, ancestors: [] },
      has_dependency_paths: false,
      licenses: [
        { name: 'MIT License', spdx_identifier: 'MIT', url: 'https://spdx.org/licenses/MIT.html' },
        { name: 'Own', spdx_identifier: null, url: null },
      ],
      ...{ vulnerabilities: [], vulnerability_count: 0, malware: false },
    });
    expect(list[2]).toMatchObject({
      location: { top_level: false, ancestors: [{ name: 'b', version: '2.0.0' }] },
      has_dependency_paths: true,
    });
    expect(list).toHaveLength(3);
  });

  it('list dependencies as CSV whose cells calculate nothing', async () => {
    await dependencies.report(me(), project, document);
    const { text, name } = await dependencies.exported(me(), `projects/${project.id}`, 'csv');
    expect(name).toMatch(/\.csv"?$/);
    const path = await pathOf();
    const blob = `/${path}/-/blob/${shaOf('1')}/web/package-lock.json`;
    expect(text.split('\n')).toEqual([
      'Name,Version,Packager,Location,License Identifiers,Project,Vulnerabilities Detected,Vulnerability IDs',
      `b,2.0.0,npm,${blob},MIT,${path},0,`,
      `'=cmd(),,,${blob},,${path},0,`,
      `a,1.0.0,npm,${blob},,${path},0,`,
      '',
    ]);
  });

  it('of a project without reports are empty, with the header', async () => {
    const exported = async (type: string) => (await dependencies.exported(me(), `projects/${project.id}`, type)).text;
    expect(JSON.parse(await exported('dependency_list'))).toEqual({
      dependencies: [],
      report: { status: 'no_dependencies' },
    });
    expect((await exported('csv')).split('\n')).toHaveLength(2);
    expect(JSON.parse(await exported('cyclonedx_1_6_json'))).toMatchObject({ specVersion: '1.6', components: [] });
  });

  it('show the newest finished pipeline of the default branch with a valid report', async () => {
    await dependencies.report(me(), project, cycloneDx([component('old', '1')]));
    await dependencies.report(me(), project, cycloneDx([component('counts', '1')]));
    await dependencies.report(me(), project, cycloneDx([], { specVersion: '1.7' }));
    await dependencies.report(me(), project, cycloneDx([component('branch', '1')]), 'feature/a');
    const running = await dependencies.job(me(), project);
    await dependencies.hand(running, cycloneDx([component('running', '1')])).expect(201);
    const { text } = await dependencies.exported(me(), `projects/${project.id}`, 'dependency_list');
    expect(JSON.parse(text).dependencies.map(({ name }: { name: string }) => name)).toEqual(['counts']);
  });

  it('of a group list its projects, subgroups included and archived ones excluded', async () => {
    const group = await scene.seed.group({ visibility: 'private' });
    const below = await scene.seed.group({ parent: group });
    await scene.seed.member(developer, group, 'developer');
    const empty = await dependencies.exported(me(), `groups/${group.id}`, 'json_array');
    expect(empty.text).toBe('[]');
    expect(empty.name).toContain(`group_${group.id}_dependencies_`);
    const places = [group, below, group];
    const projects = [];
    for (const [index, { id: namespace_id }] of places.entries()) {
      const made = await scene.seed.project({ namespace_id, visibility: 'private' });
      await dependencies.report(me(), made, cycloneDx([component(`c${index}`, '1.0.0')]));
      projects.push(made);
    }
    await scene.seed.put('projects', { ...projects[2]!, archived: true });
    const { text } = await dependencies.exported(me(), `groups/${group.id}`, 'json_array');
    expect(text.split('\n')).toHaveLength(2);
    expect(JSON.parse(text)).toEqual(
      [0, 1].map((index) => ({
        ...{ name: `c${index}`, packager: 'npm', version: '1.0.0', licenses: [] },
        location: { blob_path: null, path: null, top_level: false, ancestors: [] },
      })),
    );
    const csv = await dependencies.exported(me(), `groups/${group.id}`, 'csv');
    expect(csv.text.split('\n').filter((line) => line.startsWith('c'))).toHaveLength(2);
  });

  describe('in CycloneDX', () => {
    const schemas = join(dirname(require.resolve('@cyclonedx/cyclonedx-library/package.json')), 'res/schema');
    const schema = (name: string) => JSON.parse(readFileSync(join(schemas, `${name}.SNAPSHOT.schema.json`), 'utf8'));
    const problemsIn = (version: string, bom: object): unknown => {
      const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: true });
      addFormats(ajv);
      ajv.addFormat('iri-reference', true).addFormat('idn-email', true);
      const base = 'http://cyclonedx.org/schema';
      for (const name of ['spdx', 'jsf-0.82', 'cryptography-defs'])
        ajv.addSchema({ ...schema(name), $id: undefined }, `${base}/${name}.SNAPSHOT.schema.json`);
      const validate = ajv.compile(schema(`bom-${version}`));
      return validate(bom) ? null : validate.errors;
    };

    it('1.4 merge the reports of a pipeline', async () => {
      const job = await dependencies.job(me(), project);
      const tools = [{ vendor: 'x', name: 'scan', version: '1' }];
      const metadata = { tools, properties: [{ name: 'p', value: 'v' }] };
      await dependencies.hand(job, cycloneDx([component('b', '2', { type: 'platform' })], { metadata })).expect(201);
      const second = cycloneDx([component('b', '2'), component('a', '1'), component('none')], { specVersion: '1.4' });
      await dependencies.hand(job, second, { name: 'second.json', isGzip: true }).expect(201);
      const invalid = cycloneDx([component('z', '1')], { specVersion: '1.3' });
      await dependencies.hand(job, invalid, { name: 'invalid.json' }).expect(201);
      const { text, name } = await dependencies.exported(me(), `pipelines/${job.pipelineId}`, 'sbom');
      expect(name).toContain(`pipeline_${job.pipelineId}_dependencies_`);
      expect(name).toContain('.cdx.json');
      const bom = JSON.parse(text);
      expect(bom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.4', version: 1 });
      expect(bom.serialNumber).toMatch(/^urn:uuid:[0-9a-f-]{36}$/);
      expect(bom.metadata.tools).toContainEqual({ vendor: 'x', name: 'scan', version: '1' });
      expect(bom.metadata.properties).toEqual([{ name: 'p', value: 'v' }]);
      expect(bom.components.map(({ name: of }: { name: string }) => of)).toEqual(['a', 'b', 'none']);
      expect(bom.components[0]).toEqual({
        ...{ name: 'a', version: '1', 'bom-ref': 'pkg:npm/a@1', purl: 'pkg:npm/a@1', type: 'library', licenses: [] },
      });
      expect(problemsIn('1.4', bom)).toBeNull();
    });

    it('1.4 of a pipeline without reports has no components', async () => {
      const { id } = await scene.pipeline(me(), project);
      const { text } = await dependencies.exported(me(), `pipelines/${id}`, 'sbom');
      const bom = JSON.parse(text);
      expect(bom.components).toEqual([]);
      expect(problemsIn('1.4', bom)).toBeNull();
    });

    it('1.6 describes the project', async () => {
      await dependencies.report(me(), project, document);
      const { text } = await dependencies.exported(me(), `projects/${project.id}`, 'cyclonedx_1_6_json');
      const bom = JSON.parse(text);
      expect(bom.metadata.component).toEqual({
        ...{ type: 'application', name: project.name },
        externalReferences: [{ type: 'vcs', url: expect.stringMatching(new RegExp(`/${await pathOf()}$`)) }],
      });
      const refs = bom.components.map((one: Record<string, string>) => one['bom-ref']);
      expect(refs).toEqual([...refs].sort());
      expect(bom.components[1]).toMatchObject({
        ...{ name: 'b', version: '2.0.0', type: 'library', purl: 'pkg:npm/b@2.0.0' },
        licenses: [{ license: { id: 'MIT', url: 'https://spdx.org/licenses/MIT.html' } }, { license: { name: 'Own' } }],
      });
      expect(problemsIn('1.6', bom)).toBeNull();
    });
  });

  it('contain each component of large reports once, in many pages', async () => {
    const many = Array.from({ length: 2500 }, (_, index) => component(`c${index}`, '1.0.0'));
    await dependencies.report(me(), project, cycloneDx(many));
    const list = JSON.parse((await dependencies.exported(me(), `projects/${project.id}`, 'dependency_list')).text);
    expect(list.dependencies.map(({ name }: { name: string }) => name)).toEqual(
      many.map((one) => (one as { name: string }).name),
    );
    const bom = JSON.parse((await dependencies.exported(me(), `projects/${project.id}`, 'cyclonedx_1_6_json')).text);
    expect(new Set(bom.components.map(({ name }: { name: string }) => name)).size).toBe(2500);
  });
});

describe('states', () => {
  it('an interrupted export waits for its next try, which finishes it', async () => {
    const id = await createExport();
    const controller = new AbortController();
    controller.abort(new Error('the process ends'));
    await expect(dependencies.generate(id, { attempt: 5, signal: controller.signal })).rejects.toThrow();
    expect(await exportStatus(id)).toBe('created');
    await dependencies.generate(id, { attempt: 5 });
    expect(await exportStatus(id)).toBe('finished');
  });

  it('an export whose process was killed is running, and the next try finishes it', async () => {
    const id = await createExport();
    await scene.service.database.query(`update dependency_exports set status = 'running' where id = $1`, [id]);
    expect((await as().get(exportPath(id)).expect(202)).body.status).toBe('running');
    await dependencies.generate(id, { attempt: 2 });
    expect(await exportStatus(id)).toBe('finished');
    await dependencies.generate(id, { attempt: 3 });
    expect(await eventsOf(id)).toHaveLength(1);
  });

  it('an export fails after its last try', async () => {
    const id = await createExport();
    const repair = await breakReports();
    try {
      await expect(dependencies.generate(id)).rejects.toThrow();
      expect(await exportStatus(id)).toBe('created');
      await expect(dependencies.generate(id, { attempt: 5 })).rejects.toThrow();
    } finally {
      await repair();
    }
    const { body } = await as().get(exportPath(id)).expect(200);
    expect(body).toMatchObject({ status: 'failed', has_finished: false });
    await as()
      .get(`${exportPath(id)}/download`)
      .expect(404);
    await dependencies.generate(id, { attempt: 1 });
    expect(await exportStatus(id)).toBe('failed');
    expect(await eventsOf(id)).toEqual([]);
  });

  it('an export that takes longer than a day has failed', async () => {
    const [late, young] = [await createExport(), await createExport()];
    await scene.service.database.query(
      `update dependency_exports set status = 'running', created_at = now() - interval '25 hours' where id = $1`,
      [late],
    );
    await runExpiryJob();
    expect([await exportStatus(late), await exportStatus(young)]).toEqual(['failed', 'created']);
  });

  it('an expired export is gone at once, and its row with the next run', async () => {
    const id = await createExport();
    await dependencies.generate(id);
    await scene.service.database.query(`update dependency_exports set expires_at = now() where id = $1`, [id]);
    expect((await as().get(exportPath(id)).expect(404)).body).toEqual({ message: '404 Not Found' });
    await as()
      .get(`${exportPath(id)}/download`)
      .expect(404);
    await runExpiryJob();
    expect(await scene.service.database.query('select 1 from dependency_exports where id = $1', [id])).toEqual([]);
  });

  it('an export of a deleted pipeline goes with it', async () => {
    const { id: pipelineId } = await scene.pipeline(me(), project);
    const { body } = await as().post(`/api/v4/pipelines/${pipelineId}/${EXPORTS}`).send({ export_type: 'sbom' });
    await scene.service.database.query('delete from pipelines where id = $1', [pipelineId]);
    await dependencies.generate(body.id);
    await as().get(exportPath(body.id)).expect(404);
  });
});

registerProjectDeletionTests({
  service: () => scene.service,
  effect: 'drop-dependency-exports',
  tables: ['dependency_exports'],
  fill: (agent, at) => agent.post(exportsPath(at.id)).send({ export_type: 'csv' }).expect(201),
});
