import { XMLParser } from 'fast-xml-parser';
import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import type { DirectorySeed, TestApp } from '@rookery/testing';
import type { Response } from 'supertest';
import { startPackage } from '../support/app';
import type { PackageService } from '../support/app';
import { memberOf } from '../support/npm';
import { nugetPath, nupkgOf, nuspecOf, push, pushed } from '../support/nuget';
import { sha256 } from '../support/pypi';

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
  developer = await memberOf(seed, project, 'developer');
  const owner = await seed.user();
  await seed.member(owner, group, 'maintainer');
  maintainer = seed.viewer(owner);
});
afterAll(() => service.close());

const CHALLENGE = 'Basic realm="GitLab Packages Registry"';
const statusAndBody = ({ status, body }: Response): unknown[] => [status, body];
const get = (operation: string, query: object = {}, viewer = developer) =>
  app
    .as(viewer)
    .get(`${nugetPath(project)}/v2${operation}`)
    .query(query);

interface FeedEntry {
  readonly title: string;
  readonly content: { readonly '@src': string; readonly '@type': string };
  readonly properties: Readonly<Record<string, string>>;
}
const parser = new XMLParser({
  ...{ attributeNamePrefix: '@', ignoreAttributes: false, parseTagValue: false, removeNSPrefix: true },
  isArray: (name) => name === 'entry' || name === 'link',
  transformTagName: (name) => name,
});
type Attributes = Readonly<Record<string, string>>;
/** The documents of a feed; each has one of these elements. */
interface FeedDocument {
  readonly service: Attributes & { readonly workspace: { readonly collection: Attributes } };
  readonly Edmx: {
    readonly DataServices: {
      readonly Schema: {
        readonly EntityContainer: { readonly FunctionImport: readonly Attributes[] };
        readonly EntityType: Attributes;
      };
    };
  };
  readonly feed: {
    readonly entry?: readonly FeedEntry[];
    readonly link: readonly Attributes[];
    readonly count?: unknown;
  };
  readonly entry: readonly [FeedEntry];
}
const parseXml = ({ text }: Response): FeedDocument => parser.parse(text, true) as FeedDocument;
/** Text of an element with or without attributes. */
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : ((value as { '#text'?: string })['#text'] ?? '');
const versionsIn = (response: Response): readonly string[] =>
  (parseXml(response).feed.entry ?? []).map(
    ({ properties }) => `${textOf(properties['Id'])} ${textOf(properties['Version'])}`,
  );

/** Calls an operation of the feed. Returns the versions that it lists, each as `<id> <version>`. */
async function searchVersions(operation: string, query: object = {}): Promise<readonly string[]> {
  return versionsIn(await get(operation, query).buffer(true).expect(200));
}

async function pushAllVersions(): Promise<void> {
  for (const [id, version] of [
    ['Nest.Eggs', '1.10.0'],
    ['Nest.Eggs', '1.9.0'],
    ['Nest.Eggs', '2.0.0-rc.1'],
    ['Nest.Twigs', '1.0.0-a'],
    ['Other', '1.0'],
  ] as const)
    await pushed(app, developer, project, { id, version });
}

describe('GET …/nuget/v2', () => {
  it('leads to the packages, with the operations in a document of their own', async () => {
    const service = await get('').buffer(true).expect(200);
    expect(service.headers['content-type']).toBe('application/xml; charset=utf-8');
    expect(parseXml(service).service.workspace.collection['@href']).toBe('Packages');
    expect(parseXml(service).service['@base']).toMatch(new RegExp(`/projects/${project.id}/packages/nuget/v2/$`));
    const metadata = await get('/$metadata').buffer(true).expect(200);
    const { EntityContainer, EntityType } = parseXml(metadata).Edmx.DataServices.Schema;
    expect(EntityContainer.FunctionImport.map((one) => one['@Name'])).toEqual([...['Search', 'FindPackagesById']]);
    expect(EntityType['@Name']).toBe('V2FeedPackage');
  });

  it('finds the versions of a package, with all that clients read', async () => {
    const more = `<title>The Eggs</title><tags>a b</tags><projectUrl>https://x/?a=1&amp;b=2</projectUrl>
      <dependencies><group targetFramework="net8.0"><dependency id="Other" version="[1.0,2.0)"/><dependency id="Any"/></group>
      <group targetFramework=".NETStandard2.0"/></dependencies>`;
    const archive = await pushed(app, developer, project, { version: '1.0', more });
    await pushed(app, developer, project, { version: '2.0.0-rc.1' });
    for (const id of ["'nest.EGGS'", 'Nest.Eggs']) {
      const answer = await get('/FindPackagesById()', { id }).buffer(true).expect(200);
      expect(answer.headers['content-type']).toBe('application/atom+xml; charset=utf-8');
      const [entry, second] = parseXml(answer).feed.entry!;
      const { properties } = entry!;
      const shown = Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, textOf(value)]));
      expect(shown).toMatchObject({
        ...{ Id: 'Nest.Eggs', Version: '1.0', NormalizedVersion: '1.0.0', Title: 'The Eggs', Authors: 'Ada & Bob' },
        ...{ Tags: 'a b', ProjectUrl: 'https://x/?a=1&b=2', PackageSize: `${archive.length}` },
        ...{ IsLatestVersion: 'true', IsAbsoluteLatestVersion: 'false', IsPrerelease: 'false', Listed: 'true' },
        ...{ PackageHash: Buffer.from(sha256(archive), 'hex').toString('base64'), PackageHashAlgorithm: 'SHA256' },
        Dependencies: 'Other:[1.0,2.0):net8.0|Any::net8.0|::.NETStandard2.0',
      });
      expect([textOf(second!.properties['Version']), textOf(second!.properties['IsAbsoluteLatestVersion'])]).toEqual([
        ...['2.0.0-rc.1', 'true'],
      ]);
      expect(entry!.content['@src']).toMatch(/\/nuget\/download\/nest\.eggs\/1\.0\.0\/nest\.eggs\.1\.0\.0\.nupkg$/);
    }
    const one = await get("/Packages(Id='nest.eggs',Version='1.0.0.0')").buffer(true).expect(200);
    expect(textOf(parseXml(one).entry[0].properties['Version'])).toBe('1.0');
    for (const key of ["Id='none',Version='1.0'", "Id='nest.eggs',Version='9.0'", "Id='nest.eggs',Version='x'"])
      expect(statusAndBody(await get(`/Packages(${key})`))).toEqual([404, { message: '404 Package Not Found' }]);
    expect(await searchVersions('/FindPackagesById()', { id: 'none' })).toEqual([]);
    expect(statusAndBody(await get('/FindPackagesById()'))).toEqual([400, { error: 'id is missing' }]);
  });

  it('searches and lists by conditions, in pages', async () => {
    await pushAllVersions();
    const all = ['Nest.Eggs 1.9.0', 'Nest.Eggs 1.10.0', 'Nest.Eggs 2.0.0-rc.1', 'Nest.Twigs 1.0.0-a', 'Other 1.0'];
    expect(await searchVersions('/Packages()')).toEqual(all);
    expect(await searchVersions('/Packages')).toEqual(all);
    expect(await searchVersions('/Packages()', { $skip: 1, $top: 2 })).toEqual(all.slice(1, 3));
    expect(
      await searchVersions('/Packages()', { $filter: "(tolower(Id) eq 'nest.eggs') and Version eq '1.9'" }),
    ).toEqual([all[0]]);
    const ids = "(tolower(Id) eq 'other') or (tolower(Id) eq 'nest.twigs')";
    expect(await searchVersions('/Packages()', { $filter: ids })).toEqual(all.slice(3));
    const byVersion = { id: "'nest.eggs'", $orderby: 'Version desc', $top: 2 };
    expect(await searchVersions('/FindPackagesById()', byVersion)).toEqual([all[2], all[1]]);
    expect(await searchVersions('/FindPackagesById()', { ...byVersion, $filter: 'IsLatestVersion', $top: 1 })).toEqual([
      all[1],
    ]);
    const latest = { $filter: 'IsLatestVersion', searchTerm: "''", targetFramework: "''", $orderby: 'Id' };
    expect(await searchVersions('/Search()', latest)).toEqual(['Nest.Eggs 1.10.0', 'Other 1.0']);
    expect(await searchVersions('/Search()', { ...latest, searchTerm: "'NEST'" })).toEqual(['Nest.Eggs 1.10.0']);
    const absolute = { $filter: 'IsAbsoluteLatestVersion', includePrerelease: true, $skip: 0, $top: 2 };
    expect(await searchVersions('/Search()', absolute)).toEqual(['Nest.Eggs 2.0.0-rc.1', 'Nest.Twigs 1.0.0-a']);
    expect(await searchVersions('/Search()', { ...absolute, $skip: 2 })).toEqual(['Other 1.0']);
    expect(await searchVersions('/Search()', { searchTerm: "'eggs'" })).toEqual(all.slice(0, 2));
    expect(await searchVersions('/Search()', { searchTerm: "'eggs'", includePrerelease: true })).toEqual(
      all.slice(0, 3),
    );
    expect(await searchVersions('/Search()', { searchTerm: '%' })).toEqual([]);
    const counted = await get('/Packages()', { $inlinecount: 'allpages', $top: 0 }).buffer(true);
    expect([textOf(parseXml(counted).feed.count), versionsIn(counted)]).toEqual(['5', []]);
  });

  it('leads to the next page of many versions', async () => {
    await service.database.query(`
      with made as (
        insert into packages (project_id, package_type, name, name_key, version, created_at)
        select ${project.id}, 'nuget', 'Many', 'many', '1.0.' || g, now() from generate_series(1, 101) g
        returning id, version),
      files as (
        insert into package_files (package_id, project_id, file_name, size, sha256, sha1, md5)
        select id, ${project.id}, 'many.' || version || '.nupkg', 1, repeat('0', 64), '', '' from made)
      insert into nuget_versions (package_id, project_id, name_key, version_key, is_prerelease, nuspec)
      select id, ${project.id}, 'many', version, false,
        '{"dependencyGroups":[],"title":"","summary":"","authors":"","description":"","tags":"","projectUrl":"","iconUrl":"","licenseUrl":"","requireLicenseAcceptance":false}'
      from made`);
    const first = await get('/FindPackagesById()', { id: "'many'" }).buffer(true).expect(200);
    const links = parseXml(first).feed.link;
    const next = links.find((one) => one['@rel'] === 'next')!['@href']!.replaceAll('&amp;', '&');
    expect(versionsIn(first)).toHaveLength(100);
    const rest = await app
      .as(developer)
      .get(next.slice(next.indexOf('/api/')))
      .buffer(true)
      .expect(200);
    expect(versionsIn(rest)).toEqual(['Many 1.0.101']);
    expect(parseXml(rest).feed.link.length).toBe(1);
  });

  it.each([
    ['/Packages()', { $filter: 'DownloadCount gt 5' }, [400, { error: '$filter does not have a valid value' }]],
    ['/Packages()', { $skip: -1 }, [400, { error: '$skip does not have a valid value' }]],
    ['/Packages()', { $top: 'x' }, [400, { error: '$top is invalid' }]],
    ['/GetUpdates()', {}, [404, { message: '404 Not found' }]],
    ["/Packages(Id='a')", {}, [404, { message: '404 Not found' }]],
    ['/Packages(Id=%27a%27%2CVersion=%271%00%27)', {}, null],
  ])('%s with %j is refused', async (operation, query, expected) => {
    const answer = await get(operation, query);
    if (expected === null) expect(answer.status).toBe(400);
    else expect(statusAndBody(answer)).toEqual(expected);
  });

  it('shows nothing of other projects, and challenges anonymous callers', async () => {
    await pushAllVersions();
    const other = await seed.project({ visibility: 'private', namespace_id: group.id });
    await pushed(app, maintainer, other, { id: 'Hidden', version: '1.0.0' });
    expect(await searchVersions('/FindPackagesById()', { id: 'Hidden' })).toEqual([]);
    for (const path of ['', '/$metadata', '/Packages()', "/Packages(Id='Other',Version='1.0')"]) {
      const anonymous = await get(path, {}, seed.anonymous());
      expect([...statusAndBody(anonymous), anonymous.headers['www-authenticate']]).toEqual([
        ...[401, { message: '401 Unauthorized' }, CHALLENGE],
      ]);
    }
  });

  it('never writes a text of users as markup', async () => {
    const more = '<title>&lt;b&gt;&quot;&apos;</title><tags>]]&gt;</tags>';
    await pushed(app, developer, project, { version: '1.0', more });
    const { text } = await get('/FindPackagesById()', { id: 'nest.eggs' }).buffer(true).expect(200);
    expect(text).toContain('<d:Title>&lt;b&gt;&quot;&#39;</d:Title>');
    expect(text).toContain('<d:Tags>]]&gt;</d:Tags>');
  });
});

describe('PUT and DELETE …/nuget/v2', () => {
  it('publish and delete as the newer routes do', async () => {
    const archive = await nupkgOf(nuspecOf('Nest.Eggs', '1.0.0'));
    await push(app, developer, `${nugetPath(project)}/v2`, archive).expect(201, { message: '201 Created' });
    expect(await searchVersions('/FindPackagesById()', { id: 'nest.eggs' })).toEqual(['Nest.Eggs 1.0.0']);
    const remove = (viewer: Viewer, version = '1.0') =>
      app.as(viewer).delete(`${nugetPath(project)}/v2/nest.EGGS/${version}`);
    expect(statusAndBody(await remove(developer))).toEqual([403, { message: '403 Forbidden' }]);
    expect(statusAndBody(await remove(maintainer, '2.0'))).toEqual([404, { message: '404 Package Not Found' }]);
    await remove(maintainer).expect(204);
    expect(await searchVersions('/FindPackagesById()', { id: 'nest.eggs' })).toEqual([]);
  });

  it('take a form whose last part ends with a line feed alone, as NuGet on Mono sends it', async () => {
    const archive = await nupkgOf(nuspecOf('Nest.Eggs', '1.0.0'));
    for (const [end, version] of [
      ['\n--b--', '1.0.0'],
      ['\n--b--\r\n', '1.0.1'],
      ['\r\n--b--\r\n', '1.0.2'],
    ] as const) {
      const content = version === '1.0.0' ? archive : await nupkgOf(nuspecOf('Nest.Eggs', version));
      const head = '--b\r\nContent-Disposition: form-data; name="package"; filename="package"\r\n\r\n';
      await app
        .as(developer)
        .put(`${nugetPath(project)}/v2`)
        .set('content-type', 'multipart/form-data; boundary=b')
        .send(Buffer.concat([Buffer.from(head), content, Buffer.from(end)]))
        .expect(201);
    }
    const { properties } = parseXml(await get('/Packages()').buffer(true)).feed.entry![0]!;
    expect(textOf(properties['PackageHash'])).toBe(Buffer.from(sha256(archive), 'hex').toString('base64'));
    const cut = Buffer.from('--b\r\nContent-Disposition: form-data; name="package"; filename="package"\r\n\r\nPK');
    const answer = await app
      .as(developer)
      .put(`${nugetPath(project)}/v2`)
      .set('content-type', 'multipart/form-data; boundary=b')
      .send(cut);
    expect(statusAndBody(answer)).toEqual([400, { error: 'package is invalid' }]);
  });

  it('refuse a protected name, a form without a file, and broken archives', async () => {
    await app
      .as(maintainer)
      .post(`/api/v4/projects/${project.id}/packages/protection/rules`)
      .send({ package_name_pattern: 'Nest.*', package_type: 'nuget', minimum_access_level_for_push: 'maintainer' })
      .expect(201);
    const path = `${nugetPath(project)}/v2`;
    const archive = await nupkgOf(nuspecOf('nest.eggs', '1.0.0'));
    expect(statusAndBody(await push(app, developer, path, archive))).toEqual([
      ...[403, { message: '403 Forbidden - Package protected.' }],
    ]);
    expect(statusAndBody(await push(app, developer, path, Buffer.from('x')))).toEqual([
      ...[400, { message: 'Validation failed: the file is no package' }],
    ]);
    expect(statusAndBody(await app.as(developer).put(path).field('a', 'b'))).toEqual([
      400,
      { error: 'package is missing' },
    ]);
  });
});
