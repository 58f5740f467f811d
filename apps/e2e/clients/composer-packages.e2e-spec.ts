import { GitClient } from '@rookery/testing';
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

  /** `composer require`. Shape: the archive, or the status of the refusal. */
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

/** Composer packages of a pushed repository by a scripted client, through the gateway. */
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
