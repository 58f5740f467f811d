import type { DirectoryProject } from '@rookery/contracts';
import type { SeededUser } from '@rookery/testing';
import { DependencyReportReader } from '../../src/dependency-exports/reports/dependency-report-reader';
import { openRequest } from '../support/answers';
import { component, cycloneDx, DependencyScene } from '../support/dependencies';
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

const LONG = 'a name or version of a component is longer than 255 characters';
const me = () => scene.seed.viewer(developer);
const anonymous = () => scene.app.as(scene.seed.anonymous());
const openJob = () => dependencies.job(me(), project);
interface ReportRow {
  readonly state: string;
  readonly problem: string | null;
  readonly packager: string | null;
  readonly input_file: string | null;
  readonly tools: unknown;
  readonly file_name: string;
}
const reportsOf = ({ id }: { readonly id: number }) =>
  scene.service.database.query<ReportRow & { readonly id: number }>(
    'select * from dependency_reports where job_id = $1 order by id',
    [id],
  );
/** Hands a document in and reads it. */
async function handInAndRead(
  document: object | string,
): Promise<ReportRow & { readonly components: readonly object[] }> {
  const job = await openJob();
  await dependencies.hand(job, document).expect(201);
  const [{ id } = { id: 0 }] = await reportsOf(job);
  await scene.app.get(DependencyReportReader).readReport(id, new AbortController().signal);
  const components = await scene.service.database.query<object>(
    `select position, ref, name, version, component_type, purl, packager, licenses, is_top_level, ancestors
     from dependency_components where report_id = $1 order by position`,
    [id],
  );
  return { ...(await reportsOf(job))[0]!, components };
}

describe('POST /jobs/:id/artifacts', () => {
  it('takes documents of a running job, each name once', async () => {
    const job = await openJob();
    const document = cycloneDx([component('a', '1.0.0')]);
    const { body } = await dependencies.hand(job, document).expect(201);
    expect(body).toEqual({ message: '201 Created' });
    await dependencies.hand(job, document, { isGzip: true }).expect(201);
    await dependencies.hand(job, document, { name: 'other.cdx.json' }).expect(201);
    expect((await reportsOf(job)).map(({ file_name }) => file_name)).toEqual(['bom.cdx.json', 'other.cdx.json']);
    const again = await dependencies.hand(job, cycloneDx([])).expect(400);
    expect(again.body).toEqual({ message: 'another artifact of the same type already exists' });
    const queued = await scene.service.database.query(
      `select 1 from background_jobs where name = 'read-dependency-report'`,
    );
    expect(queued.length).toBeGreaterThanOrEqual(2);
  });

  it('takes token, type and format as parts in front of the file', async () => {
    const job = await openJob();
    const form = anonymous()
      .post(`/api/v4/jobs/${job.id}/artifacts`)
      .field({ token: job.token, artifact_type: 'cyclonedx', artifact_format: 'raw' })
      .attach('file', Buffer.from('{}'), 'bom.json');
    await form.expect(201);
    const late = anonymous()
      .post(`/api/v4/jobs/${job.id}/artifacts`)
      .attach('file', Buffer.from('{}'), 'late.json')
      .field({ token: job.token, artifact_type: 'cyclonedx' });
    expect((await late.expect(401)).body).toEqual({ message: '401 Unauthorized' });
  });

  it.each([
    [{ artifact_type: 'archive' }, 'artifact_type does not have a valid value'],
    [{ artifact_type: '' }, 'artifact_type does not have a valid value'],
    [{ artifact_format: 'zip' }, 'artifact_format does not have a valid value'],
    [{ artifact_format: 'gzip' }, 'file is invalid'],
  ])('answers 400 to %j', async (query, error) => {
    const { status, body } = await dependencies.hand(await openJob(), '{}', { query });
    expect([status, body]).toEqual([400, { error }]);
  });

  it('answers 400 without a file, and to a body that is no form', async () => {
    const { id, token } = await openJob();
    const path = `/api/v4/jobs/${id}/artifacts`;
    const form = await anonymous().post(path).query({ token, artifact_type: 'cyclonedx' }).field('a', 'b').expect(400);
    expect(form.body).toEqual({ error: 'file is missing' });
    const json = await anonymous().post(path).query({ token, artifact_type: 'cyclonedx' }).send({}).expect(400);
    expect(json.body).toEqual({ error: 'file is missing' });
    const broken = await anonymous()
      .post(path)
      .query({ token, artifact_type: 'cyclonedx' })
      .type('multipart/form-data; boundary=x')
      .send('--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n{');
    expect([broken.status, broken.body]).toEqual([400, { error: 'file is invalid' }]);
  });

  it('answers 413 to a document that is too large, inflated or not', async () => {
    const large = ' '.repeat(20 * 1024 ** 2 + 1);
    const job = await openJob();
    await dependencies.hand(job, large, { isGzip: true }).expect(413);
    await dependencies.hand(job, large).expect(413);
    expect(await reportsOf(job)).toEqual([]);
  });

  it('answers 401 to unknown tokens, to those of other jobs and after the end of the job', async () => {
    const [job, other] = [await openJob(), await openJob()];
    const refused = async (of: typeof job) => {
      const { status, body } = await dependencies.hand(of, '{}');
      expect([status, body]).toEqual([401, { message: '401 Unauthorized' }]);
    };
    await refused({ ...job, token: 'glcbt-unknown' });
    await refused({ ...job, token: '' });
    await refused({ ...job, token: other.token });
    await refused({ ...job, id: 987654321 });
    await dependencies.end(job);
    await refused(job);
  });

  it('refuses a document whose job ends while it arrives', async () => {
    const job = await openJob();
    const test = anonymous()
      .post(`/api/v4/jobs/${job.id}/artifacts`)
      .query({ token: job.token, artifact_type: 'cyclonedx' })
      .type('multipart/form-data; boundary=x');
    const request = openRequest(test);
    const answered = new Promise<number>((resolve, reject) => {
      request.on('response', (response) => resolve(response.resume().statusCode!));
      request.on('error', reject);
    });
    request.write('--x\r\nContent-Disposition: form-data; name="file"; filename="a.json"\r\n\r\n{');
    await dependencies.end(job);
    request.end('}\r\n--x--\r\n');
    expect(await answered).toBe(401);
    expect(await reportsOf(job)).toEqual([]);
  });

  it('answers 403 once the user of the job may not run pipelines any more', async () => {
    const job = await openJob();
    await scene.seed.put('projects', { ...project, archived: true });
    const { status, body } = await dependencies.hand(job, '{}');
    expect([status, body]).toEqual([403, { message: '403 Forbidden' }]);
  });
});

describe('documents', () => {
  it('give components with packagers, licenses and dependents', async () => {
    const inner = component('inner', '3.0.0', { purl: 'pkg:maven/org.x/inner@3.0.0', group: 'org.x' });
    const document = cycloneDx(
      [
        component('app-lib', '1.0.0', {
          purl: 'pkg:npm/%40scope/app-lib@1.0.0?x=y#sub',
          name: 'app-lib',
          licenses: [{ license: { id: 'MIT' } }, { license: { name: 'Own' } }, { license: {} }, { odd: 1 }],
          components: [inner],
        }),
        component('plain', undefined, { type: 'weather', licenses: [{ expression: 'MIT OR Apache-2.0' }] }),
      ],
      {
        metadata: {
          component: { type: 'application', name: 'app', 'bom-ref': 'root' },
          tools: { components: [{ type: 'application', name: 'syft', version: '1.0', publisher: 'anchore' }] },
          properties: [{ name: 'gitlab:dependency_scanning:input_file:path', value: 'package-lock.json' }],
        },
        dependencies: [
          { ref: 'root', dependsOn: ['app-lib'] },
          { ref: 'app-lib', dependsOn: ['inner', 'unknown'] },
        ],
        unknown: { deep: [1, { x: null }] },
      },
    );
    const report = await handInAndRead(document);
    expect(report).toMatchObject({ state: 'valid', problem: null, input_file: 'package-lock.json', packager: null });
    expect(report.tools).toEqual([{ vendor: 'anchore', name: 'syft', version: '1.0' }]);
    expect(report.components).toEqual([
      {
        ...{ position: 0, ref: 'pkg:maven/org.x/inner@3.0.0', name: 'org.x/inner', version: '3.0.0' },
        ...{ component_type: 'library', purl: 'pkg:maven/org.x/inner@3.0.0', packager: 'maven', licenses: [] },
        ...{ is_top_level: false, ancestors: [{ name: '@scope/app-lib', version: '1.0.0' }] },
      },
      {
        ...{ position: 1, name: '@scope/app-lib', version: '1.0.0', component_type: 'library', packager: 'npm' },
        ...{ ref: 'pkg:npm/%40scope/app-lib@1.0.0?x=y#sub', purl: 'pkg:npm/%40scope/app-lib@1.0.0?x=y#sub' },
        licenses: [
          { spdx: 'MIT', name: null },
          { spdx: null, name: 'Own' },
        ],
        ...{ is_top_level: true, ancestors: [] },
      },
      {
        ...{ position: 2, name: 'plain', version: null, component_type: 'library', purl: null, packager: null },
        ref: expect.stringMatching(/^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
        licenses: [{ spdx: null, name: 'MIT OR Apache-2.0' }],
        ...{ is_top_level: false, ancestors: [] },
      },
    ]);
  });

  it.each([
    ['1.4', 'valid', null],
    ['1.6', 'valid', null],
    ['1.3', 'invalid', 'its specVersion 1.3 is not one of 1.4, 1.5, 1.6'],
    ['1.7', 'invalid', 'its specVersion 1.7 is not one of 1.4, 1.5, 1.6'],
  ])('of version %s are %s', async (specVersion, state, problem) => {
    expect(await handInAndRead(cycloneDx([component('a', '1')], { specVersion }))).toMatchObject({ state, problem });
  });

  it.each<[string, string | object, string]>([
    ['empty', '', 'it is no JSON document'],
    ['no JSON', '{"bomFormat":]', 'it is no JSON document'],
    ['cut', '{"bomFormat":"CycloneDX"', 'it is no JSON document'],
    ['of another format', { bomFormat: 'SPDX', specVersion: '1.5' }, 'its bomFormat is not CycloneDX'],
    ['with a component without a name', cycloneDx([{ type: 'library' }]), 'a component has no name'],
    ['with a long name', cycloneDx([component('x'.repeat(256))]), LONG],
    ['with a long version', cycloneDx([component('x', undefined, { version: '1'.repeat(256) })]), LONG],
    ['with a long text', cycloneDx([component('x'.repeat(8193))]), 'a text is longer than 8192 characters'],
    ['that is deep', `${'['.repeat(65)}${']'.repeat(65)}`, 'it is nested deeper than 64 levels'],
    ['with a key twice', '{"a":1,"a":2}', 'an object has the same key twice'],
    ['with a prototype', '{"__proto__":{"bomFormat":"CycloneDX"}}', 'the key __proto__ is not allowed'],
  ])('%s are invalid and add no component', async (_, document, problem) => {
    expect(await handInAndRead(document)).toMatchObject({ state: 'invalid', problem, components: [] });
  });

  it('with too many components are invalid, and leave none of those before', async () => {
    const many = `{"components":[${Array.from({ length: 100_001 }, () => '{"name":"a"}').join()}]}`;
    const report = await handInAndRead(many);
    expect(report).toMatchObject({ state: 'invalid', problem: 'it has more than 100000 components', components: [] });
  });

  it('do not repeat long names for each dependent', async () => {
    const parents = Array.from({ length: 20 }, (_, at) => component(`${'x'.repeat(8000)}${at}`));
    const children = Array.from({ length: 500 }, (_, at) => component(`c${at}`));
    const dependsOn = children.map((_, at) => `c${at}`);
    const dependencies = parents.map((_, at) => ({ ref: `${'x'.repeat(8000)}${at}`, dependsOn }));
    const document = cycloneDx([...parents, ...children], { dependencies });
    const { components } = await handInAndRead(document);
    expect(JSON.stringify(components).length).toBeLessThan(JSON.stringify(document).length);
  });

  it('keep texts that the database can store, and skip complete license texts', async () => {
    const odd = component('a\u0000b\ud800', '1', { licenses: [{ license: { name: 'x'.repeat(9000) } }] });
    const report = await handInAndRead(cycloneDx([odd]));
    expect(report.components).toMatchObject([{ name: 'ab\ufffd', licenses: [] }]);
  });
});
