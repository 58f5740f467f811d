import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import { InstanceSettings } from '@rookery/instance';
import type { Viewer } from '@rookery/kernel';
import type { DirectorySeed, TestApp } from '@rookery/testing';
import type { Response } from 'supertest';
import { areAnswered, loseAnswers } from '../support/answers';
import { startPackage } from '../support/app';
import type { PackageService } from '../support/app';
import { memberOf } from '../support/npm';
import { nugetPath, nupkgOf, nuspecOf, push, pushed } from '../support/nuget';
import { sha256, wheelOf } from '../support/pypi';

let service: PackageService;
let seed: DirectorySeed;
let app: TestApp;
let group: DirectoryNamespace;
let project: DirectoryProject;
let developer: Viewer;
let maintainer: Viewer;

beforeAll(async () => {
  service = await startPackage();
  ({ seed, app } = service);
});
beforeEach(async () => {
  group = await seed.group({ visibility: 'private' });
  project = await seed.project({ visibility: 'private', namespace_id: group.id });
  developer = { ...(await memberOf(seed, project, 'developer')), tokenId: 71 };
  const owner = await seed.user();
  await seed.member(owner, group, 'maintainer');
  maintainer = seed.viewer(owner);
});
afterAll(() => service.close());

const CHALLENGE = 'Basic realm="GitLab Packages Registry"';
const get = (path: string, viewer = developer) =>
  app
    .as(viewer)
    .get(`${nugetPath(project)}${path}`)
    .buffer(true);
const statusAndBody = ({ status, body }: Response): unknown[] => [status, body];
const pushTo = (archive: Buffer, path = '', viewer = developer) =>
  push(app, viewer, `${nugetPath(project)}${path}`, archive);
const listVersions = async (name = 'nest.eggs'): Promise<unknown> =>
  (await get(`/download/${name}/index.json`).expect(200)).body.versions;
const refuseDuplicates = (more: object = {}) =>
  app
    .as(maintainer)
    .put(`/api/v4/groups/${group.id}/packages/settings`)
    .send({ nuget_duplicates_allowed: false, ...more })
    .expect(200);
const DUPLICATE = [409, { message: 'A package with the same name and version already exists' }];

describe('PUT …/nuget', () => {
  it('publishes a package, which documents, the API of packages and a download show', async () => {
    const archive = await pushed(app, developer, project);
    const { body } = await app.as(developer).get(`/api/v4/projects/${project.id}/packages`).expect(200);
    expect(body).toMatchObject([{ name: 'Nest.Eggs', version: '1.0.0', package_type: 'nuget', status: 'default' }]);
    expect(await listVersions()).toEqual(['1.0.0']);
    const down = await get('/download/nest.eggs/1.0.0/nest.eggs.1.0.0.nupkg').expect(200);
    expect([sha256(down.body as Buffer), down.headers['etag']]).toEqual([sha256(archive), `"${sha256(archive)}"`]);
  });

  it('takes any name of the part that has the file', async () => {
    const archive = await nupkgOf(nuspecOf('Nest.Eggs', '1.0.0'));
    await push(app, developer, nugetPath(project), archive, 'file').expect(201);
    expect(await listVersions()).toEqual(['1.0.0']);
  });

  it('takes all spellings of a version for one, of which the newest file counts', async () => {
    await pushed(app, developer, project, { version: '1.0' });
    const archive = await pushed(app, developer, project, { id: 'NEST.eggs', version: '1.0.0.0+build' });
    expect(await listVersions()).toEqual(['1.0.0']);
    const down = await get('/download/NEST.EGGS/1.0/Nest.Eggs.1.0.nupkg').expect(200);
    expect(sha256(down.body as Buffer)).toBe(sha256(archive));
    const { body } = await app.as(developer).get(`/api/v4/projects/${project.id}/packages`);
    expect(body).toMatchObject([{ name: 'Nest.Eggs', version: '1.0' }]);
  });

  it('refuses a version that exists where the settings say so, except for a repetition', async () => {
    await refuseDuplicates();
    const archive = await pushed(app, developer, project, { version: '1.0' });
    await areAnswered(service, 'nest.eggs.1.0.0.nupkg');
    expect(statusAndBody(await pushTo(archive))).toEqual(DUPLICATE);
    expect(statusAndBody(await pushTo(await nupkgOf(nuspecOf('nest.eggs', '1.0.0'))))).toEqual(DUPLICATE);
    await loseAnswers(service, 'nest.eggs.1.0.0.nupkg', 71);
    await pushTo(archive).expect(201);
    await pushed(app, developer, project, { version: '1.0.1' });
  });

  it('excepts a version by its first spelling only', async () => {
    await refuseDuplicates({ nuget_duplicate_exception_regex: '.*dev.*' });
    await pushed(app, developer, project, { version: '1.0.0' });
    expect(statusAndBody(await pushTo(await nupkgOf(nuspecOf('Nest.Eggs', '1.0.0+dev'))))).toEqual(DUPLICATE);
    await pushed(app, developer, project, { version: '2.0.0+dev' });
    await pushed(app, developer, project, { version: '2.0.0' });
  });

  it.each<[string, () => Promise<Buffer> | Buffer, string]>([
    ['bytes that are no archive', () => Buffer.from('no archive'), 'the file is no package'],
    ['an archive without a description', () => wheelOf({ a: 'b' }), 'the package has no nuspec'],
    ['a description in a folder', () => wheelOf({ 'a/b.nuspec': nuspecOf('a', '1.0') }), 'the package has no nuspec'],
    [
      'two descriptions',
      () => nupkgOf(nuspecOf('a', '1.0'), { 'b.NUSPEC': nuspecOf('b', '1.0') }),
      'the package has several nuspec files',
    ],
    ['a name that leads elsewhere', () => nupkgOf(nuspecOf('../a', '1.0')), 'Name is invalid'],
    ['dots', () => nupkgOf(nuspecOf('a..b', '1.0')), 'Name is invalid'],
    ['no id', () => nupkgOf(nuspecOf('', '1.0')), 'nuspec has no id'],
    ['no version', () => nupkgOf(nuspecOf('a', '')), 'Version is invalid'],
    ['another version', () => nupkgOf(nuspecOf('a', 'latest')), 'Version is invalid'],
    ['broken XML', () => nupkgOf('<package><metadata></package>'), 'nuspec is not well-formed XML'],
    ['another document', () => nupkgOf('<html/>'), 'nuspec has no metadata'],
    ['a large description', () => nupkgOf(nuspecOf('a', '1.0', ' '.repeat(512 * 1024))), 'nuspec is too large'],
    [
      'many dependencies',
      () =>
        nupkgOf(
          nuspecOf('a', '1.0', `<dependencies>${'<dependency id="abc" version="1.0"/>'.repeat(3000)}</dependencies>`),
        ),
      'nuspec has too many dependencies',
    ],
    [
      'many groups of dependencies',
      () =>
        nupkgOf(
          nuspecOf('a', '1.0', `<dependencies>${'<group targetFramework="net8.0"/>'.repeat(301)}</dependencies>`),
        ),
      'nuspec has too many dependencies',
    ],
    [
      'a long framework, which documents repeat for each dependency',
      () =>
        nupkgOf(
          nuspecOf(
            'a',
            '1.0',
            `<dependencies><group targetFramework="${'n'.repeat(256)}"><dependency id="b"/></group></dependencies>`,
          ),
        ),
      'targetFramework is too long',
    ],
    [
      'symbols only',
      () => nupkgOf(nuspecOf('a', '1.0', '<packageTypes><packageType name="SymbolsPackage"/></packageTypes>')),
      'the package has symbols only',
    ],
  ])('refuses %s', async (_, archive, problem) => {
    expect(statusAndBody(await pushTo(await archive()))).toEqual([400, { message: `Validation failed: ${problem}` }]);
    expect((await app.as(developer).get(`/api/v4/projects/${project.id}/packages`)).body).toEqual([]);
  });

  it('refuses documents that declare entities', async () => {
    const nuspec = `<!DOCTYPE x [<!ENTITY a "b">]><package><metadata><id>&a;</id></metadata></package>`;
    expect(statusAndBody(await pushTo(await nupkgOf(nuspec)))).toEqual([
      ...[400, { message: '400 Bad request - nuspec declares a document type' }],
    ]);
  });

  it('refuses a description with more than 50,000 attributes', async () => {
    const nuspec = nuspecOf('a', '1.0', '<b a="" c=""/>'.repeat(25_000));
    expect(statusAndBody(await pushTo(await nupkgOf(nuspec)))).toEqual([
      ...[400, { message: '400 Bad request - nuspec has too many attributes' }],
    ]);
  });

  it('cuts a long text between characters', async () => {
    await pushed(app, developer, project, { more: `<summary>${'a'.repeat(3999)}\u{1f95a}</summary>` });
    const { body } = await get('/metadata/nest.eggs/1.0.0.json').expect(200);
    expect(body.catalogEntry.summary).toBe('a'.repeat(3999));
  });

  it('refuses a form without a file, a body that is no form, and a file beyond the limit', async () => {
    const missing = { error: 'package is missing' };
    await app.as(developer).put(nugetPath(project)).field('a', 'b').expect(400, missing);
    await app.as(developer).put(nugetPath(project)).type('text/plain').send('x').expect(400, missing);
    const archive = await nupkgOf(nuspecOf('a', '1.0'));
    const instance = app.get(InstanceSettings);
    const plan_limits = { default: { nuget_max_file_size: archive.length - 1 } };
    instance.applyAnswer({ version: 1, features: {}, settings: {}, plan_limits });
    const answer = await pushTo(archive);
    instance.applyAnswer({ version: 2, features: {}, settings: {} });
    expect(statusAndBody(answer)).toEqual([400, { message: '400 Bad request - File is too large' }]);
  });

  it('refuses a protected name in any case, and challenges anonymous callers', async () => {
    await app
      .as(maintainer)
      .post(`/api/v4/projects/${project.id}/packages/protection/rules`)
      .send({ package_name_pattern: 'Nest.*', package_type: 'nuget', minimum_access_level_for_push: 'maintainer' })
      .expect(201);
    const archive = await nupkgOf(nuspecOf('NEST.eggs', '1.0.0'));
    expect(statusAndBody(await pushTo(archive))).toEqual([403, { message: '403 Forbidden - Package protected.' }]);
    await pushTo(archive, '', maintainer).expect(201);
    const anonymous = await pushTo(archive, '', seed.anonymous());
    expect([...statusAndBody(anonymous), anonymous.headers['www-authenticate']]).toEqual([
      ...[401, { message: '401 Unauthorized' }, CHALLENGE],
    ]);
  });
});

describe('PUT …/nuget/symbolpackage', () => {
  const symbols = (version = '1.0.0'): Promise<Buffer> =>
    nupkgOf(nuspecOf('Nest.Eggs', version, '<packageTypes><packageType name="SymbolsPackage"/></packageTypes>'));

  it('adds symbols to their version, and nothing else', async () => {
    expect(statusAndBody(await pushTo(await symbols(), '/symbolpackage'))).toEqual([
      404,
      { message: '404 Package Not Found' },
    ]);
    await pushed(app, developer, project);
    const archive = await symbols();
    await pushTo(archive, '/symbolpackage').expect(201);
    await pushTo(archive, '/symbolpackage').expect(201);
    expect(await listVersions()).toEqual(['1.0.0']);
    const down = await get('/download/nest.eggs/1.0.0/nest.eggs.1.0.0.snupkg').expect(200);
    expect(sha256(down.body as Buffer)).toBe(sha256(archive));
    await refuseDuplicates();
    expect(statusAndBody(await pushTo(archive, '/symbolpackage'))).toEqual(DUPLICATE);
  });
});

describe('documents for clients', () => {
  it('begin with an index that is public, and alike for projects that do not exist', async () => {
    for (const id of [`${project.id}`, '987654321', 'no%2Fproject'])
      for (const path of ['index.json', 'index']) {
        const { body } = await app
          .as(seed.anonymous())
          .get(`/api/v4/projects/${id}/packages/nuget/${path}`)
          .expect(200);
        const resources = body.resources as Record<string, string>[];
        expect(body.version).toBe('3.0.0');
        expect(resources.map((one) => one['@type'])).toEqual([
          ...['PackageBaseAddress/3.0.0', 'SearchQueryService', 'SearchQueryService/3.0.0-beta'],
          ...['SearchQueryService/3.0.0-rc', 'SearchAutocompleteService', 'SearchAutocompleteService/3.0.0-beta'],
          ...['SearchAutocompleteService/3.0.0-rc', 'RegistrationsBaseUrl', 'RegistrationsBaseUrl/3.0.0-beta'],
          ...['RegistrationsBaseUrl/3.0.0-rc', 'PackagePublish/2.0.0', 'SymbolPackagePublish/4.9.0'],
        ]);
        expect(resources[0]!['@id']).toMatch(new RegExp(`/api/v4/projects/${id}/packages/nuget/download$`));
      }
    const { body } = await app.as(seed.anonymous()).get('/api/v4/groups/987/-/packages/nuget/index.json').expect(200);
    expect(JSON.stringify(body)).not.toContain('PackagePublish');
  });

  it('describe versions with dependencies, the oldest first', async () => {
    const more = `<title>The Eggs</title><tags>a b</tags><projectUrl>https://x/?a=1&amp;b=2</projectUrl>
      <license type="expression">MIT</license><requireLicenseAcceptance>true</requireLicenseAcceptance>
      <dependencies><group targetFramework="net8.0"><dependency id="Other" version="1.0.0"/>
      <dependency id="Any"/><dependency id="Range" version="[1.0,2.0)"/></group><group targetFramework=".NETStandard2.0"/></dependencies>`;
    for (const version of ['1.10.0', '1.9.0', '2.0.0-rc.1']) await pushed(app, developer, project, { version, more });
    const { body } = await get('/metadata/NEST.Eggs/index.json').expect(200);
    const [page] = body.items;
    expect([body.count, page.count, page.lower, page.upper]).toEqual([1, 3, '1.9.0', '2.0.0-rc.1']);
    const [entry] = page.items;
    expect(entry.packageContent).toMatch(/\/download\/nest\.eggs\/1\.9\.0\/nest\.eggs\.1\.9\.0\.nupkg$/);
    expect(entry.catalogEntry).toMatchObject({
      ...{ '@type': 'PackageDetails', id: 'Nest.Eggs', version: '1.9.0', authors: 'Ada & Bob', description: 'Eggs.' },
      ...{ tags: 'a b', projectUrl: 'https://x/?a=1&b=2', licenseExpression: 'MIT', requireLicenseAcceptance: true },
      ...{ listed: true, packageContent: entry.packageContent },
      dependencyGroups: [
        {
          targetFramework: 'net8.0',
          dependencies: [
            { id: 'Other', range: '[1.0.0, )' },
            { id: 'Any', range: '(, )' },
            { id: 'Range', range: '[1.0,2.0)' },
          ],
        },
        { targetFramework: '.NETStandard2.0', dependencies: [] },
      ],
    });
    const one = await get('/metadata/nest.eggs/1.9.0.json').expect(200);
    expect(one.body).toEqual(entry);
    expect((await get('/metadata/nest.eggs/1.9').expect(200)).body).toEqual(entry);
    expect((await get('/metadata/nest.eggs/index').expect(200)).body).toEqual(body);
    for (const path of ['/metadata/nest.eggs/3.0.0.json', '/metadata/none/index.json', '/metadata/nest.eggs/x.json'])
      expect(statusAndBody(await get(path))).toEqual([404, { message: '404 Package Not Found' }]);
  });

  it('search by a part of the name, with pages and without prereleases', async () => {
    for (const [id, version] of [
      ['Nest.Eggs', '1.0.0'],
      ['Nest.Eggs', '2.0.0-rc.1'],
      ['Nest.Twigs', '1.0.0-a'],
      ['Other', '1.0.0'],
    ] as const)
      await pushed(app, developer, project, { id, version });
    const found = async (query: object): Promise<unknown[]> => {
      const { body } = await get('/query').query(query).expect(200);
      return [
        body.totalHits,
        ...body.data.map((one: Record<string, unknown>) => `${String(one['id'])} ${String(one['version'])}`),
      ];
    };
    expect(await found({})).toEqual([3, 'Nest.Eggs 2.0.0-rc.1', 'Nest.Twigs 1.0.0-a', 'Other 1.0.0']);
    expect(await found({ q: 'NEST', semVerLevel: '2.0.0' })).toEqual([2, 'Nest.Eggs 2.0.0-rc.1', 'Nest.Twigs 1.0.0-a']);
    expect(await found({ q: 'nest', prerelease: 'false' })).toEqual([1, 'Nest.Eggs 1.0.0']);
    expect(await found({ skip: 1, take: 1 })).toEqual([3, 'Nest.Twigs 1.0.0-a']);
    expect(await found({ skip: 9 })).toEqual([3]);
    expect(await found({ q: '%' })).toEqual([0]);
    const { body } = await get('/query').query({ q: 'eggs' });
    expect(body.data[0]).toMatchObject({
      ...{ title: 'Nest.Eggs', authors: 'Ada & Bob', verified: true, totalDownloads: 0 },
      versions: [{ version: '1.0.0' }, { version: '2.0.0-rc.1' }],
    });
    expect(statusAndBody(await get('/query').query({ take: 31 }))).toEqual([
      400,
      { error: 'take does not have a valid value' },
    ]);
    expect(statusAndBody(await get('/query').query({ prerelease: 'x' }))).toEqual([
      400,
      { error: 'prerelease is invalid' },
    ]);
  });

  it('complete names, and versions of one', async () => {
    for (const [id, version] of [
      ['Nest.Eggs', '1.10.0'],
      ['Nest.Eggs', '1.9'],
      ['Nest.Eggs', '2.0.0-rc.1'],
      ['Nest.Twigs', '1.0.0-a'],
    ] as const)
      await pushed(app, developer, project, { id, version });
    const completed = async (query: object): Promise<unknown> =>
      (await get('/autocomplete').query(query).expect(200)).body;
    expect(await completed({ q: 'NEST' })).toEqual({ totalHits: 2, data: ['Nest.Eggs', 'Nest.Twigs'] });
    expect(await completed({ q: 'nest', prerelease: 'false' })).toEqual({ totalHits: 1, data: ['Nest.Eggs'] });
    expect(await completed({ skip: 1, take: 1 })).toEqual({ totalHits: 2, data: ['Nest.Twigs'] });
    const versions = ['1.9', '1.10.0', '2.0.0-rc.1'];
    expect(await completed({ id: 'nest.EGGS' })).toEqual({ totalHits: 3, data: versions });
    expect(await completed({ id: 'nest.eggs', prerelease: 'false', semVerLevel: '2.0.0' })).toEqual({
      ...{ totalHits: 2, data: versions.slice(0, 2) },
    });
    expect(await completed({ id: 'none' })).toEqual({ totalHits: 0, data: [] });
    expect(statusAndBody(await get('/autocomplete').query({ take: 31 }))).toEqual([
      ...[400, { error: 'take does not have a valid value' }],
    ]);
    const base = `/api/v4/groups/${group.id}/-/packages/nuget`;
    expect((await app.as(developer).get(`${base}/autocomplete?q=eggs`)).status).toBe(404);
    expect((await app.as(maintainer).get(`${base}/autocomplete?q=eggs`)).body).toEqual({
      ...{ totalHits: 1, data: ['Nest.Eggs'] },
    });
  });

  it('have the description of a package as it was written', async () => {
    await pushed(app, developer, project);
    const { text, headers } = await get('/download/nest.eggs/1.0.0/nest.eggs.nuspec').expect(200);
    expect([text, headers['content-type']]).toEqual([nuspecOf('Nest.Eggs', '1.0.0'), 'application/xml']);
    for (const file of ['other.1.0.0.nupkg', 'nest.eggs.2.0.0.nupkg', 'nest.eggs.1.0.0.zip'])
      expect(statusAndBody(await get(`/download/nest.eggs/1.0.0/${file}`))).toEqual([
        404,
        { message: '404 Not found' },
      ]);
    expect(statusAndBody(await get('/download/nest.eggs/1.0.0/a%20b'))).toEqual([
      400,
      { error: 'file_name is invalid' },
    ]);
  });
});

describe('the registry of a group', () => {
  it('has the packages of the projects that the caller may read', async () => {
    const hidden = await seed.project({ visibility: 'private', namespace_id: group.id });
    await seed.member({ id: developer.userId! }, group, 'guest');
    await pushed(app, developer, project, { version: '1.0.0' });
    await pushed(app, maintainer, hidden, { version: '1.0.0' });
    const archive = await pushed(app, maintainer, hidden, { version: '2.0.0' });
    const base = `/api/v4/groups/${group.id}/-/packages/nuget`;
    const read = (path: string, viewer: Viewer) => app.as(viewer).get(`${base}${path}`).buffer(true);
    expect((await read('/download/nest.eggs/index.json', developer).expect(200)).body.versions).toEqual(['1.0.0']);
    expect((await read('/download/nest.eggs/index.json', maintainer)).body.versions).toEqual(['1.0.0', '2.0.0']);
    expect((await read('/query', maintainer)).body).toMatchObject({ totalHits: 1, data: [{ version: '2.0.0' }] });
    const { body } = await read('/metadata/nest.eggs/2.0.0.json', maintainer).expect(200);
    expect(body['@id']).toContain(base);
    expect(body.packageContent).toContain(`/projects/${hidden.id}/packages/nuget/download/`);
    await read('/metadata/nest.eggs/2.0.0.json', developer).expect(404, { message: '404 Package Not Found' });
    const down = await read('/download/nest.eggs/2.0.0/nest.eggs.2.0.0.nupkg', maintainer).expect(200);
    expect(sha256(down.body as Buffer)).toBe(sha256(archive));
    await read('/download/nest.eggs/2.0.0/nest.eggs.2.0.0.nupkg', developer).expect(404);
    const anonymous = await read('/query', seed.anonymous()).expect(401, { message: '401 Unauthorized' });
    expect(anonymous.headers['www-authenticate']).toBe(CHALLENGE);
  });
});

describe('DELETE …/nuget/:package_name/:package_version', () => {
  const remove = (path: string, viewer = maintainer) => app.as(viewer).delete(`${nugetPath(project)}/${path}`);

  it('deletes a version in any spelling, which may then be pushed again', async () => {
    await refuseDuplicates();
    await pushed(app, developer, project);
    await remove('NEST.eggs/1.0').expect(204);
    await get('/download/nest.eggs/index.json').expect(404, { message: '404 Package Not Found' });
    for (const path of ['nest.eggs/1.0.0', 'nest.eggs/x', 'none/1.0.0'])
      await remove(path).expect(404, { message: '404 Package Not Found' });
    await pushed(app, developer, project);
    expect(await listVersions()).toEqual(['1.0.0']);
  });

  it('is for maintainers, and not for a version of another project', async () => {
    await pushed(app, developer, project);
    await remove('nest.eggs/1.0.0', developer).expect(403, { message: '403 Forbidden' });
    await remove('nest.eggs/1.0.0', seed.anonymous()).expect(401, { message: '401 Unauthorized' });
    const other = await seed.project({ visibility: 'private', namespace_id: group.id });
    await app
      .as(maintainer)
      .delete(`${nugetPath(other)}/nest.eggs/1.0.0`)
      .expect(404);
    await app
      .as(maintainer)
      .post(`${nugetPath(project)}/nest.eggs/1.0.0`)
      .expect(405);
    expect(await listVersions()).toEqual(['1.0.0']);
  });

  it('respects rules that protect a name', async () => {
    await pushed(app, developer, project);
    const instance = app.get(InstanceSettings);
    const gates = { boolean: true, actors: [], groups: [], percentage_of_time: 0, percentage_of_actors: 0 };
    instance.applyAnswer({ version: 3, features: { packages_protected_packages_delete: gates }, settings: {} });
    await app
      .as(maintainer)
      .post(`/api/v4/projects/${project.id}/packages/protection/rules`)
      .send({ package_name_pattern: 'nest.*', package_type: 'nuget', minimum_access_level_for_delete: 'owner' })
      .expect(201);
    await remove('nest.eggs/1.0.0').expect(403, { message: '403 Forbidden - Package is deletion protected.' });
    instance.applyAnswer({ version: 4, features: {}, settings: {} });
    await remove('nest.eggs/1.0.0').expect(204);
  });
});
