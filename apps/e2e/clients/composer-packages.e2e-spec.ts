import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GitClient } from '@rookery/testing';
import { requireDebianPackages } from '../support/debian-packages';
import { addMember, call, estate, eventually, person, projectOf } from '../support/estate';
import type { Person } from '../support/estate';
import { RequestLog } from '../support/request-log';

interface Version {
  readonly version: string;
  readonly dist: { readonly url: string; readonly reference: string };
}

/**
 * Composer 2. It reads the root of a repository, then the documents of the names that the root lists, for releases and for
 * branches, and downloads archives from the same host with the same credential.
 */
class ScriptedComposer {
  constructor(
    private readonly log: RequestLog,
    private readonly repository: string,
    private readonly headers: Record<string, string>,
  ) {}

  /** `composer require`. Returns the archive, or the status of the refusal. */
  async require(name: string, version: string, about = 'composer require'): Promise<Buffer | number> {
    const root = await this.send(about, `${this.repository}/packages.json`);
    if (root.status !== 200) return root.status;
    const { 'metadata-url': metadata, 'available-packages': names } = (await root.json()) as {
      'metadata-url': string;
      'available-packages': readonly string[];
    };
    if (!names.includes(name)) return 404;
    for (const suffix of ['', '~dev']) {
      const found = await this.send(
        about,
        new URL(metadata.replace('%package%', `${name}${suffix}`), estate.baseUrl).href,
      );
      if (found.status !== 200) continue;
      const { packages } = (await found.json()) as { packages: Record<string, Record<string, Version>> };
      const one = Object.values(packages[name]!).find((each) => each.version === version);
      if (one) return this.install(one.dist.url);
    }
    return 404;
  }

  /** `composer install`: the archive of a lock file. */
  async install(url: string): Promise<Buffer | number> {
    const answer = await this.send('composer install', url);
    return answer.status === 200 ? Buffer.from(await answer.arrayBuffer()) : answer.status;
  }

  private send(about: string, url: string): Promise<Response> {
    const headers = { ...this.headers, 'user-agent': 'Composer/2.5.5 (Linux; PHP 8.2)', 'accept-encoding': 'gzip' };
    return this.log.send({ about, method: 'GET', url, headers });
  }
}

/** Credentials of Composer for a host. */
type ComposerLogin = Readonly<Record<string, object | string>>;

/** Composer of Debian, unmodified, in a home of its own, with no other repository. */
class Composer {
  readonly folder = mkdtempSync(join(tmpdir(), 'rookery-composer-'));
  private count = 0;

  constructor(private readonly repository: string) {}

  /** Creates a project that needs one package. Returns its path. */
  project(name: string, version: string): string {
    const folder = join(this.folder, `project-${++this.count}`);
    mkdirSync(folder);
    const repositories = [{ type: 'composer', url: this.repository }, { 'packagist.org': false }];
    const config = { 'secure-http': false };
    writeFileSync(
      join(folder, 'composer.json'),
      JSON.stringify({ repositories, config, require: { [name]: version } }),
    );
    return folder;
  }

  /** Installs by `composer.json`, or by the lock file of an earlier run, with cold caches. */
  install(folder: string, login: ComposerLogin): Promise<{ readonly code: number; readonly text: string }> {
    rmSync(join(folder, 'vendor'), { recursive: true, force: true });
    const home = join(this.folder, `home-${++this.count}`);
    mkdirSync(home);
    const host = new URL(estate.baseUrl).host;
    const auth = Object.fromEntries(Object.entries(login).map(([kind, value]) => [kind, { [host]: value }]));
    writeFileSync(join(home, 'auth.json'), JSON.stringify(auth));
    writeFileSync(join(home, 'config.json'), JSON.stringify({ config: { 'gitlab-domains': [host] } }));
    const env = { PATH: process.env['PATH'], HOME: home, COMPOSER_HOME: home, COMPOSER_ALLOW_SUPERUSER: '1' };
    const words = ['install', '--prefer-dist', '--no-interaction', '--no-plugins', '--no-progress'];
    return new Promise((resolve) => {
      execFile('composer', words, { cwd: folder, env, timeout: 120_000 }, (error, out, err) =>
        resolve({ code: error === null ? 0 : 1, text: `${out}${err}` }),
      );
    });
  }
}

/** Composer packages of a pushed repository by Composer and a scripted client, through the gateway. */
describe('Composer packages', () => {
  let git: GitClient;
  let owner: Person;
  let project: Awaited<ReturnType<typeof projectOf>>;
  let log: RequestLog;
  let names: Map<string, string>;
  let composer: (headers: Record<string, string>) => ScriptedComposer;
  const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
  const basic = (token: string): Record<string, string> => ({
    authorization: `Basic ${Buffer.from(`anybody:${token}`).toString('base64')}`,
  });

  beforeAll(async () => {
    git = await GitClient.make();
    owner = await person('composer');
    project = await projectOf(owner, 'scores');
    names = new Map([
      [estate.baseUrl, '<host>'],
      [`/projects/${project.id}/`, '/projects/<project>/'],
      [`/group/${project.group}/`, '/group/<group>/'],
    ]);
    log = new RequestLog(names);
    const repository = `${estate.baseUrl}/api/v4/group/${project.group}/-/packages/composer`;
    composer = (headers) => new ScriptedComposer(log, repository, headers);
    const address = estate.baseUrl.replace('://', `://oauth2:${owner.token}@`);
    await git.init('work', `${address}/${project.path}.git`);
    names.set(await git.commit('work', '{"name":"nest/eggs","type":"library"}', 'composer.json'), '<commit>');
    await git.ok('work', 'tag', 'v1.0.0');
    await git.ok('work', 'push', '--quiet', 'origin', 'main', 'v1.0.0');
  });
  afterAll(() => git.close());

  const publish = (json: object, headers: Record<string, string>) =>
    fetch(`${estate.baseUrl}/api/v4/projects/${project.id}/packages/composer`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(json),
    });

  it('are published from tags and branches, and installed, with every kind of caller', async () => {
    expect((await publish({ tag: 'v1.0.0' }, { 'private-token': owner.token })).status).toBe(201);
    expect((await publish({ branch: 'main' }, basic(owner.token))).status).toBe(201);
    expect(await (await publish({ tag: 'v2.0.0' }, bearer(owner.token))).json()).toEqual({
      message: '404 Tag Not Found',
    });
    const archive = (await composer(bearer(owner.token)).require('nest/eggs', '1.0.0')) as Buffer;
    expect(archive.subarray(0, 2).toString()).toBe('PK');
    expect(archive.includes('/composer.json')).toBe(true);
    expect(await composer(basic(owner.token)).require('nest/eggs', 'dev-main', 'development')).toEqual(archive);
    expect(await composer({}).require('nest/eggs', '1.0.0', 'private, anonymous')).toBe(401);
    expect(await composer(bearer('glpat-wrong')).require('nest/eggs', '1.0.0', 'wrong token')).toBe(401);
    const reader = await person('listener');
    expect(await composer(bearer(reader.token)).require('nest/eggs', '1.0.0', 'no member')).toBe(404);
    await addMember(project.id, reader, 20, owner);
    expect((await publish({ tag: 'v1.0.0' }, bearer(reader.token))).status).toBe(403);
    await git.ok('work', 'push', '--quiet', 'origin', ':v1.0.0');
    const [sha] = [...names].find(([, shown]) => shown === '<commit>')!;
    const locked = `${estate.baseUrl}/api/v4/projects/${project.id}/packages/composer/archives/nest/eggs.zip?sha=${sha}`;
    expect(await composer(bearer(reader.token)).install(locked)).toEqual(archive);
    const listed = await call('GET', `/projects/${project.id}/packages?package_version=1.0.0`, { token: owner.token });
    await call('DELETE', `/projects/${project.id}/packages/${listed.body[0].id}`, { token: owner.token });
    expect(await composer(bearer(owner.token)).require('nest/eggs', '1.0.0', 'deleted')).toBe(404);
    log.expectGolden('composer');
  });

  it('are installed by Composer with each kind of credential, and again by its lock file after the tag is gone', async () => {
    requireDebianPackages('composer', 'unzip');
    const repository = `${estate.baseUrl}/api/v4/group/${project.group}/-/packages/composer/packages.json`;
    const client = new Composer(repository);
    const { token } = owner;
    try {
      await git.ok('work', 'tag', 'v1.1.0');
      await git.ok('work', 'push', '--quiet', 'origin', 'v1.1.0');
      expect((await publish({ tag: 'v1.1.0' }, bearer(token))).status).toBe(201);
      const folder = client.project('nest/eggs', '^1.0');
      const logins: readonly ComposerLogin[] = [
        { 'http-basic': { username: 'anybody', password: token } },
        { bearer: token },
        { 'gitlab-token': token },
        { 'gitlab-token': { username: 'anybody', token } },
      ];
      for (const login of logins) {
        rmSync(join(folder, 'composer.lock'), { force: true });
        const { code, text } = await client.install(folder, login);
        if (code !== 0) throw new Error(text);
        expect(JSON.parse(readFileSync(join(folder, 'vendor/nest/eggs/composer.json'), 'utf8'))).toMatchObject({
          name: 'nest/eggs',
        });
      }
      const lock = JSON.parse(readFileSync(join(folder, 'composer.lock'), 'utf8')) as { packages: Version[] };
      expect(lock.packages.map(({ version }) => version)).toEqual(['1.1.0']);
      await git.ok('work', 'push', '--quiet', 'origin', ':v1.1.0');
      const again = await client.install(folder, logins[0]!);
      expect([again.code, existsSync(join(folder, 'vendor/nest/eggs/composer.json'))]).toEqual([0, true]);
      const branch = client.project('nest/eggs', 'dev-main');
      expect((await client.install(branch, logins[0]!)).code).toBe(0);
      const wrong = await client.install(client.project('nest/eggs', '^1.0'), { bearer: 'glpat-wrong' });
      expect([wrong.code, wrong.text]).toEqual([1, expect.stringContaining('Could not authenticate against')]);
      const anonymous = await client.install(client.project('nest/eggs', '^1.0'), {});
      expect([anonymous.code, anonymous.text]).toEqual([1, expect.stringMatching(/401|authentica/i)]);
    } finally {
      rmSync(client.folder, { recursive: true, force: true });
    }
  });

  it('need no credentials in a public project', async () => {
    await call('PUT', `/groups/${project.group}`, { token: owner.token, json: { visibility: 'public' } });
    await call('PUT', `/projects/${project.id}`, { token: owner.token, json: { visibility: 'public' } });
    const archive = await eventually(
      () => composer({}).require('nest/eggs', 'dev-main', 'public'),
      (found) => typeof found !== 'number',
    );
    expect(archive).toBeInstanceOf(Buffer);
  });
});
