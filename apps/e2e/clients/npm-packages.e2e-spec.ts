import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { call, estate, mark } from '../support/estate';
import { ClientFolder } from '../support/package-clients';

/** npm packages by the clients that people use, unmodified and with cold caches. */
describe('npm packages', () => {
  const scope = `npm-${mark}`;
  const folder = new ClientFolder();
  let projectId: number;
  let groupId: number;

  beforeAll(async () => {
    groupId = (await call('POST', '/groups', { json: { name: scope, path: scope, visibility: 'private' } })).body.id;
    const project = { name: 'eggs', namespace_id: groupId, visibility: 'private' };
    projectId = (await call('POST', '/projects', { json: project })).body.id;
  });
  afterAll(() => folder.remove());

  const registryOf = (place: 'project' | 'group' | 'instance'): string => {
    const path = {
      project: `projects/${projectId}/packages/npm`,
      group: `groups/${groupId}/-/packages/npm`,
      instance: 'packages/npm',
    }[place];
    return `${estate.baseUrl}/api/v4/${path}/`;
  };
  /** `.npmrc` whose default registry is that of the estate, too, so that nothing is asked elsewhere. */
  const npmrc = (
    place: 'project' | 'group' | 'instance' = 'project',
    token: string | null = estate.rootToken,
  ): string => {
    const registry = registryOf(place);
    const auth = token === null ? [] : [`${registry.replace(/^https?:/, '')}:_authToken=${token}`];
    return [`registry=${registry}`, `@${scope}:registry=${registry}`, ...auth, ''].join('\n');
  };
  const yarnrc = (place: 'project' | 'group' | 'instance' = 'project'): string =>
    [
      `npmRegistryServer: "${registryOf(place)}"`,
      `npmPublishRegistry: "${registryOf(place)}"`,
      `npmAuthToken: "${estate.rootToken}"`,
      'npmAlwaysAuth: true',
      'nodeLinker: node-modules',
      'enableImmutableInstalls: false',
      'unsafeHttpWhitelist: ["127.0.0.1", "localhost"]',
      'npmMinimalAgeGate: 0',
      '',
    ].join('\n');
  const files = (name: string, version: string, more: object = {}) => ({
    'package.json': { name, version, main: 'index.js', license: 'MIT', ...more },
    'index.js': `module.exports = '${name} ${version}';\n`,
    'README.md': `# ${name}\n`,
  });
  const source = (name: string, version: string, more: object = {}): string =>
    folder.project({ ...files(name, version, more), '.npmrc': npmrc() });
  const consumer = (dependencies: object, rc: Readonly<Record<string, string>> = { '.npmrc': npmrc() }): string =>
    folder.project({ 'package.json': { name: 'consumer', version: '1.0.0', private: true, dependencies }, ...rc });
  const installed = (at: string, name: string): string =>
    readFileSync(join(at, 'node_modules', name, 'index.js'), 'utf8');

  it('npm publishes, and installs from the registries of project, group and instance', async () => {
    const name = `@${scope}/plain`;
    const leaf = source(`@${scope}/leaf`, '1.0.0');
    await folder.succeed('npm', leaf, 'publish');
    await folder.succeed('npm', source(name, '1.0.0', { dependencies: { [`@${scope}/leaf`]: '^1.0.0' } }), 'publish');
    for (const place of ['project', 'group', 'instance'] as const) {
      const at = consumer({ [name]: '^1.0.0' }, { '.npmrc': npmrc(place) });
      await folder.succeed('npm', at, 'install');
      expect(installed(at, name)).toBe(`module.exports = '${name} 1.0.0';\n`);
      const lock = JSON.parse(readFileSync(join(at, 'package-lock.json'), 'utf8'));
      expect(lock.packages[`node_modules/${name}`]).toMatchObject({
        version: '1.0.0',
        resolved: `${registryOf(place)}${name}/-/plain-1.0.0.tgz`,
        integrity: expect.stringMatching(/^sha512-/),
      });
      await folder.succeed('npm', at, 'ci');
    }
    const { body } = await call('GET', `/projects/${projectId}/packages?package_name=plain`);
    expect(body).toMatchObject([{ name, version: '1.0.0', package_type: 'npm', tags: [{ name: 'latest' }] }]);
  });

  it('npm shows why a version is refused', async () => {
    const name = `@${scope}/refused`;
    // npm itself refuses a stable version that exists, so the refusal is that of a prerelease.
    const at = source(name, '1.0.0-beta.1');
    await folder.succeed('npm', at, 'publish', '--tag', 'beta');
    const again = await folder.run('npm', at, 'publish', '--tag', 'beta');
    expect(again.code).not.toBe(0);
    expect(again.text).toContain('Package already exists.');
    const elsewhere = folder.project({ ...files(name, '2.0.0'), '.npmrc': npmrc('group') });
    expect((await folder.run('npm', elsewhere, 'publish')).text).toContain('Publish to the project registry');
  });

  it('npm shows its user why a token is refused, and nothing of a private package to others', async () => {
    const name = `@${scope}/private`;
    await folder.succeed('npm', source(name, '1.0.0'), 'publish');
    for (const [token, text] of [
      ['glpat-wrong', 'Unauthorized'],
      [null, 'Unauthorized'],
    ] as const) {
      const { code, text: shown } = await folder.run(
        'npm',
        consumer({}, { '.npmrc': npmrc('project', token) }),
        'view',
        name,
      );
      expect(code).not.toBe(0);
      expect(shown).toContain(text);
      expect(shown).not.toContain('Unable to authenticate');
    }
  });

  it('npm keeps tags, deprecates, and removes versions and packages', async () => {
    const name = `@${scope}/kept`;
    for (const version of ['1.0.0', '1.1.0', '2.0.0']) await folder.succeed('npm', source(name, version), 'publish');
    const at = consumer({});
    await folder.succeed('npm', at, 'dist-tag', 'add', `${name}@1.0.0`, 'stable');
    expect(await folder.succeed('npm', at, 'dist-tag', 'ls', name)).toMatch(/latest: 2\.0\.0\s+stable: 1\.0\.0/);
    await folder.succeed('npm', at, 'dist-tag', 'rm', name, 'stable');
    expect(await folder.succeed('npm', at, 'dist-tag', 'ls', name)).not.toContain('stable');
    await folder.succeed('npm', at, 'deprecate', `${name}@1.0.0`, 'use 2');
    const using = consumer({ [name]: '1.0.0' });
    expect(await folder.succeed('npm', using, 'install')).toContain('use 2');
    const listed = await call('GET', `/projects/${projectId}/packages?package_name=kept&status=deprecated`);
    expect(listed.body).toMatchObject([{ version: '1.0.0' }]);
    await folder.succeed('npm', at, 'deprecate', `${name}@1.0.0`, '');
    expect(await folder.succeed('npm', at, 'view', `${name}@1.0.0`, 'deprecated')).not.toContain('use 2');
    await folder.succeed('npm', at, 'unpublish', `${name}@2.0.0`);
    expect(await folder.succeed('npm', at, 'view', name, 'version')).toContain('1.1.0');
    await folder.succeed('npm', at, 'unpublish', name, '--force');
    const gone = await folder.run('npm', at, 'view', name);
    expect(gone.text).toMatch(/E404/);
  });

  it('npm asks who it is, whether the registry is there, and for advisories', async () => {
    const at = consumer({});
    expect(await folder.succeed('npm', at, 'whoami')).toContain('root');
    await folder.succeed('npm', at, 'ping');
    expect(await folder.succeed('npm', at, 'search', 'eggs')).toContain('No matches');
    const using = consumer({ [`@${scope}/plain`]: '1.0.0' });
    await folder.succeed('npm', using, 'install');
    expect(await folder.succeed('npm', using, 'audit')).toContain('found 0 vulnerabilities');
  });

  it('pnpm publishes and installs, and its lock file needs no address', async () => {
    const name = `@${scope}/by-pnpm`;
    await folder.succeed('pnpm', source(name, '1.0.0'), 'publish', '--no-git-checks');
    for (const place of ['project', 'group', 'instance'] as const) {
      const at = consumer({ [name]: '1.0.0' }, { '.npmrc': npmrc(place) });
      await folder.succeed('pnpm', at, 'install');
      expect(installed(at, name)).toContain('by-pnpm 1.0.0');
      expect(readFileSync(join(at, 'pnpm-lock.yaml'), 'utf8')).not.toContain('tarball:');
    }
    const aged = consumer(
      { [name]: '1.0.0' },
      { '.npmrc': npmrc(), 'pnpm-workspace.yaml': 'minimumReleaseAge: 1440\n' },
    );
    const young = await folder.run('pnpm', aged, 'install');
    expect(young.text).not.toContain('ERR_PNPM_MISSING_TIME');
    const using = consumer({ [name]: '1.0.0' });
    await folder.succeed('pnpm', using, 'install');
    expect(await folder.succeed('pnpm', using, 'audit')).toContain('No known vulnerabilities found');
  });

  it('yarn classic publishes and installs, names without a scope too', async () => {
    const name = `by-classic-${mark}`;
    const rc = `${npmrc()}always-auth=true\n`;
    const at = folder.project({ ...files(name, '1.0.0'), '.npmrc': rc });
    await folder.succeed('yarn', at, 'publish', '--non-interactive', '--new-version', '1.0.0', '--no-git-tag-version');
    const using = consumer({ [name]: '1.0.0' }, { '.npmrc': rc });
    await folder.succeed('yarn', using, 'install', '--non-interactive');
    expect(installed(using, name)).toContain('by-classic');
    const { text } = await folder.run(
      'yarn',
      at,
      'publish',
      '--non-interactive',
      '--new-version',
      '1.0.0',
      '--no-git-tag-version',
    );
    expect(text).toContain('Package already exists.');
  });

  it('yarn publishes and installs from two registries of one host', async () => {
    const name = `@${scope}/by-berry`;
    const at = folder.project({ ...files(name, '1.0.0'), '.yarnrc.yml': yarnrc(), 'yarn.lock': '' });
    await folder.succeed('berry', at, 'install');
    await folder.succeed('berry', at, 'npm', 'publish');
    for (const place of ['project', 'group'] as const) {
      const using = consumer({ [name]: '1.0.0' }, { '.yarnrc.yml': yarnrc(place), 'yarn.lock': '' });
      await folder.succeed('berry', using, 'install');
      expect(installed(using, name)).toContain('by-berry');
      expect(readFileSync(join(using, 'yarn.lock'), 'utf8')).not.toContain('__archiveUrl');
      expect(await folder.succeed('berry', using, 'npm', 'tag', 'list', name)).toContain('latest');
      expect(await folder.succeed('berry', using, 'npm', 'whoami')).toContain('root');
      await folder.succeed('berry', using, 'npm', 'audit');
    }
    const again = await folder.run('berry', at, 'npm', 'publish');
    expect(again.text).toContain('Package already exists.');
  });

  it('publishes many versions at once, and loses none', async () => {
    const name = `@${scope}/many`;
    const versions = Array.from({ length: 20 }, (_, index) => `1.${index}.0`);
    const publish = (version: string) => {
      const tarball = Buffer.from(`bytes of ${version}`);
      const shasum = createHash('sha1').update(tarball).digest('hex');
      const document = {
        ...{ name, 'dist-tags': { latest: version }, versions: { [version]: { name, version, dist: { shasum } } } },
        _attachments: { [`${name}-${version}.tgz`]: { data: tarball.toString('base64') } },
      };
      return call('PUT', `/projects/${projectId}/packages/npm/@${scope}%2fmany`, { json: document });
    };
    const answers = await Promise.all(versions.map(publish));
    expect(answers.map(({ status }) => status)).toEqual(versions.map(() => 200));
    const { body } = await call('GET', `/projects/${projectId}/packages/npm/@${scope}%2fmany`);
    expect(Object.keys(body.versions).sort()).toEqual([...versions].sort());
  });
});
