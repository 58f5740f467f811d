import { createHash } from 'node:crypto';
import { GitClient } from '@rookery/testing';
import { addMember, call, estate, eventually, person, projectOf } from '../support/estate';
import type { Person } from '../support/estate';
import { RequestLog } from '../support/request-log';

/**
 * Stand-in for Go, because the real client sends credentials over HTTPS only, which the tests lack. It requests the
 * versions, then `.info`, `.mod` and `.zip` of one, each once, and shows the text of a refusal.
 */
class ScriptedGo {
  constructor(
    private readonly log: RequestLog,
    private readonly proxy: string,
    private readonly headers: Record<string, string>,
  ) {}

  /** `go list -m -versions`. */
  async versions(module: string, about = 'go list'): Promise<readonly string[] | string> {
    const answer = await this.send(about, `${escaped(module)}/@v/list`);
    const text = await answer.text();
    return answer.status === 200 ? text.split('\n').filter((line) => line !== '') : `${answer.status} ${text.trim()}`;
  }

  /** `go get module@version`. Shape: the digest of the archive, or the refusal. */
  async get(module: string, version: string, about = 'go get'): Promise<string> {
    const info = await this.send(about, `${escaped(module)}/@v/${escaped(version)}.info`);
    if (info.status !== 200) return `${info.status} ${(await info.text()).trim()}`;
    const found = (await info.json()) as { Version: string };
    const mod = await this.send(about, `${escaped(module)}/@v/${escaped(found.Version)}.mod`);
    expect(await mod.text()).toMatch(new RegExp(`^module ${module}\n`));
    const zip = await this.send(about, `${escaped(module)}/@v/${escaped(found.Version)}.zip`);
    const content = Buffer.from(await zip.arrayBuffer());
    expect(content.includes(`${module}@${found.Version}/go.mod`)).toBe(true);
    return `${found.Version} ${createHash('sha256').update(content).digest('hex')}`;
  }

  private send(about: string, path: string): Promise<Response> {
    const headers = { ...this.headers, 'user-agent': 'Go-http-client/1.1', 'accept-encoding': 'gzip' };
    return this.log.send({ about, method: 'GET', url: `${this.proxy}/${path}`, headers });
  }
}

const escaped = (text: string): string => text.replace(/[A-Z]/g, (letter) => `!${letter.toLowerCase()}`);

/** Go modules of a pushed repository by a scripted client, through the gateway. */
describe('Go modules', () => {
  let git: GitClient;
  let owner: Person;
  let project: Awaited<ReturnType<typeof projectOf>>;
  let modulePath: string;
  let log: RequestLog;
  let go: (token: string | null) => ScriptedGo;

  beforeAll(async () => {
    git = await GitClient.make();
    owner = await person('gopher');
    project = await projectOf(owner, 'gophers');
    modulePath = `${new URL(estate.baseUrl).hostname}/${project.path}`;
    log = new RequestLog(
      new Map([
        [estate.baseUrl, '<host>'],
        [`/projects/${project.id}/`, '/projects/<project>/'],
        [modulePath, '<module>'],
      ]),
    );
    const proxy = `${estate.baseUrl}/api/v4/projects/${project.id}/packages/go`;
    const basic = (token: string) => `Basic ${Buffer.from(`anybody:${token}`).toString('base64')}`;
    go = (token) => new ScriptedGo(log, proxy, token === null ? {} : { authorization: basic(token) });
    const address = estate.baseUrl.replace('://', `://oauth2:${owner.token}@`);
    await git.init('work', `${address}/${project.path}.git`);
    await git.commit('work', `module ${modulePath}`, 'go.mod');
    await git.ok('work', 'tag', 'v1.0.0-RC1');
    await git.ok('work', 'tag', 'v1.2.3');
    await git.ok('work', 'push', '--quiet', 'origin', 'main', '--tags');
  });
  afterAll(() => git.close());

  it('are listed and fetched, with every kind of caller, and keep their digests', async () => {
    expect(await go(owner.token).versions(modulePath)).toEqual(['v1.2.3', 'v1.0.0-RC1']);
    const fetched = await go(owner.token).get(modulePath, 'v1.2.3');
    expect(fetched).toMatch(/^v1\.2\.3 /);
    expect(await go(owner.token).get(modulePath, 'v1.0.0-RC1')).toMatch(/^v1\.0\.0-RC1 /);
    await git.commit('work', 'package eggs', 'eggs.go');
    await git.ok('work', 'tag', '--force', 'v1.2.3');
    await git.ok('work', 'push', '--quiet', '--force', 'origin', 'main', 'v1.2.3');
    expect(await go(owner.token).get(modulePath, 'v1.2.3', 'go get, moved tag')).toBe(fetched);
    expect(await go(null).versions(modulePath, 'private, anonymous')).toBe('401 401 Unauthorized');
    expect(await go('glpat-wrong').versions(modulePath, 'wrong token')).toMatch(/^401 /);
    const reader = await person('burrower');
    expect(await go(reader.token).versions(modulePath, 'no member')).toBe('404 404 Project Not Found');
    await addMember(project.id, reader, 20, owner);
    expect(await go(reader.token).get(modulePath, 'v1.2.3', 'reporter')).toBe(fetched);
    expect(await go(reader.token).get(modulePath, 'v1.9.9', 'missing')).toBe('404 not found: unknown revision');
    const listed = await call('GET', `/projects/${project.id}/packages?package_type=golang`, { token: owner.token });
    expect(listed.body).toHaveLength(2);
    log.expectGolden('go');
    const main = await go(owner.token).get(modulePath, 'main', 'branch');
    expect(main).toMatch(/^v1\.2\.(3|4-0\.\d{14}-[0-9a-f]{12}) /);
  });

  it('need no credentials in a public project', async () => {
    await call('PUT', `/groups/${project.group}`, { token: owner.token, json: { visibility: 'public' } });
    await call('PUT', `/projects/${project.id}`, { token: owner.token, json: { visibility: 'public' } });
    const found = await eventually(
      () => go(null).get(modulePath, 'v1.2.3', 'public'),
      (text) => text.startsWith('v1.2.3 '),
    );
    expect(found).toMatch(/^v1\.2\.3 /);
  });
});
