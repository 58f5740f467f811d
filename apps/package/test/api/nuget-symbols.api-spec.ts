import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import type { DirectorySeed, TestApp } from '@rookery/testing';
import type { Response } from 'supertest';
import { ZipFile } from 'yazl';
import { startPackage } from '../support/app';
import type { PackageService } from '../support/app';
import { memberOf } from '../support/npm';
import { nugetPath, nupkgOf, nuspecOf, pdbOf, push, pushed, symbolChecksum } from '../support/nuget';

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

const GUID = '497b72f6390a44fc878e5a2d63b6cc4b';
const SYMBOLS = '<packageTypes><packageType name="SymbolsPackage"/></packageTypes>';
const CHALLENGE = 'Basic realm="GitLab Packages Registry"';
const statusAndBody = ({ status, body }: Response): unknown[] => [status, body];
const MISSING = [404, { message: '404 Symbol Not Found' }];

const packSymbols = (files: Readonly<Record<string, Buffer>>): Promise<Buffer> =>
  nupkgOf(nuspecOf('Nest.Eggs', '1.0.0', SYMBOLS), files);
const pushSymbols = (archive: Buffer, viewer = developer) =>
  push(app, viewer, `${nugetPath(project)}/symbolpackage`, archive);

/** Pushes a version with symbols. */
async function pushVersionWithSymbols(files: Readonly<Record<string, Buffer>>): Promise<void> {
  await pushed(app, developer, project);
  await pushSymbols(await packSymbols(files)).expect(201);
}

interface SymbolRequest {
  readonly name?: string;
  readonly signature?: string;
  readonly checksum?: string;
  readonly viewer?: Viewer;
  readonly base?: string;
}

/** A debugger's request. */
function requestSymbols({
  name = 'eggs.pdb',
  signature = `${GUID}FFFFFFFF`,
  checksum,
  viewer = developer,
  base,
}: SymbolRequest) {
  const request = app
    .as(viewer)
    .get(`${base ?? nugetPath(project)}/symbolfiles/${name}/${signature}/${name}`)
    .buffer(true);
  return checksum === undefined ? request : request.set('SymbolChecksum', checksum);
}

describe('GET …/nuget/symbolfiles', () => {
  it('answers the file inside the archive, with HEAD and conditions', async () => {
    const pdb = pdbOf(GUID);
    await pushVersionWithSymbols({ 'lib/net8.0/Eggs.pdb': pdb });
    const checksum = `SHA256:${symbolChecksum(pdb, GUID)}`;
    const found = await requestSymbols({ checksum }).expect(200);
    expect(Buffer.compare(found.body as Buffer, pdb)).toBe(0);
    expect(found.headers['content-type']).toBe('application/octet-stream');
    const upper = await requestSymbols({
      name: 'EGGS.pdb',
      signature: GUID.toUpperCase() + 'ffffffff',
      checksum,
    }).expect(200);
    expect(Buffer.compare(upper.body as Buffer, pdb)).toBe(0);
    await requestSymbols({ checksum: `SHA384:${'0'.repeat(96)};sha256:${'0'.repeat(64)};${checksum}` }).expect(200);
    const path = `${nugetPath(project)}/symbolfiles/eggs.pdb/${GUID}ffffffff/eggs.pdb`;
    const head = await app.as(developer).head(path).set('SymbolChecksum', checksum).expect(200);
    expect(head.headers['content-length']).toBe(`${pdb.length}`);
    await app
      .as(developer)
      .get(path)
      .set({ symbolchecksum: checksum, 'if-none-match': found.headers['etag']! })
      .expect(304);
  });

  it('distinguishes files of the same name, and serves a large file with its id', async () => {
    const [first, second] = [GUID, randomBytes(16).toString('hex')];
    const files = { 'lib/net6.0/Eggs.pdb': pdbOf(first), 'lib/net8.0/Eggs.pdb': pdbOf(second, 'x'.repeat(300_000)) };
    await pushVersionWithSymbols(files);
    for (const [guid, pdb] of [
      [first, files['lib/net6.0/Eggs.pdb']],
      [second, files['lib/net8.0/Eggs.pdb']],
    ] as const) {
      const checksum = `SHA256:${symbolChecksum(pdb, guid)}`;
      const { body } = await requestSymbols({ signature: `${guid}FFFFFFFF`, checksum }).expect(200);
      expect(Buffer.compare(body as Buffer, pdb)).toBe(0);
    }
  });

  it('refuses requests without a checksum, and finds nothing by another one, name or signature', async () => {
    const pdb = pdbOf(GUID);
    await pushVersionWithSymbols({ 'lib/Eggs.pdb': pdb });
    const checksum = `SHA256:${symbolChecksum(pdb, GUID)}`;
    const without = [400, { message: '400 Bad request - Missing checksum header' }];
    expect(statusAndBody(await requestSymbols({}))).toEqual(without);
    expect(statusAndBody(await requestSymbols({ checksum: '' }))).toEqual(without);
    for (const asked of [
      { checksum: `SHA256:${'0'.repeat(64)}` },
      { checksum: 'SHA256:none' },
      { checksum: symbolChecksum(pdb, GUID) },
      { checksum, name: 'other.pdb' },
      { checksum, signature: `${GUID}00000001` },
      { checksum, signature: "x' or '1'='1" },
      { checksum, name: '%25' },
    ])
      expect([asked, ...statusAndBody(await requestSymbols(asked))]).toEqual([asked, ...MISSING]);
    for (const name of ['a%0ab', '..%5c..%5cx', 'a%00b'])
      expect(statusAndBody(await requestSymbols({ checksum, name }))[0]).toBe(400);
    const path = `${nugetPath(project)}/symbolfiles/eggs.pdb/${GUID}ffffffff/other.pdb`;
    expect(statusAndBody(await app.as(developer).get(path).set('SymbolChecksum', checksum))).toEqual([
      400,
      { error: 'same_file_name is not the same as file_name' },
    ]);
  });

  it('answers the file that was listed, not a link with the same path before it', async () => {
    const pdb = pdbOf(GUID);
    const zip = new ZipFile();
    zip.addBuffer(Buffer.from(nuspecOf('Nest.Eggs', '1.0.0', SYMBOLS)), 'eggs.nuspec');
    zip.addBuffer(Buffer.from('/etc/passwd'), 'lib/eggs.pdb', { mode: 0o120777 });
    zip.addBuffer(pdb, 'lib/eggs.pdb');
    zip.end();
    await pushed(app, developer, project);
    await pushSymbols(await buffer(zip.outputStream)).expect(201);
    const { body } = await requestSymbols({ checksum: `SHA256:${symbolChecksum(pdb, GUID)}` }).expect(200);
    expect(body).toEqual(pdb);
  });

  it('leaves out files below a path of more than 1,000 bytes', async () => {
    const folder = String.fromCharCode(
      ...Array.from({ length: 950 }, (_, index) => 0x4e00 + ((index * 7919) % 20_000)),
    );
    const pdb = pdbOf(GUID);
    await pushVersionWithSymbols({ [`${folder}/eggs.pdb`]: pdb });
    expect(statusAndBody(await requestSymbols({ checksum: `SHA256:${symbolChecksum(pdb, GUID)}` }))).toEqual(MISSING);
  });

  it('leaves out files of other formats and broken ones', async () => {
    const pdb = pdbOf(GUID);
    const truncated = pdb.subarray(0, 40);
    await pushVersionWithSymbols({
      ...{ 'a/Windows.pdb': Buffer.from('Microsoft C/C++ MSF 7.00\r\n'), 'a/Empty.pdb': Buffer.alloc(0) },
      ...{ 'a/Cut.pdb': truncated, 'a/Id.pdb': pdb.subarray(0, pdb.length - 20), 'a/Eggs.txt': pdb, 'a/Good.pdb': pdb },
    });
    const rows = await service.database.query(`select entry_name from nuget_symbols where project_id = ${project.id}`);
    expect(rows).toEqual([{ entry_name: 'a/Good.pdb' }]);
  });

  it('is challenged for anonymous callers of private projects, and open in public ones', async () => {
    const pdb = pdbOf(GUID);
    await pushVersionWithSymbols({ 'lib/Eggs.pdb': pdb });
    const checksum = `SHA256:${symbolChecksum(pdb, GUID)}`;
    const anonymous = await requestSymbols({ checksum, viewer: seed.anonymous() });
    expect([...statusAndBody(anonymous), anonymous.headers['www-authenticate']]).toEqual([
      ...[401, { message: '401 Unauthorized' }, CHALLENGE],
    ]);
    const outsider = seed.viewer(await seed.user());
    expect(statusAndBody(await requestSymbols({ checksum, viewer: outsider }))).toEqual([
      404,
      { message: '404 Project Not Found' },
    ]);
    const other = await seed.project({ visibility: 'public' });
    expect(statusAndBody(await requestSymbols({ checksum, base: nugetPath(other), viewer: seed.anonymous() }))).toEqual(
      MISSING,
    );
  });

  it('finds in a group the symbols of projects that the caller may read', async () => {
    const pdb = pdbOf(GUID);
    const hidden = await seed.project({ visibility: 'private', namespace_id: group.id });
    await seed.member({ id: developer.userId! }, group, 'guest');
    await pushed(app, maintainer, hidden);
    await push(
      app,
      maintainer,
      `${nugetPath(hidden)}/symbolpackage`,
      await packSymbols({ 'lib/Eggs.pdb': pdb }),
    ).expect(201);
    const asked = {
      checksum: `SHA256:${symbolChecksum(pdb, GUID)}`,
      base: `/api/v4/groups/${group.id}/-/packages/nuget`,
    };
    const { body } = await requestSymbols({ ...asked, viewer: maintainer }).expect(200);
    expect(Buffer.compare(body as Buffer, pdb)).toBe(0);
    expect(statusAndBody(await requestSymbols(asked))).toEqual(MISSING);
  });

  it('finds no symbols of deleted versions', async () => {
    const pdb = pdbOf(GUID);
    await pushVersionWithSymbols({ 'lib/Eggs.pdb': pdb });
    await app
      .as(maintainer)
      .delete(`${nugetPath(project)}/nest.eggs/1.0.0`)
      .expect(204);
    expect(statusAndBody(await requestSymbols({ checksum: `SHA256:${symbolChecksum(pdb, GUID)}` }))).toEqual(MISSING);
  });
});

describe('PUT …/nuget/symbolpackage', () => {
  it('refuses archives with many or large files of symbols, and lists nothing of them', async () => {
    await pushed(app, developer, project);
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`a/${index}.pdb`, Buffer.alloc(1)]));
    const large = { 'a/zeros.pdb': Buffer.alloc(256 * 1024 ** 2 + 1) };
    for (const [files, problem] of [
      [many, 'the package has too many symbol files'],
      [large, 'symbol files are too large'],
    ] as const) {
      expect(statusAndBody(await pushSymbols(await packSymbols(files)))).toEqual([
        400,
        { message: `Validation failed: ${problem}` },
      ]);
    }
    const path = `${nugetPath(project)}/download/nest.eggs/1.0.0/nest.eggs.1.0.0.snupkg`;
    await app.as(developer).get(path).expect(404);
  });
});
