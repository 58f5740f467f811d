import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import type { DirectorySeed, TestApp } from '@rookery/testing';
import type { Response } from 'supertest';
import { startPackage } from '../support/app';
import type { PackageService } from '../support/app';
import { FakeCollaboration, shaOf } from '../support/fake-collaboration';
import { memberOf } from '../support/npm';

let source: FakeCollaboration;
let service: PackageService;
let seed: DirectorySeed;
let app: TestApp;
let group: DirectoryNamespace;
let project: DirectoryProject;
let modulePath: string;
let reader: Viewer;

beforeAll(async () => {
  source = await new FakeCollaboration().start();
  service = await startPackage({ COLLABORATION_URL: source.url });
  ({ seed, app } = service);
});
beforeEach(async () => {
  group = await seed.group({ visibility: 'private' });
  project = await seed.project({ visibility: 'private', namespace_id: group.id });
  modulePath = `localhost/${group.path}/${project.path}`;
  reader = await memberOf(seed, project, 'reporter');
});
afterAll(async () => {
  await service.close();
  await source.stop();
});

const CHALLENGE = 'Basic realm="GitLab Packages Registry"';
const AT = '2026-01-02T03:04:05.000Z';
const A = shaOf('a');
const B = shaOf('b');
const PSEUDO_END = '20260102030405-aaaaaaaaaaaa';
const get = (path: string, viewer = reader, of = project) =>
  app.as(viewer).get(`/api/v4/projects/${of.id}/packages/go/${path}`).buffer(true);
const getVersionFile = (version: string, kind: string, path = modulePath) => get(`${path}/@v/${version}.${kind}`);
const listVersions = async (path = modulePath): Promise<string[]> =>
  (await get(`${path}/@v/list`).expect(200)).text.split('\n').filter((line) => line !== '');
const readVersionInfo = async (version: string, path = modulePath): Promise<unknown> =>
  (await getVersionFile(version, 'info', path).expect(200)).body;
const statusTextAndType = ({ status, text, headers }: Response): unknown[] => [status, text, headers['content-type']];
const notFoundAnswer = (reason: string): unknown[] => [404, `not found: ${reason}\n`, 'text/plain; charset=utf-8'];

interface TestCommit {
  readonly id?: string;
  readonly goMod?: string | null;
  readonly folder?: string;
  readonly tags?: readonly string[];
}

/** Lets the project have a commit under these names of revisions. */
function addCommit(revs: readonly string[], o: TestCommit = {}): void {
  const { id = A, goMod = `module ${modulePath}\n`, folder = '', tags = [] } = o;
  const files = goMod === null ? {} : { [folder === '' ? 'go.mod' : `${folder}/go.mod`]: goMod };
  for (const rev of [...revs, id, id.slice(0, 12)])
    source.commits.set(`${project.id} ${rev}`, { id, committed_at: AT, files, tags });
}

/** Lets the project have a tag. */
function addTag(name: string, o: TestCommit = {}): void {
  addCommit([`refs/tags/${name}`], { tags: [name], ...o });
  const tags = source.tags.get(project.id) ?? [];
  source.tags.set(project.id, [...tags, { name, has_file: o.goMod !== null }]);
}

describe('versions of tags', () => {
  it('are listed, described and downloaded', async () => {
    for (const name of ['v1.0.0', 'v0.9.0-rc.1', 'v1.1.0']) addTag(name);
    for (const name of ['v1.0', 'v2.0.0', 'v1.0.0+meta', 'sub/v1.0.0', 'release', `v0.0.0-${PSEUDO_END}`]) addTag(name);
    const listed = await get(`${modulePath}/@v/list`).expect(200);
    expect(listed.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(await listVersions()).toEqual(['v1.0.0', 'v0.9.0-rc.1', 'v1.1.0']);
    const info = await getVersionFile('v1.0.0', 'info').expect(200);
    expect([info.body, info.headers['content-type']]).toEqual([
      { Version: 'v1.0.0', Time: '2026-01-02T03:04:05Z' },
      'application/json',
    ]);
    expect((await getVersionFile('v1.0.0', 'mod').expect(200)).text).toBe(`module ${modulePath}\n`);
    const zip = await getVersionFile('v1.0.0', 'zip').responseType('blob').expect(200);
    expect([String(zip.body), zip.headers['content-type']]).toEqual([
      `module of ${project.id} ${A}  ${modulePath}@v1.0.0`,
      'application/zip',
    ]);
    const latest = await get(`${modulePath}/@latest`).expect(200);
    expect(latest.body).toEqual({ Version: 'v1.1.0', Time: '2026-01-02T03:04:05Z' });
    const { body } = await app.as(reader).get(`/api/v4/projects/${project.id}/packages`).expect(200);
    expect(body).toMatchObject([
      { name: modulePath, version: 'v1.0.0', package_type: 'golang' },
      { name: modulePath, version: 'v1.1.0', package_type: 'golang' },
    ]);
  });

  it('keep their commit when the tag moves or is deleted, until the package is deleted', async () => {
    addTag('v1.0.0');
    await getVersionFile('v1.0.0', 'info').expect(200);
    addTag('v1.0.0', { id: B });
    const bytes = async () => String((await getVersionFile('v1.0.0', 'zip').responseType('blob').expect(200)).body);
    expect(await bytes()).toContain(A);
    source.commits.delete(`${project.id} refs/tags/v1.0.0`);
    expect(await bytes()).toContain(A);
    addTag('v1.0.0', { id: B });
    const maintainer = await memberOf(seed, project, 'maintainer');
    const { body } = await app.as(reader).get(`/api/v4/projects/${project.id}/packages`);
    await app.as(maintainer).delete(`/api/v4/projects/${project.id}/packages/${body[0].id}`).expect(204);
    expect(await bytes()).toContain(B);
  });

  it('pin one commit for concurrent requests', async () => {
    addTag('v1.0.0');
    const answers = await Promise.all([1, 2, 3, 4].map(() => getVersionFile('v1.0.0', 'info')));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await app.as(reader).get(`/api/v4/projects/${project.id}/packages`)).body).toHaveLength(1);
  });

  it('belong to paths by their major version, and to folders by the names of tags', async () => {
    addTag('v2.0.0', { goMod: `module ${modulePath}/v2\n` });
    addTag('sub/v1.0.0', { goMod: `module ${modulePath}/sub\n`, folder: 'sub' });
    addTag('v3.0.0', { goMod: `module ${modulePath}/v3\n`, folder: 'v3' });
    expect([
      await listVersions(),
      await listVersions(`${modulePath}/v2`),
      await listVersions(`${modulePath}/sub`),
    ]).toEqual([...[[], ['v2.0.0'], ['v1.0.0']]]);
    expect((await getVersionFile('v2.0.0', 'mod', `${modulePath}/v2`).expect(200)).text).toBe(
      `module ${modulePath}/v2\n`,
    );
    expect(String((await getVersionFile('v1.0.0', 'zip', `${modulePath}/sub`).responseType('blob')).body)).toBe(
      `module of ${project.id} ${A} sub ${modulePath}/sub@v1.0.0`,
    );
    expect(String((await getVersionFile('v3.0.0', 'zip', `${modulePath}/v3`).responseType('blob')).body)).toContain(
      ` v3 ${modulePath}/v3@`,
    );
    const elsewhere = notFoundAnswer('version does not belong to the module path');
    expect(statusTextAndType(await getVersionFile('v2.0.0', 'mod'))).toEqual(elsewhere);
    expect(statusTextAndType(await getVersionFile('v1.0.0', 'mod', `${modulePath}/v2`))).toEqual(elsewhere);
  });

  it('without go.mod are those of the root, and incompatible from major version 2 on', async () => {
    for (const name of ['v1.0.0', 'v2.0.0']) addTag(name, { goMod: null });
    addTag('v3.0.0', { goMod: `module ${modulePath}/v3\n` });
    expect(await listVersions()).toEqual(['v1.0.0', 'v2.0.0+incompatible']);
    expect((await getVersionFile('v1.0.0', 'mod').expect(200)).text).toBe(`module ${modulePath}\n`);
    expect((await getVersionFile('v2.0.0+incompatible', 'mod').expect(200)).text).toBe(`module ${modulePath}\n`);
    expect(statusTextAndType(await getVersionFile('v3.0.0+incompatible', 'mod'))).toEqual(
      notFoundAnswer('no go.mod that declares the module path'),
    );
    expect(statusTextAndType(await getVersionFile('v2.0.0', 'mod', `${modulePath}/v2`))).toEqual(
      notFoundAnswer('no go.mod that declares the module path'),
    );
  });

  it('are missing with another declaration, outside of the project, and in a wrong form', async () => {
    addTag('v1.0.0', { goMod: 'module example.com/other\n' });
    expect(statusTextAndType(await getVersionFile('v1.0.0', 'info'))).toEqual(
      notFoundAnswer('no go.mod that declares the module path'),
    );
    expect(statusTextAndType(await getVersionFile('v1.0.1', 'mod'))).toEqual(notFoundAnswer('unknown revision'));
    for (const kind of ['mod', 'zip'])
      expect(statusTextAndType(await getVersionFile('main', kind))).toEqual(notFoundAnswer('unknown version'));
    for (const path of ['example.com/x', `localhost/${group.path}`, `${modulePath}x`, `${modulePath}/..`])
      expect((await get(`${path}/@v/list`)).status).toBe(404);
    expect(statusTextAndType(await get(`${modulePath}/@v/v1.0.0.tar`))).toEqual([
      404,
      '404 Not found\n',
      'text/plain; charset=utf-8',
    ]);
    expect(statusTextAndType(await get('sumdb/sum.golang.org/supported'))).toEqual([
      ...[404, '404 Not found\n', 'text/plain; charset=utf-8'],
    ]);
  });

  it('have escaped capital letters', async () => {
    const path = `${modulePath}/!sub`;
    addTag('Sub/v1.0.0-RC1', { goMod: `module ${modulePath}/Sub\n`, folder: 'Sub' });
    expect(await listVersions(path)).toEqual(['v1.0.0-RC1']);
    expect(await readVersionInfo('v1.0.0-!r!c1', path)).toMatchObject({ Version: 'v1.0.0-RC1' });
    expect((await getVersionFile('v1.0.0-RC1', 'info', path)).status).toBe(404);
    expect((await get(`${modulePath}/Sub/@v/list`)).status).toBe(404);
  });
});

describe('versions of commits', () => {
  it('are found by a branch or an id', async () => {
    addCommit(['main', 'HEAD']);
    expect(await readVersionInfo('main')).toEqual({ Version: `v0.0.0-${PSEUDO_END}`, Time: '2026-01-02T03:04:05Z' });
    expect(await readVersionInfo(A.slice(0, 12))).toMatchObject({ Version: `v0.0.0-${PSEUDO_END}` });
    expect((await get(`${modulePath}/@latest`).expect(200)).body.Version).toBe(`v0.0.0-${PSEUDO_END}`);
    expect((await getVersionFile(`v0.0.0-${PSEUDO_END}`, 'mod').expect(200)).text).toBe(`module ${modulePath}\n`);
    await getVersionFile(`v0.0.0-${PSEUDO_END}`, 'zip').expect(200);
    expect((await app.as(reader).get(`/api/v4/projects/${project.id}/packages`)).body).toEqual([]);
  });

  it('follow the highest tag before them, or are that tag', async () => {
    addTag('v1.2.3', { id: B });
    addCommit(['main']);
    expect(await readVersionInfo('main')).toMatchObject({ Version: `v1.2.4-0.${PSEUDO_END}` });
    addTag('v1.3.0-rc.1', { id: B });
    expect(await readVersionInfo('main')).toMatchObject({ Version: `v1.3.0-rc.1.0.${PSEUDO_END}` });
    addCommit(['next'], { id: B, tags: ['v1.2.3', 'other'] });
    expect(await readVersionInfo('next')).toMatchObject({ Version: 'v1.2.3' });
  });

  it('are checked against the commit', async () => {
    addTag('v1.2.3', { id: B });
    addCommit(['main']);
    await getVersionFile(`v1.2.4-0.${PSEUDO_END}`, 'info').expect(200);
    for (const [version, reason] of [
      ['v0.0.0-20260102030406-aaaaaaaaaaaa', 'time of the version is not that of the commit'],
      ['v0.0.0-20260102030405-cccccccccccc', 'unknown revision'],
      [`v1.9.1-0.${PSEUDO_END}`, 'v1.9.0 is no ancestor of the commit'],
      [`v2.0.0-${PSEUDO_END}`, 'version does not belong to the module path'],
    ] as const)
      expect(statusTextAndType(await getVersionFile(version, 'info'))).toEqual(notFoundAnswer(reason));
  });
});

describe('callers', () => {
  it('are asked for a credential in a text, and need the right to read packages and code', async () => {
    addTag('v1.0.0');
    const anonymous = await get(`${modulePath}/@v/list`, seed.anonymous());
    expect([...statusTextAndType(anonymous), anonymous.headers['www-authenticate']]).toEqual([
      ...[401, '401 Unauthorized\n', 'text/plain; charset=utf-8', CHALLENGE],
    ]);
    const outsider = seed.viewer(await seed.user());
    expect(statusTextAndType(await get(`${modulePath}/@v/list`, outsider)).slice(0, 2)).toEqual([
      404,
      '404 Project Not Found\n',
    ]);
    const guest = await memberOf(seed, project, 'guest');
    expect(statusTextAndType(await get(`${modulePath}/@v/list`, guest)).slice(0, 2)).toEqual([403, '403 Forbidden\n']);
    const other = await seed.project({ visibility: 'public' });
    expect((await get(`${modulePath}/@v/list`, reader, other)).status).toBe(404);
  });

  it('get 503 while collaboration is away, 429 beyond its limit, and 404 for a module that Go refuses', async () => {
    addTag('v1.0.0');
    source.isAway = true;
    const away = await getVersionFile('v1.0.0', 'mod');
    source.isAway = false;
    expect(away.status).toBe(503);
    source.isBeyondLimit = true;
    const limited = await getVersionFile('v1.0.0', 'zip');
    source.isBeyondLimit = false;
    expect(statusTextAndType(limited)).toEqual([
      ...[429, 'This archive has been requested too many times. Try again later.\n', 'text/plain; charset=utf-8'],
    ]);
    expect(source.callers.at(-1)).toBe(String(reader.userId));
    source.refusesModules = true;
    const refused = await getVersionFile('v1.0.0', 'zip');
    source.refusesModules = false;
    expect(statusTextAndType(refused)).toEqual(
      notFoundAnswer('module is too large, or has file names that Go refuses'),
    );
  });
});
