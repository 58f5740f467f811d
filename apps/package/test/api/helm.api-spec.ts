import type { DirectoryProject } from '@rookery/contracts';
import { InstanceSettings } from '@rookery/instance';
import type { Viewer } from '@rookery/kernel';
import type { DirectorySeed, TestApp } from '@rookery/testing';
import type { Response } from 'supertest';
import { startPackage } from '../support/app';
import type { PackageService } from '../support/app';
import { archiveOf, bombOf, chartYaml, helmPath, NO_ARCHIVE, parseIndex, upload, uploaded } from '../support/helm';
import type { IndexDocument } from '../support/helm';
import { memberOf, tarballOf } from '../support/npm';
import { sha256 } from '../support/pypi';

let service: PackageService;
let seed: DirectorySeed;
let app: TestApp;
let project: DirectoryProject;
let developer: Viewer;

beforeAll(async () => {
  service = await startPackage();
  ({ seed, app } = service);
});
beforeEach(async () => {
  project = await seed.project({ visibility: 'private' });
  developer = await memberOf(seed, project, 'developer');
});
afterAll(() => service.close());

const CHALLENGE = 'Basic realm="GitLab Packages Registry"';
const get = (path: string, viewer = developer) => app.as(viewer).get(path).buffer(true);
const indexPath = (channel = 'stable'): string => `${helmPath(project)}/${channel}/index.yaml`;
async function readIndex(channel = 'stable', viewer = developer): Promise<IndexDocument> {
  const { text, headers } = await get(indexPath(channel), viewer).expect(200);
  expect(headers['content-type']).toBe('text/yaml');
  return parseIndex(text);
}
const indexedVersions = async (name: string): Promise<unknown> =>
  (await readIndex()).entries[name]?.map(({ version }) => version);
const getChart = (file: string, channel = 'stable') => get(`${helmPath(project)}/${channel}/charts/${file}`);
const statusAndBody = ({ status, body }: Response): unknown[] => [status, body];
const expectedRefusal = (problem: string): unknown[] => [400, { message: problem, error: problem }];

describe('POST …/helm/api/:channel/charts', () => {
  it('publishes a chart, which the index, the API of packages and a download show', async () => {
    const archive = await uploaded(app, developer, project, { more: 'appVersion: 1.10\ndescription: Eggs.\n' });
    const { entries, apiVersion, generated, serverInfo } = await readIndex();
    expect([apiVersion, serverInfo.contextPath, typeof generated]).toEqual([
      'v1',
      `/api/v4/projects/${project.id}/packages/helm`,
      'string',
    ]);
    expect(entries).toEqual({
      eggs: [
        {
          ...{ apiVersion: 'v2', name: 'eggs', version: '1.0.0', description: 'Eggs.', appVersion: '1.10' },
          ...{ urls: ['charts/eggs-1.0.0.tgz'], created: expect.any(String), digest: sha256(archive) },
        },
      ],
    });
    const { body } = await app.as(developer).get(`/api/v4/projects/${project.id}/packages`).expect(200);
    expect(body).toMatchObject([{ name: 'eggs', version: '1.0.0', package_type: 'helm', status: 'default' }]);
    const down = await getChart('eggs-1.0.0.tgz').expect(200);
    expect(sha256(down.body as Buffer)).toBe(sha256(archive));
    expect(down.headers).toMatchObject({ etag: `"${sha256(archive)}"`, 'accept-ranges': 'bytes' });
  });

  it('takes a version again, of which the newest counts', async () => {
    await uploaded(app, developer, project, { more: 'description: old\n' });
    const archive = await uploaded(app, developer, project, { more: 'description: new\n' });
    const { entries } = await readIndex();
    expect(entries['eggs']).toMatchObject([{ description: 'new', digest: sha256(archive) }]);
    expect(entries['eggs']).toHaveLength(1);
    expect(sha256((await getChart('eggs-1.0.0.tgz')).body as Buffer)).toBe(sha256(archive));
  });

  it('keeps channels apart', async () => {
    await uploaded(app, developer, project, { more: 'description: a\n' });
    await uploaded(app, developer, project, { channel: 'devel', more: 'description: b\n' });
    expect((await readIndex()).entries['eggs']).toMatchObject([{ description: 'a' }]);
    expect((await readIndex('devel')).entries['eggs']).toMatchObject([{ description: 'b' }]);
    await getChart('eggs-1.0.0.tgz', 'other').expect(404, { message: '404 Not found' });
  });

  it('sorts versions as SemVer says, the newest first', async () => {
    for (const version of ['1.9.0', '1.10.0', 'v2.0.0', '1.10.0-rc.1', '1.2.3+build.5'])
      await uploaded(app, developer, project, { version });
    expect(await indexedVersions('eggs')).toEqual(['v2.0.0', '1.10.0', '1.10.0-rc.1', '1.9.0', '1.2.3+build.5']);
    await getChart('eggs-1.2.3+build.5.tgz').expect(200);
    await getChart('eggs-1.2.3%2Bbuild.5.tgz').expect(200);
  });

  it('shows only what Helm knows, as texts that keep their spelling', async () => {
    const more = [
      'kubeVersion: ">=1.20"\nunknown: 1\ndeprecated: true\ntype: application\nicon: ~\nhome: null\nkeywords: [1, on, yes]',
      'maintainers: [{name: Ada, email: ada@example.com, phone: 5}, {email: none@example.com}]',
      'annotations: {a: 1.10, "b": "true"}',
      'dependencies:\n  - {name: sub, version: 1.0, repository: "https://x", tags: [a], enabled: false, extra: 1}',
      'description: "line\\u2028break \\u0085 end"\n',
    ].join('\n');
    await uploaded(app, developer, project, { more });
    const { urls: _, created: __, digest: ___, ...shown } = (await readIndex()).entries['eggs']![0]!;
    expect(shown).toEqual({
      ...{ apiVersion: 'v2', name: 'eggs', version: '1.0.0', description: 'line\u2028break \u0085 end' },
      ...{ kubeVersion: '>=1.20', deprecated: true, type: 'application', keywords: ['1', 'on', 'yes'] },
      maintainers: [{ name: 'Ada', email: 'ada@example.com' }],
      annotations: { a: '1.10', b: 'true' },
      dependencies: [{ name: 'sub', version: '1.0', repository: 'https://x', tags: ['a'], enabled: false }],
    });
  });

  it('serves a provenance file with the chart that it belongs to only', async () => {
    await getChart('eggs-1.0.0.tgz.prov').expect(404, { message: '404 Not found' });
    await uploaded(app, developer, project, { provenance: 'signed' });
    expect(String((await getChart('eggs-1.0.0.tgz.prov').expect(200)).body)).toBe('signed');
    await uploaded(app, developer, project, { more: 'description: new\n' });
    await getChart('eggs-1.0.0.tgz.prov').expect(404);
    expect(await indexedVersions('eggs')).toEqual(['1.0.0']);
  });

  it.each([
    ['no YAML', 'a: [', 'Chart.yaml: is no plain YAML'],
    ['a key twice', chartYaml('eggs', '1.0.0', 'name: other\n'), 'Chart.yaml: is no plain YAML'],
    ['a tag', chartYaml('eggs', '1.0.0', 'description: !!js/function x\n'), 'Chart.yaml: is no plain YAML'],
    ['a list', '- a\n', 'Chart.yaml: is no map'],
    ['no apiVersion', 'name: eggs\nversion: 1.0.0\n', 'Chart.yaml: apiVersion is missing'],
    ['no name', 'apiVersion: v2\nversion: 1.0.0\n', 'Chart.yaml: name is missing'],
    ['no version', 'apiVersion: v2\nname: eggs\n', 'Chart.yaml: version is missing'],
    ['a number for the version', chartYaml('eggs', '1.0'), 'Chart.yaml: version should follow SemVer'],
    ['a range for the version', chartYaml('eggs', '=1.0.0'), 'Chart.yaml: version should follow SemVer'],
    ['a hostile name', chartYaml('../eggs', '1.0.0'), 'Chart.yaml: name is invalid'],
    ['dots as a name', chartYaml('..', '1.0.0'), 'Chart.yaml: name is invalid'],
    ['a long name', chartYaml('e'.repeat(256), '1.0.0'), 'Chart.yaml: name is invalid'],
    ['a wrong tag list', chartYaml('eggs', '1.0.0', 'tags: [a]\n'), 'Chart.yaml: tags is invalid'],
    [
      'a wrong dependency',
      chartYaml('eggs', '1.0.0', 'dependencies: [{name: sub, tags: a}]\n'),
      'Chart.yaml: dependencies[0].tags is invalid',
    ],
  ])('refuses a description with %s', async (_, text, problem) => {
    expect(statusAndBody(await upload(app, developer, project, { archive: await archiveOf(text) }))).toEqual(
      expectedRefusal(problem),
    );
    expect((await readIndex()).entries).toEqual({});
  });

  it.each([
    ['a NUL', 'description: "a\\0b"\n', 'Chart.yaml: description is invalid'],
    ['half a character', 'description: "\\ud800"\n', 'Chart.yaml: description is invalid'],
    ['a NUL in a key', 'annotations: {"a\\0": b}\n', 'Chart.yaml: annotations is invalid'],
    ['an alias', 'x: &a b\nhome: *a\n', 'Chart.yaml: is no plain YAML'],
    [
      'many keys, one of them twice',
      `x: {${Array.from({ length: 60_000 }, (_, at) => `k${at}: a`).join()}, k0: b}\n`,
      'Chart.yaml: is no plain YAML',
    ],
    ['texts that an index could not hold', `annotations: {a: "${'x'.repeat(70_000)}"}\n`, 'Chart.yaml: is too large'],
  ])('refuses a description with %s at once', async (_, more, problem) => {
    const text = chartYaml('eggs', '1.0.0', more);
    expect(statusAndBody(await upload(app, developer, project, { archive: await archiveOf(text) }))).toEqual(
      expectedRefusal(problem),
    );
  });

  it('refuses a chart whose file another chart has', async () => {
    await uploaded(app, developer, project, { name: 'eggs', version: '1.0.0-2.0.0' });
    const other = await archiveOf(chartYaml('eggs-1.0.0', '2.0.0'));
    expect(statusAndBody(await upload(app, developer, project, { archive: other }))).toEqual(
      expectedRefusal('Chart.yaml: eggs-1.0.0-2.0.0.tgz is the file of another chart'),
    );
    await uploaded(app, developer, project, { name: 'eggs', version: '1.0.0-2.0.0' });
  });

  it('refuses many aliases, which would grow without end', async () => {
    const levels = Array.from({ length: 12 }, (_, level) => `  - &l${level + 1} [${`*l${level}, `.repeat(9)}]`);
    const text = chartYaml('eggs', '1.0.0', `x:\n  - &l0 [a, a]\n${levels.join('\n')}\n`);
    expect(statusAndBody(await upload(app, developer, project, { archive: await archiveOf(text) }))).toEqual(
      expectedRefusal('Chart.yaml: is no plain YAML'),
    );
  });

  it('refuses archives without a description in their one folder', async () => {
    const missing = expectedRefusal('Chart.yaml: is missing');
    for (const archive of [
      Buffer.from('no archive'),
      NO_ARCHIVE,
      Buffer.alloc(0),
      await tarballOf({ 'Chart.yaml': chartYaml('eggs', '1.0.0') }),
      await tarballOf({ 'eggs/charts/Chart.yaml': chartYaml('eggs', '1.0.0') }),
    ])
      expect(statusAndBody(await upload(app, developer, project, { archive }))).toEqual(missing);
  });

  it('refuses descriptions that are too large, and archives that grow too much before them', async () => {
    const beyond = expectedRefusal('Chart.yaml: is too large or too deep inside');
    const large = await archiveOf(chartYaml('eggs', '1.0.0', `description: "${'x'.repeat(1024 * 1024)}"\n`));
    const crowd = Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`chart/${at}`, '']));
    for (const archive of [
      large,
      await bombOf(40 * 1024 * 1024),
      await tarballOf({ ...crowd, 'chart/Chart.yaml': chartYaml('eggs', '1.0.0') }),
    ])
      expect(statusAndBody(await upload(app, developer, project, { archive }))).toEqual(beyond);
  });

  it('refuses a form without a chart, a body that is no form, and an invalid channel', async () => {
    const path = `${helmPath(project)}/api/stable/charts`;
    const missing = { message: 'chart is missing', error: 'chart is missing' };
    await app.as(developer).post(path).field('a', 'b').expect(400, missing);
    await app.as(developer).post(path).type('application/octet-stream').send(Buffer.from('x')).expect(400, missing);
    const archive = await archiveOf(chartYaml('eggs', '1.0.0'));
    for (const channel of ['a..b', '-a', 'a-', 'a%2Fb', 'a%20b']) {
      const answer = await upload(app, developer, project, { channel, archive });
      expect([channel, answer.status, answer.body.error]).toEqual([channel, 400, 'channel is invalid']);
    }
  });

  it('refuses a file beyond the limit of the plan', async () => {
    const archive = await archiveOf(chartYaml('eggs', '1.0.0'));
    const instance = app.get(InstanceSettings);
    const plan_limits = { default: { helm_max_file_size: archive.length - 1 } };
    instance.applyAnswer({ version: 1, features: {}, settings: {}, plan_limits });
    const answer = await upload(app, developer, project, { archive });
    instance.applyAnswer({ version: 2, features: {}, settings: {} });
    expect(statusAndBody(answer)).toEqual([
      400,
      { message: '400 Bad request - File is too large', error: 'File is too large' },
    ]);
  });

  it('refuses a protected name, whatever its case, for charts that exist too', async () => {
    const maintainer = await memberOf(seed, project, 'maintainer');
    await uploaded(app, developer, project, { name: 'Core-a' });
    await app
      .as(maintainer)
      .post(`/api/v4/projects/${project.id}/packages/protection/rules`)
      .send({ package_name_pattern: 'core-*', package_type: 'helm', minimum_access_level_for_push: 'maintainer' })
      .expect(201);
    for (const [name, version] of [
      ['Core-a', '1.0.0'],
      ['core-b', '1.0.0'],
    ] as const) {
      const archive = await archiveOf(chartYaml(name, version));
      const answer = await upload(app, developer, project, { archive });
      expect(statusAndBody(answer)).toEqual([
        403,
        { message: '403 Forbidden - Package protected.', error: 'Package protected.' },
      ]);
    }
    await uploaded(app, maintainer, project, { name: 'core-b' });
  });

  it('challenges anonymous callers and hides the project from outsiders', async () => {
    const archive = await archiveOf(chartYaml('eggs', '1.0.0'));
    const anonymous = await upload(app, seed.anonymous(), project, { archive });
    expect([anonymous.status, anonymous.body, anonymous.headers['www-authenticate']]).toEqual([
      ...[401, { message: '401 Unauthorized', error: 'Unauthorized' }, CHALLENGE],
    ]);
    const outsider = seed.viewer(await seed.user());
    const hidden = await upload(app, outsider, project, { archive });
    expect(statusAndBody(hidden)).toEqual([404, { message: '404 Project Not Found', error: 'Project not found' }]);
  });
});

describe('GET …/helm/:channel/index.yaml', () => {
  it('is empty for a channel without charts', async () => {
    const { text } = await get(indexPath('none')).expect(200);
    expect(parseIndex(text)).toEqual({
      ...{ apiVersion: 'v1', entries: {} },
      serverInfo: { contextPath: `/api/v4/projects/${project.id}/packages/helm` },
    });
  });

  it('names the project as the request does', async () => {
    const group = await seed.group({ visibility: 'public', path: 'charts' });
    await seed.project({ visibility: 'public', namespace_id: group.id, path: 'eggs' });
    const path = 'charts%2Feggs';
    const { text } = await get(`/api/v4/projects/${path}/packages/helm/stable/index.yaml`).expect(200);
    expect(parseIndex(text).serverInfo.contextPath).toBe(`/api/v4/projects/${path}/packages/helm`);
  });

  it('has a version that changes with charts and with nothing else', async () => {
    await uploaded(app, developer, project);
    const first = await get(indexPath()).expect(200);
    expect(first.headers['vary']).toContain('Private-Token');
    await get(indexPath()).set('if-none-match', first.headers['etag']!).expect(304);
    await getChart('eggs-1.0.0.tgz');
    expect((await get(indexPath())).headers['etag']).toBe(first.headers['etag']);
    await uploaded(app, developer, project, { version: '1.0.1' });
    expect((await get(indexPath()).set('if-none-match', first.headers['etag']!).expect(200)).headers['etag']).not.toBe(
      first.headers['etag'],
    );
  });

  it('leaves out deleted charts at once', async () => {
    const maintainer = await memberOf(seed, project, 'maintainer');
    await uploaded(app, developer, project);
    await uploaded(app, developer, project, { version: '2.0.0' });
    const { body } = await app.as(maintainer).get(`/api/v4/projects/${project.id}/packages?package_version=1.0.0`);
    await app.as(maintainer).delete(`/api/v4/projects/${project.id}/packages/${body[0].id}`).expect(204);
    expect(await indexedVersions('eggs')).toEqual(['2.0.0']);
    await getChart('eggs-1.0.0.tgz').expect(404);
  });

  it('lists each version of many charts once, in pages of the database too', async () => {
    await service.database.query(`
      with packed as (
        insert into packages (project_id, package_type, name, name_key, version)
          select ${project.id}, 'helm', 'c' || g % 3, 'c' || g % 3, '1.0.' || g from generate_series(1, 1203) g
          returning id, name, version
      ), filed as (
        insert into package_files (package_id, project_id, file_name, size, sha256, sha1, md5)
          select id, ${project.id}, name || '-' || version || '.tgz', 1, 'a', 'b', 'c' from packed
          returning id, package_id, file_name
      )
      insert into helm_files (file_id, project_id, channel, chart_name, file_name, chart)
        select f.id, ${project.id}, 'stable', p.name, f.file_name,
          jsonb_build_object('apiVersion', 'v2', 'name', p.name, 'version', p.version)
        from filed f join packed p on p.id = f.package_id`);
    const { entries } = await readIndex();
    expect(Object.entries(entries).map(([name, list]) => [name, new Set(list.map((one) => one.version)).size])).toEqual(
      [
        ['c0', 401],
        ['c1', 401],
        ['c2', 401],
      ],
    );
    expect(entries['c0']![0]!.version).toBe('1.0.1203');
  });
});

describe('GET …/helm/:channel/charts/:file_name', () => {
  it('has ranges, HEAD and conditions', async () => {
    const archive = await uploaded(app, developer, project);
    const path = `${helmPath(project)}/stable/charts/eggs-1.0.0.tgz`;
    const head = await app.as(developer).head(path).expect(200);
    expect([head.headers['content-length'], head.headers['content-disposition']]).toEqual([
      String(archive.length),
      `attachment; filename="eggs-1.0.0.tgz"; filename*=UTF-8''eggs-1.0.0.tgz`,
    ]);
    expect((await get(path).set('range', 'bytes=1-3').expect(206)).body).toEqual(archive.subarray(1, 4));
    await get(path).set('if-none-match', head.headers['etag']!).expect(304);
  });

  it.each(['eggs.zip', '..tgz', 'a..tgz', '%2e%2e%2fa.tgz', 'a%20b.tgz', 'a%00.tgz'])(
    'refuses the name %s',
    async (name) => {
      await getChart(name).expect(400, { error: 'file_name is invalid' });
    },
  );

  it('does not serve the chart of another project', async () => {
    await uploaded(app, developer, project);
    const other = await seed.project({ visibility: 'public' });
    await get(`${helmPath(other)}/stable/charts/eggs-1.0.0.tgz`).expect(404, { message: '404 Not found' });
    expect(parseIndex((await get(`${helmPath(other)}/stable/index.yaml`)).text).entries).toEqual({});
  });
});
