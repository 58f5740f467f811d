import { GitClient } from '@rookery/testing';
import { addMember, call, estate, eventually, person, projectOf } from '../support/estate';
import type { Person } from '../support/estate';
import { GoClient } from '../support/go';

/** A module as `go mod download -json` describes it. */
interface Downloaded {
  readonly Version: string;
  readonly Sum?: string;
  readonly Error?: string;
}

/** Go modules of a pushed repository by the go command, through the gateway. */
describe('Go modules', () => {
  let git: GitClient;
  let go: GoClient;
  let owner: Person;
  let project: Awaited<ReturnType<typeof projectOf>>;
  let modulePath: string;
  let empty: string;
  let run: (token: string | null, ...args: string[]) => ReturnType<GoClient['run']>;

  beforeAll(async () => {
    git = await GitClient.make();
    go = await GoClient.make(estate.baseUrl);
    owner = await person('gopher');
    project = await projectOf(owner, 'gophers');
    // Go takes paths only whose first part has a dot.
    modulePath = `${new URL(estate.baseUrl).hostname}/${project.path}`;
    empty = go.folder({ 'go.mod': 'module example.com/nest\n\ngo 1.19\n' });
    const proxy = `${go.origin}/api/v4/projects/${project.id}/packages/go`;
    run = (token, ...args) => go.run(empty, proxy, token, ...args);
    const address = estate.baseUrl.replace('://', `://oauth2:${owner.token}@`);
    await git.init('work', `${address}/${project.path}.git`);
    await git.commit('work', `module ${modulePath}\n\ngo 1.19\n`, 'go.mod');
    await git.ok('work', 'tag', 'v1.0.0-RC1');
    await git.commit('work', 'package eggs\n\nconst Count = 3\n', 'eggs.go');
    await git.ok('work', 'tag', 'v1.2.3');
    await git.ok('work', 'push', '--quiet', 'origin', 'main', '--tags');
  });
  afterAll(() => {
    go.close();
    return git.close();
  });

  /** `go mod download`. Returns the version and the checksum of its files, or the text of the refusal. */
  async function download(token: string | null, version: string): Promise<string> {
    const { text } = await run(token, 'mod', 'download', '-json', `${modulePath}@${version}`);
    const found = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as Downloaded;
    return found.Error ?? `${found.Version} ${found.Sum}`;
  }

  it('are listed, fetched and compiled, and keep their checksums when a tag moves', async () => {
    const listed = await run(owner.token, 'list', '-m', '-versions', modulePath);
    expect(listed).toEqual({ code: 0, text: `${modulePath} v1.0.0-RC1 v1.2.3\n` });
    expect(await download(owner.token, 'v1.0.0-RC1')).toMatch(/^v1\.0\.0-RC1 h1:/);
    const fetched = await download(owner.token, 'v1.2.3');
    expect(fetched).toMatch(/^v1\.2\.3 h1:/);
    expect(await download(owner.token, 'latest')).toBe(fetched);
    const program = `package main\n\nimport eggs "${modulePath}"\n\nfunc main() { println(eggs.Count) }\n`;
    const nest = go.folder({ 'go.mod': 'module example.com/nest\n\ngo 1.19\n', 'main.go': program });
    const proxy = `${go.origin.replace('://', `://anybody:${owner.token}@`)}/api/v4/projects/${project.id}/packages/go`;
    expect(await go.run(nest, proxy, null, 'get', `${modulePath}@v1.2.3`)).toMatchObject({ code: 0 });
    expect(await go.run(nest, proxy, null, 'run', '.')).toMatchObject({ code: 0, text: expect.stringMatching(/3\n$/) });
    await git.commit('work', 'package eggs\n\nconst Count = 4\n', 'eggs.go');
    await git.ok('work', 'tag', '--force', 'v1.2.3');
    await git.ok('work', 'push', '--quiet', '--force', 'origin', 'main', 'v1.2.3');
    expect(await download(owner.token, 'v1.2.3')).toBe(fetched);
    expect(await download(owner.token, 'main')).toMatch(/^v1\.2\.(3|4-0\.\d{14}-[0-9a-f]{12}) h1:/);
    const packages = await call('GET', `/projects/${project.id}/packages?package_type=golang`, { token: owner.token });
    expect(packages.body.map(({ name, version }: { name: string; version: string }) => [name, version])).toEqual(
      expect.arrayContaining([
        [modulePath, 'v1.0.0-RC1'],
        [modulePath, 'v1.2.3'],
      ]),
    );
  });

  it('are refused with a reason: without or with a wrong token, to others, and a version that is missing', async () => {
    expect(await download(null, 'v1.2.3')).toMatch(/401 Unauthorized/);
    expect(await download('glpat-wrong', 'v1.2.3')).toMatch(/401 Unauthorized/);
    const reader = await person('burrower');
    expect(await download(reader.token, 'v1.2.3')).toMatch(/404 Project Not Found/);
    await addMember(project.id, reader, 20, owner);
    expect(await download(reader.token, 'v1.2.3')).toMatch(/^v1\.2\.3 h1:/);
    expect(await download(reader.token, 'v1.9.9')).toMatch(/not found: unknown revision/);
    const other = await run(reader.token, 'list', '-m', '-versions', `${modulePath}/v2`);
    expect(other).toEqual({ code: 0, text: `${modulePath}/v2\n` });
  });

  it('are gone when their package is deleted, until the tag is asked for again', async () => {
    const find = async (): Promise<{ id: number; version: string }[]> =>
      (await call('GET', `/projects/${project.id}/packages?package_type=golang`, { token: owner.token })).body;
    const before = await download(owner.token, 'v1.2.3');
    const { id } = (await find()).find(({ version }) => version === 'v1.2.3')!;
    await call('DELETE', `/projects/${project.id}/packages/${id}`, { token: owner.token });
    expect((await find()).map(({ version }) => version)).not.toContain('v1.2.3');
    // The tag has moved since the first request, so the version is another commit now.
    expect(await download(owner.token, 'v1.2.3')).not.toBe(before);
  });

  it('need no credentials in a public project', async () => {
    await call('PUT', `/groups/${project.group}`, { token: owner.token, json: { visibility: 'public' } });
    await call('PUT', `/projects/${project.id}`, { token: owner.token, json: { visibility: 'public' } });
    const found = await eventually(
      () => download(null, 'v1.2.3'),
      (text) => text.startsWith('v1.2.3 '),
    );
    expect(found).toMatch(/^v1\.2\.3 h1:/);
    expect(await download('glpat-wrong', 'v1.2.3')).toMatch(/401 Unauthorized/);
  });
});
