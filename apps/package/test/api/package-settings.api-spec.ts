import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { attachedTablesIn, Work } from '@rookery/persistence';
import type { DirectorySeed, TestApp } from '@rookery/testing';
import { PackageModule } from '../../src/package.module';
import { startPackage } from '../support/app';
import type { PackageService } from '../support/app';
import { areAnswered, loseAnswers } from '../support/answers';
import { mavenPath, putMaven } from '../support/maven';
import { genericPath } from '../support/packages';

let service: PackageService;
let seed: DirectorySeed;
let app: TestApp;
let root: DirectoryNamespace;
let below: DirectoryNamespace;
let project: DirectoryProject;
let maintainer: Viewer;

beforeAll(async () => {
  service = await startPackage();
  ({ seed, app } = service);
});
beforeEach(async () => {
  const owner = await seed.user();
  root = await seed.group({ visibility: 'private' });
  below = await seed.group({ visibility: 'private', parent: root });
  project = await seed.project({ visibility: 'private', namespace_id: below.id });
  await seed.member(owner, root, 'maintainer');
  maintainer = { ...seed.viewer(owner), tokenId: 71 };
});
afterAll(() => service.close());

const settingsPath = ({ id }: DirectoryNamespace): string => `/api/v4/groups/${id}/packages/settings`;
const changeSettings = (group: DirectoryNamespace, fields: object) =>
  app.as(maintainer).put(settingsPath(group)).send(fields);
const showSettings = async (group: DirectoryNamespace): Promise<object> =>
  (await app.as(maintainer).get(settingsPath(group)).expect(200)).body;
const DEFAULTS = {
  generic_duplicates_allowed: true,
  generic_duplicate_exception_regex: '',
  maven_duplicates_allowed: true,
  maven_duplicate_exception_regex: '',
  nuget_duplicates_allowed: true,
  nuget_duplicate_exception_regex: '',
  terraform_module_duplicates_allowed: false,
  terraform_module_duplicate_exception_regex: '',
};
const DUPLICATE = { message: '400 Bad request - Duplicate package is not allowed' };

describe('GET, PUT /groups/:id/packages/settings', () => {
  it('shows defaults, and what was changed', async () => {
    expect(await showSettings(root)).toEqual(DEFAULTS);
    const sent = { generic_duplicates_allowed: false, maven_duplicate_exception_regex: 'a|b.*' };
    const { body } = await changeSettings(root, sent).expect(200);
    expect(body).toEqual({ ...DEFAULTS, ...sent });
    await changeSettings(root, { maven_duplicate_exception_regex: '' }).expect(200);
    expect(await showSettings(root)).toEqual({ ...DEFAULTS, generic_duplicates_allowed: false });
  });

  it('takes the encoded path of a group, and parameters of a form', async () => {
    const path = `/api/v4/groups/${encodeURIComponent(below.full_path)}/packages/settings`;
    const { body } = await app.as(maintainer).put(path).type('form').send({ maven_duplicates_allowed: 'false' });
    expect(body).toEqual({ ...DEFAULTS, maven_duplicates_allowed: false });
    const { body: shownAfter } = await app.as(maintainer).get(path).query({ ignored: '1' }).expect(200);
    expect(shownAfter).toEqual(body);
  });

  it('applies the settings of the nearest group, from which a change of a group below starts', async () => {
    await changeSettings(root, { generic_duplicates_allowed: false, generic_duplicate_exception_regex: 'x' }).expect(
      200,
    );
    const inherited = { ...DEFAULTS, generic_duplicates_allowed: false, generic_duplicate_exception_regex: 'x' };
    expect(await showSettings(below)).toEqual(inherited);
    await changeSettings(below, { maven_duplicates_allowed: false }).expect(200);
    await changeSettings(root, { generic_duplicates_allowed: true }).expect(200);
    expect(await showSettings(below)).toEqual({ ...inherited, maven_duplicates_allowed: false });
  });

  it.each([
    [{ nuget_duplicate_exception_regex: '[' }, ['Nuget duplicate exception regex is not valid RE2 syntax']],
    [
      { terraform_module_duplicate_exception_regex: '[' },
      ['Terraform module duplicate exception regex is not valid RE2 syntax'],
    ],
    [{ maven_duplicate_exception_regex: '[' }, ['Maven duplicate exception regex is not valid RE2 syntax']],
    [
      { generic_duplicate_exception_regex: 'a'.repeat(256) },
      ['Generic duplicate exception regex is too long (maximum is 255 characters)'],
    ],
  ])('refuses %j', async (fields, error) => {
    const { status, body } = await changeSettings(root, fields);
    expect([status, body]).toEqual([422, { message: { error } }]);
    expect(await showSettings(root)).toEqual(DEFAULTS);
  });

  it('needs a setting of the right type', async () => {
    const { status, body } = await changeSettings(root, {});
    expect([status, body]).toEqual([
      400,
      {
        error:
          'generic_duplicates_allowed, generic_duplicate_exception_regex, maven_duplicates_allowed, ' +
          'maven_duplicate_exception_regex, nuget_duplicates_allowed, nuget_duplicate_exception_regex, ' +
          'terraform_module_duplicates_allowed, terraform_module_duplicate_exception_regex are missing, at least one parameter must be provided',
      },
    ]);
    const wrong = await changeSettings(root, { maven_duplicates_allowed: 'maybe' });
    expect([wrong.status, wrong.body]).toEqual([400, { error: 'maven_duplicates_allowed is invalid' }]);
  });

  it('is for maintainers of the group', async () => {
    const developer = await seed.user();
    await seed.member(developer, root, 'developer');
    for (const [viewer, status, message] of [
      [seed.anonymous(), 401, '401 Unauthorized'],
      [seed.viewer(await seed.user()), 404, '404 Group Not Found'],
      [seed.viewer(developer), 403, '403 Forbidden'],
    ] as const) {
      const read = await app.as(viewer).get(settingsPath(root));
      const written = await app.as(viewer).put(settingsPath(root)).send({ maven_duplicates_allowed: false });
      expect([read.status, read.body, written.status, written.body]).toEqual([
        status,
        { message },
        status,
        { message },
      ]);
    }
  });

  it('goes with the group', async () => {
    await changeSettings(below, { maven_duplicates_allowed: false }).expect(200);
    await changeSettings(root, { maven_duplicates_allowed: true }).expect(200);
    const attached = attachedTablesIn(PackageModule).find(({ rows }) => rows.table === 'package_settings')!;
    await app.get(Work).run((tx) => attached.deleteRows(tx, 'group', [below.id]));
    const left = await service.database.query<{ group_id: number }>(
      `select group_id from package_settings where group_id in (${root.id}, ${below.id})`,
    );
    expect(left).toEqual([{ group_id: root.id }]);
  });
});

describe('duplicates of generic packages', () => {
  const put = (name: string, content: string, o: { version?: string; file?: string; viewer?: Viewer } = {}) =>
    app
      .as(o.viewer ?? maintainer)
      .put(genericPath(project, name, o.version ?? '1.0.0', o.file ?? 'a.txt'))
      .type('application/octet-stream')
      .send(Buffer.from(content));

  it('are refused where the group says so, and after a deletion taken', async () => {
    await put('tool', 'one').expect(201);
    await changeSettings(root, { generic_duplicates_allowed: false }).expect(200);
    const { status, body } = await put('tool', 'one');
    expect([status, body]).toEqual([400, DUPLICATE]);
    const phrase = (await put('tool', 'two')) as unknown as { res: { statusMessage: string } };
    expect(phrase.res.statusMessage).toBe('Duplicate package is not allowed');
    await put('tool', 'one', { version: '2.0.0' }).expect(201);
    const [row] = (await app.as(maintainer).get(`/api/v4/projects/${project.id}/packages`).expect(200)).body;
    await app.as(maintainer).delete(`/api/v4/projects/${project.id}/packages/${row.id}`).expect(204);
    await put('tool', 'three').expect(201);
  });

  it('are taken for a name or version that the exception matches as a whole', async () => {
    await changeSettings(root, {
      generic_duplicates_allowed: false,
      generic_duplicate_exception_regex: 'free|.*-rc[0-9]+',
    }).expect(200);
    for (const [name, version, status] of [
      ['free', '1.0.0', 201],
      ['freed', '1.0.0', 400],
      ['tool', '1.0.0-rc1', 201],
      ['tool', '1.0.0-rc', 400],
    ] as const) {
      await put(name, 'one', { version }).expect(201);
      expect([name, version, (await put(name, 'two', { version })).status]).toEqual([name, version, status]);
    }
  });

  it('takes the same bytes again while no client got the answer', async () => {
    await changeSettings(root, { generic_duplicates_allowed: false }).expect(200);
    const file = `lost-${project.id}.txt`;
    await put('lost', 'one', { file }).expect(201);
    await areAnswered(service, file);
    await put('lost', 'one', { file }).expect(400);
    await loseAnswers(service, file, 71);
    await put('lost', 'other', { file }).expect(400, DUPLICATE);
    await put('lost', 'one', { file, viewer: { ...maintainer, tokenId: 72 } }).expect(400, DUPLICATE);
    await put('lost', 'one', { file }).expect(201, { message: '201 Created' });
    await areAnswered(service, file);
    await put('lost', 'one', { file }).expect(400, DUPLICATE);
    const files = await service.database.query(`select 1 from package_files where file_name = '${file}'`);
    expect(files).toHaveLength(1);
  });

  it('lets one of many uploads of a file at once win', async () => {
    await changeSettings(root, { generic_duplicates_allowed: false }).expect(200);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => put('raced', `content ${index}`)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array.from({ length: 19 }, () => 400)]);
  });
});

describe('duplicates of Maven files', () => {
  const put = (file: string, content = 'bytes') => putMaven(app, maintainer, mavenPath(project, file), content);
  const METADATA = '<metadata><groupId>com.acme</groupId><artifactId>app</artifactId></metadata>';

  it('are refused of a release, but not of snapshots, metadata and digests', async () => {
    await changeSettings(root, { maven_duplicates_allowed: false }).expect(200);
    await put('com/acme/app/1.0/app-1.0.jar').expect(200);
    const { status, body } = await put('com/acme/app/1.0/app-1.0.jar', 'other');
    expect([status, body]).toEqual([400, DUPLICATE]);
    await put('com/acme/app/1.0/app-1.0.pom').expect(200);
    for (let turn = 0; turn < 2; turn++) {
      await put('com/acme/app/2-SNAPSHOT/app-2-SNAPSHOT.jar').expect(200);
      await put('com/acme/app/2-SNAPSHOT/maven-metadata.xml', METADATA).expect(200);
      await put('com/acme/app/maven-metadata.xml', METADATA).expect(200);
      await put('com/acme/app/1.0/app-1.0.jar.md5', 'x').expect(200);
    }
  });

  it('are taken for a name or version that the exception matches', async () => {
    await changeSettings(root, {
      maven_duplicates_allowed: false,
      maven_duplicate_exception_regex: 'com/acme/.*|3\\.0',
    }).expect(200);
    for (const [file, status] of [
      ['com/acme/app/1.0/a.jar', 200],
      ['org/acme/app/3.0/a.jar', 200],
      ['org/acme/app/1.0/a.jar', 400],
    ] as const) {
      await put(file).expect(200);
      expect([file, (await put(file)).status]).toEqual([file, status]);
    }
  });

  it('takes the same bytes again while no client got the answer', async () => {
    await changeSettings(root, { maven_duplicates_allowed: false }).expect(200);
    const file = `lost-${project.id}.jar`;
    await put(`com/acme/lost/1.0/${file}`).expect(200);
    await areAnswered(service, file);
    await loseAnswers(service, file, 71);
    await put(`com/acme/lost/1.0/${file}`, 'other').expect(400);
    await put(`com/acme/lost/1.0/${file}`).expect(200);
    await areAnswered(service, file);
    await put(`com/acme/lost/1.0/${file}`).expect(400);
  });
});
