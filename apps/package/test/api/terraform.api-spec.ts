import type { DirectoryNamespace, DirectoryProject } from '@rookery/contracts';
import { InstanceSettings } from '@rookery/instance';
import type { Viewer } from '@rookery/kernel';
import type { DirectorySeed, TestApp } from '@rookery/testing';
import type { Response } from 'supertest';
import { TerraformFileTokens } from '../../src/registries/terraform/terraform-file-tokens';
import { areAnswered, loseAnswers } from '../support/answers';
import { startPackage } from '../support/app';
import type { PackageService } from '../support/app';
import { memberOf } from '../support/npm';
import { MODULES, terraformPath, upload, uploaded } from '../support/terraform';

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
const NONE = { message: 'No version found for vpc module' };
const statusAndBody = ({ status, body }: Response): unknown[] => [status, body];
const get = (path: string, viewer = developer) => app.as(viewer).get(path).buffer(true);
const modulePath = (rest = '', of = group): string => `${MODULES}/${of.path}/vpc/aws${rest}`;
const listVersions = async (viewer = developer): Promise<unknown> => {
  const { body } = await get(modulePath('/versions'), viewer).expect(200);
  return body.modules[0].versions.map((one: { version: string }) => one.version);
};
const findDownloadAddress = async (version: string, viewer = developer): Promise<string> => {
  const { headers } = await get(modulePath(`/${version}/download`), viewer).expect(204);
  return headers['x-terraform-get']!;
};
const textOf = ({ body }: Response): string => (body as Buffer).toString();

describe('PUT …/terraform/modules/:name/:system/:version/file', () => {
  it('publishes a version, which the registry, the API of packages and downloads show', async () => {
    await uploaded(app, developer, project, 'vpc/aws/1.0.0', 'bytes');
    const { body } = await get(`/api/v4/projects/${project.id}/packages`).expect(200);
    expect(body).toMatchObject([{ name: 'vpc/aws', version: '1.0.0', package_type: 'terraform_module' }]);
    const files = await get(`/api/v4/projects/${project.id}/packages/${body[0].id}/package_files`);
    expect(files.body).toMatchObject([{ file_name: 'vpc-aws-1.0.0.tgz', size: 5 }]);
    expect(await listVersions()).toEqual(['1.0.0']);
    expect(textOf(await get(terraformPath(project, 'vpc/aws/1.0.0')).expect(200))).toBe('bytes');
    expect((await get(`/api/v4/groups/${group.id}/packages`, maintainer).expect(200)).body).toEqual([]);
  });

  it('refuses a version that exists, also before its body', async () => {
    await uploaded(app, developer, project);
    await areAnswered(service, 'vpc-aws-1.0.0.tgz');
    const again = await upload(app, developer, project, 'vpc/aws/1.0.0', 'other');
    expect(statusAndBody(again)).toEqual([403, { message: 'Package version already exists.' }]);
    expect(statusAndBody(await upload(app, developer, project))).toEqual(statusAndBody(again));
    await uploaded(app, developer, project, 'vpc/aws/1.0.1');
    await uploaded(app, developer, project, 'vpc/gcp/1.0.0');
  });

  it('takes an upload again that got no answer, with the same bytes and token only', async () => {
    await uploaded(app, developer, project);
    await areAnswered(service, 'vpc-aws-1.0.0.tgz');
    await loseAnswers(service, 'vpc-aws-1.0.0.tgz', 71);
    for (const [viewer, content] of [
      [{ ...developer, tokenId: 72 }, 'archive'],
      [developer, 'other'],
    ] as const)
      await upload(app, viewer, project, 'vpc/aws/1.0.0', content).expect(403);
    await uploaded(app, developer, project);
    expect((await get(`/api/v4/projects/${project.id}/packages`)).body).toHaveLength(1);
  });

  it('gives a name to one project below a top-level group, unless the settings share it', async () => {
    const below = await seed.group({ visibility: 'private', parent: group });
    const other = await seed.project({ visibility: 'private', namespace_id: below.id });
    const stranger = await seed.project({ visibility: 'private' });
    await uploaded(app, developer, project);
    expect(statusAndBody(await upload(app, maintainer, other, 'vpc/aws/2.0.0'))).toEqual([
      ...[403, { message: 'A package with the same name already exists in the namespace' }],
    ]);
    await uploaded(app, await memberOf(seed, stranger, 'developer'), stranger);
    const settings = `/api/v4/groups/${group.id}/packages/settings`;
    await app.as(maintainer).put(settings).send({ terraform_module_duplicate_exception_regex: 'vpc/.*' }).expect(200);
    await uploaded(app, maintainer, other, 'vpc/aws/2.0.0');
    await app
      .as(maintainer)
      .put(settings)
      .send({ terraform_module_duplicates_allowed: true, terraform_module_duplicate_exception_regex: '' })
      .expect(200);
    await uploaded(app, maintainer, other, 'vpc/aws/1.0.0', 'newest');
    expect(await listVersions(maintainer)).toEqual(['1.0.0', '2.0.0']);
    const found = await findDownloadAddress('1.0.0', maintainer);
    expect(textOf(await get(found, seed.anonymous()).expect(200))).toBe('newest');
    expect(await listVersions()).toEqual(['1.0.0']);
  });

  it('frees name and version when a package is deleted', async () => {
    const other = await seed.project({ visibility: 'private', namespace_id: group.id });
    await uploaded(app, developer, project);
    const { body } = await get(`/api/v4/projects/${project.id}/packages`);
    await app.as(maintainer).delete(`/api/v4/projects/${project.id}/packages/${body[0].id}`).expect(204);
    expect(statusAndBody(await get(modulePath('/versions')))).toEqual([404, NONE]);
    await uploaded(app, maintainer, other, 'vpc/aws/1.0.0', 'elsewhere');
  });

  it.each([
    ['Vpc/aws/1.0.0', 'name'],
    ['vp_c/aws/1.0.0', 'name'],
    [`${'v'.repeat(128)}/aws/1.0.0`, 'name'],
    ['vpc/aws.x/1.0.0', 'system'],
    ['vpc/..%2faws/1.0.0', 'system'],
    ['vpc/aws/v1.0.0', 'version'],
    ['vpc/aws/1.0', 'version'],
    ['vpc/aws/01.0.0', 'version'],
    ['vpc/aws/1.0.0%0a', 'version'],
    ['vpc/aws/1.0.0-', 'version'],
  ])('refuses the module %s', async (path, field) => {
    const { status, body } = await upload(app, developer, project, path);
    expect([status, (body as { error: string }).error]).toEqual([
      400,
      expect.stringMatching(new RegExp(`^${field} is (invalid|too long)`)),
    ]);
  });

  it('refuses a file beyond the limit of the plan, and storage that is full', async () => {
    const instance = app.get(InstanceSettings);
    const limit = (version: number, limits: object) =>
      instance.applyAnswer({ version, features: {}, settings: {}, plan_limits: { default: limits } } as never);
    limit(1, { terraform_module_max_file_size: 3 });
    const large = await upload(app, developer, project);
    limit(2, { project_packages_size_limit: 3 });
    const full = await upload(app, developer, project);
    instance.applyAnswer({ version: 3, features: {}, settings: {} });
    expect([statusAndBody(large), statusAndBody(full)]).toEqual([
      [400, { message: '400 Bad request - File is too large' }],
      [403, { message: '403 Forbidden - Package storage of the project is full.' }],
    ]);
    expect(statusAndBody(await get(modulePath('/versions')))).toEqual([404, NONE]);
  });

  it('refuses a protected name', async () => {
    await app
      .as(maintainer)
      .post(`/api/v4/projects/${project.id}/packages/protection/rules`)
      .send({
        ...{ package_name_pattern: 'vpc/*', package_type: 'terraform_module' },
        minimum_access_level_for_push: 'maintainer',
      })
      .expect(201);
    expect(statusAndBody(await upload(app, developer, project))).toEqual([
      403,
      { message: '403 Forbidden - Package protected.' },
    ]);
    await uploaded(app, maintainer, project);
  });

  it('challenges anonymous callers, hides the project from outsiders, and is for developers', async () => {
    const anonymous = await upload(app, seed.anonymous(), project);
    expect([...statusAndBody(anonymous), anonymous.headers['www-authenticate']]).toEqual([
      ...[401, { message: '401 Unauthorized' }, CHALLENGE],
    ]);
    const outsider = seed.viewer(await seed.user());
    expect(statusAndBody(await upload(app, outsider, project))).toEqual([404, { message: '404 Project Not Found' }]);
    const reporter = await memberOf(seed, project, 'reporter');
    expect(statusAndBody(await upload(app, reporter, project))).toEqual([403, { message: '403 Forbidden' }]);
  });

  it('keeps one of two uploads at the same time', async () => {
    const other = await seed.project({ visibility: 'private', namespace_id: group.id });
    const answers = await Promise.all([
      ...[upload(app, developer, project, 'vpc/aws/1.0.0', 'a'), upload(app, maintainer, other, 'vpc/aws/1.0.0', 'b')],
      upload(app, { ...developer, tokenId: 73 }, project, 'vpc/aws/1.0.0', 'c'),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403, 403]);
  });
});

describe('the registry of the instance', () => {
  it('is found by every client', async () => {
    for (const viewer of [seed.anonymous(), developer]) {
      const { body, headers } = await get('/.well-known/terraform.json', viewer).expect(200);
      expect([body, headers['content-type']]).toEqual([{ 'modules.v1': `${MODULES}/` }, 'application/json']);
    }
  });

  it('lists and describes versions in the order of SemVer', async () => {
    for (const version of ['1.10.0', '1.9.0', '2.0.0-rc.1', '1.9.0-a+b'])
      await uploaded(app, developer, project, `vpc/aws/${version}`);
    const source = expect.stringMatching(new RegExp(`/${group.path}/${project.path}$`)) as unknown;
    const { body } = await get(modulePath('/versions')).expect(200);
    expect(body).toEqual({
      modules: [
        {
          versions: ['1.9.0-a+b', '1.9.0', '1.10.0', '2.0.0-rc.1'].map((version) => ({
            ...{ version, submodules: [] },
            root: { dependencies: [], providers: [{ name: 'aws', version: '' }] },
          })),
          source,
        },
      ],
    });
    const latest = await get(modulePath()).expect(200);
    expect(latest.body).toEqual({
      ...{ name: 'vpc', provider: 'aws', providers: ['aws'], root: { dependencies: [] }, source, submodules: [] },
      ...{ version: '1.10.0', versions: ['1.9.0-a+b', '1.9.0', '1.10.0', '2.0.0-rc.1'] },
    });
    expect((await get(modulePath('/1.9.0')).expect(200)).body).toEqual({ ...latest.body, version: '1.9.0' });
    const redirect = await app.as(developer).get(modulePath('/download')).redirects(0).expect(302);
    expect(new URL(redirect.headers['location']!).pathname).toBe(modulePath('/1.10.0/download'));
    await uploaded(app, developer, project, 'only/aws/0.1.0-a');
    expect((await get(`${MODULES}/${group.path}/only/aws`)).body.version).toBe('0.1.0-a');
  });

  it('gives an address whose token reads this file, and nothing else', async () => {
    await uploaded(app, developer, project, 'vpc/aws/1.0.0', 'one');
    await uploaded(app, developer, project, 'vpc/aws/2.0.0', 'two');
    const found = await findDownloadAddress('1.0.0');
    expect(found).toMatch(new RegExp(`^${modulePath('/1.0.0/file')}\\?token=[\\w.-]+&archive=tgz$`));
    const anonymous = seed.anonymous();
    const head = await app.as(anonymous).head(found).expect(200);
    expect([head.headers['content-length'], head.headers['accept-ranges']]).toEqual(['3', 'bytes']);
    const down = await get(found, anonymous).expect(200);
    expect([textOf(down), down.headers['content-type']]).toEqual(['one', 'application/octet-stream']);
    expect(textOf(await get(found, anonymous).set('range', 'bytes=1-').expect(206))).toBe('ne');
    await get(found, anonymous).set('if-none-match', down.headers['etag']!).expect(304);
    expect(textOf(await get(found.split('?')[0]!).expect(200))).toBe('one');
    const token = new URL(found, 'http://host').searchParams.get('token')!;
    for (const [path, given] of [
      ['/2.0.0/file', token],
      ['/1.0.0/file', token.replace(/.(?=.{20}$)/, (letter) => (letter === 'A' ? 'B' : 'A'))],
      ['/1.0.0/file', token.replace(/^\d+/, (id) => `${Number(id) + 1}`)],
      ['/1.0.0/file', 'x'],
    ] as const) {
      const refused = await get(`${modulePath(path)}?token=${given}`, anonymous);
      expect([...statusAndBody(refused), refused.headers['www-authenticate']]).toEqual([
        ...[401, { message: '401 Unauthorized' }, CHALLENGE],
      ]);
    }
  });

  it('gives addresses that end after five minutes, or with the rights of their caller', async () => {
    await uploaded(app, developer, project);
    const tokens = app.get(TerraformFileTokens);
    const token = new URL(await findDownloadAddress('1.0.0'), 'http://host').searchParams.get('token')!;
    const right = tokens.readToken(token, seed.anonymous())!;
    expect(right.viewer).toMatchObject({ userId: developer.userId, isAdmin: false, isExternal: false });
    const now = jest.spyOn(Date.prototype, 'getTime');
    now.mockReturnValue(Date.now() + 299_000);
    expect(tokens.readToken(token, seed.anonymous())).not.toBeNull();
    now.mockReturnValue(Date.now() + 301_000);
    expect(tokens.readToken(token, seed.anonymous())).toBeNull();
    now.mockRestore();
    const outsider = seed.viewer(await seed.user());
    const forged = tokens.createToken({ fileId: right.fileId, viewer: outsider });
    await get(`${modulePath('/1.0.0/file')}?token=${forged}`, seed.anonymous()).expect(404, NONE);
  });

  it('challenges anonymous callers and hides modules from outsiders, whether they exist or not', async () => {
    await uploaded(app, developer, project);
    const outsider = seed.viewer(await seed.user());
    const none = await seed.group({ visibility: 'private' });
    for (const path of ['/versions', '', '/download', '/1.0.0', '/1.0.0/download', '/1.0.0/file'])
      for (const place of [group, none, { ...none, path: 'missing' }]) {
        const anonymous = await app.as(seed.anonymous()).get(modulePath(path, place)).redirects(0);
        expect([...statusAndBody(anonymous), anonymous.headers['www-authenticate']]).toEqual([
          ...[401, { message: '401 Unauthorized' }, CHALLENGE],
        ]);
        expect(statusAndBody(await get(modulePath(path, place), outsider))).toEqual([404, NONE]);
      }
    for (const path of ['/9.0.0', '/9.0.0/download', '/9.0.0/file'])
      expect(statusAndBody(await get(modulePath(path)))).toEqual([404, NONE]);
    expect(statusAndBody(await get(modulePath('/v1')))).toEqual([400, { error: 'version is invalid' }]);
  });

  it('shows public modules to everyone, whatever the case of the namespace, and no disabled ones', async () => {
    const open = await seed.group({ visibility: 'public' });
    const shown = await seed.project({ visibility: 'public', namespace_id: open.id });
    await uploaded(app, await memberOf(seed, shown, 'developer'), shown, 'vpc/aws/1.0.0', 'open');
    const anonymous = seed.anonymous();
    await get(modulePath('/versions', open), anonymous).expect(200);
    await get(modulePath('/versions', { ...open, path: open.path.toUpperCase() }), anonymous).expect(200);
    const { headers } = await get(modulePath('/1.0.0/download', open), anonymous).expect(204);
    expect(textOf(await get(headers['x-terraform-get']!, anonymous).expect(200))).toBe('open');
    await seed.put('projects', { ...shown, packages_enabled: false });
    await get(modulePath('/versions', open), developer).expect(404, NONE);
  });
});

describe('GET …/terraform/modules/:name/:system(/:version)', () => {
  it('downloads a version, the latest without one, or names its address', async () => {
    await uploaded(app, developer, project, 'vpc/aws/1.9.0', 'nine');
    await uploaded(app, developer, project, 'vpc/aws/1.10.0', 'ten');
    const path = terraformPath(project, 'vpc/aws');
    expect(textOf(await get(path).expect(200))).toBe('ten');
    const down = await get(`${path}/1.9.0`).expect(200);
    expect([textOf(down), down.headers['content-disposition']]).toEqual([
      'nine',
      expect.stringContaining('filename="vpc-aws-1.9.0.tgz"'),
    ]);
    expect((await app.as(developer).head(`${path}/1.9.0`).expect(200)).headers['content-length']).toBe('4');
    for (const [below, version] of [
      ['', '1.10.0'],
      ['/1.9.0', '1.9.0'],
    ] as const) {
      const { headers, text } = await get(`${path}${below}?terraform-get=1`).expect(204);
      expect(headers['x-terraform-get']).toMatch(
        new RegExp(
          `^https?://.*/api/v4/projects/${project.id}/packages/terraform/modules/vpc/aws/${version}\\?archive=tgz$`,
        ),
      );
      expect(text).toBe('');
    }
    expect(textOf(await get(`${path}?terraform-get=0`).expect(200))).toBe('ten');
  });

  it('has no module of another project', async () => {
    await uploaded(app, developer, project);
    const other = await seed.project({ visibility: 'public' });
    for (const path of ['vpc/aws', 'vpc/aws/1.0.0'])
      expect(statusAndBody(await get(terraformPath(other, path)))).toEqual([404, NONE]);
    expect(statusAndBody(await get(terraformPath(project, 'vpc/aws/2.0.0')))).toEqual([404, NONE]);
    const encoded = encodeURIComponent(`${group.path}/${project.path}`);
    await get(`/api/v4/projects/${encoded}/packages/terraform/modules/vpc/aws/1.0.0`).expect(200);
  });
});
