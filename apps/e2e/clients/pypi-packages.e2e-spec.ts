import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { addMember, call, estate, mark, person, projectOf } from '../support/estate';
import type { Person } from '../support/estate';
import { requireDebianPackages } from '../support/debian-packages';
import { PythonClients } from '../support/python';
import type { Finished } from '../support/python';

/** The page of a package in JSON. */
interface Page {
  readonly versions: readonly string[];
  readonly files: readonly [
    {
      readonly url: string;
      readonly hashes: object;
      readonly 'requires-python': string;
      readonly 'core-metadata': { readonly sha256: string };
    },
  ];
}

/** Fails with what the program wrote. */
function expectSuccess({ status, output }: Finished): void {
  if (status !== 0) throw new Error(output);
}

const TAKEN = 'File name has already been taken (File already exists)';

/** Python packages by twine, poetry and pip, unmodified. */
describe('Python packages', () => {
  const clients = new PythonClients();
  let owner: Person;
  let project: Awaited<ReturnType<typeof projectOf>>;
  let repository: string;

  beforeAll(async () => {
    owner = await person('snake');
    project = await projectOf(owner, 'snakes');
    repository = `${estate.baseUrl}/api/v4/projects/${project.id}/packages/pypi`;
  });
  afterAll(() => clients.discard());

  const indexUrl = (path: string, token: string | null = owner.token): string => {
    const url = new URL(`${estate.baseUrl}/api/v4/${path}/packages/pypi/simple`);
    if (token !== null) [url.username, url.password] = ['__token__', token];
    return url.href;
  };
  const ofProject = (token?: string | null): string => indexUrl(`projects/${project.id}`, token);
  const install = (target: string, index: string, what: string) =>
    clients.pip('install', '--no-deps', '--target', join(clients.folder, target), '--index-url', index, what);
  const moduleIn = (target: string, name: string): string =>
    readFileSync(join(clients.folder, target, name, '__init__.py'), 'utf8');

  it('go up with twine, with and without a slash, and are installed by pip from project and group', async () => {
    const first = await clients.wheel('my_pkg', '1.0', 'first');
    const second = await clients.wheel('my_pkg', '1.1', 'second');
    for (const [url, wheel] of [
      [repository, first],
      [`${repository}/`, second],
    ] as const)
      expectSuccess(await clients.twine(url, owner.token, wheel));
    expectSuccess(await install('old', ofProject(), 'My.Pkg==1.0'));
    expect(moduleIn('old', 'my_pkg')).toContain('first');
    expectSuccess(await install('new', indexUrl(`groups/${project.group}/-`), 'my-pkg'));
    expect(moduleIn('new', 'my_pkg')).toContain('second');
    const listed = await call('GET', `/projects/${project.id}/packages?package_name=my-pkg`, { token: owner.token });
    expect(listed.body.map(({ version, package_type }: Record<string, string>) => [version, package_type])).toEqual([
      ['1.0', 'pypi'],
      ['1.1', 'pypi'],
    ]);
  });

  it('are refused a second time with a reason that twine shows, or skipped when asked', async () => {
    const wheel = await clients.wheel('twice', '1.0');
    expectSuccess(await clients.twine(repository, owner.token, wheel));
    const again = await clients.twine(repository, owner.token, wheel);
    expect([again.status, again.output.replaceAll(/\s+/g, ' ')]).toEqual([1, expect.stringContaining(TAKEN)]);
    const skipped = await clients.twine(repository, owner.token, '--skip-existing', wheel);
    expect([skipped.status, skipped.output]).toEqual([0, expect.stringContaining('Skipping')]);
  });

  it('go up with poetry, which skips what exists', async () => {
    copyFileSync(await clients.wheel('poet', '1.0'), join(clients.project(), 'dist/poet-1.0-py3-none-any.whl'));
    expectSuccess(await clients.poetry(repository, owner.token));
    const again = await clients.poetry(repository, owner.token);
    expect([again.status, again.output]).toEqual([1, expect.stringContaining('already been taken')]);
    expectSuccess(await clients.poetry(repository, owner.token, '--skip-existing'));
    expectSuccess(await install('poem', ofProject(), 'poet'));
    // Debian's virtualenv looks for its seeds there.
    requireDebianPackages('python3-pip-whl', 'python3-setuptools-whl', 'python3-wheel-whl');
    const installed = await clients.poetryInstall(`${repository}/simple`, owner.token, 'poet');
    expectSuccess(installed);
    expect(installed.output).toContain('Installing poet (1.0)');
    expect(readFileSync(join(installed.folder, 'poetry.lock'), 'utf8')).toContain('poet-1.0-py3-none-any.whl');
    const refused = await clients.poetryInstall(`${repository}/simple`, 'glpat-wrong', 'poet');
    expect(refused.status).not.toBe(0);
  });

  it('have pages in JSON with digests, and core metadata beside each wheel', async () => {
    const wheel = await clients.wheel('described', '2.0');
    expectSuccess(await clients.twine(repository, owner.token, wheel));
    const headers = { accept: 'application/vnd.pypi.simple.v1+json', authorization: `Bearer ${owner.token}` };
    const page = await fetch(`${repository}/simple/described/`, { headers });
    const { files, versions } = (await page.json()) as Page;
    const sha256 = createHash('sha256').update(readFileSync(wheel)).digest('hex');
    expect([versions, files[0].hashes, files[0]['requires-python']]).toEqual([['2.0'], { sha256 }, '>=3.6']);
    const metadata = await (await fetch(`${files[0].url}.metadata`, { headers })).text();
    expect(metadata).toContain('Name: described');
    expect(createHash('sha256').update(metadata).digest('hex')).toBe(files[0]['core-metadata'].sha256);
    const tail = await fetch(files[0].url, { headers: { ...headers, range: 'bytes=-4' } });
    expect([tail.status, (await tail.arrayBuffer()).byteLength]).toEqual([206, 4]);
    const etag = page.headers.get('etag')!;
    const same = await fetch(`${repository}/simple/described/`, { headers: { ...headers, 'if-none-match': etag } });
    expect([same.status, same.headers.get('vary')]).toEqual([304, expect.stringContaining('Accept')]);
  });

  it('ask for credentials, which pip takes from a netrc file', async () => {
    const wheel = await clients.wheel('netted', '1.0');
    expectSuccess(await clients.twine(repository, owner.token, wheel));
    const anonymous = await fetch(`${repository}/simple/netted/`);
    expect([anonymous.status, anonymous.headers.get('www-authenticate')]).toEqual([
      401,
      'Basic realm="GitLab Packages Registry"',
    ]);
    expect((await install('none', ofProject(null), 'netted')).status).not.toBe(0);
    const { hostname } = new URL(estate.baseUrl);
    const netrc = join(clients.folder, '.netrc');
    writeFileSync(netrc, `machine ${hostname} login anybody password ${owner.token}\n`, { mode: 0o600 });
    expectSuccess(await install('netted', ofProject(null), 'netted'));
    writeFileSync(netrc, '');
  });

  it('are refused with reasons: a wrong token, a reader, a protected name, an invalid version', async () => {
    const wheel = await clients.wheel('guarded', '1.0');
    const wrong = await clients.twine(repository, 'glpat-wrong', wheel);
    expect([wrong.status, wrong.output]).toEqual([1, expect.stringContaining('401 Unauthorized')]);
    const [reader, developer] = [await person('reader'), await person('developer')];
    await addMember(project.id, reader, 20, owner);
    await addMember(project.id, developer, 30, owner);
    const forbidden = await clients.twine(repository, reader.token, wheel);
    expect([forbidden.status, forbidden.output]).toEqual([1, expect.stringContaining('403 Forbidden')]);
    const json = {
      package_name_pattern: 'Guarded*',
      package_type: 'pypi',
      minimum_access_level_for_push: 'maintainer',
    };
    await call('POST', `/projects/${project.id}/packages/protection/rules`, { token: owner.token, json });
    const guarded = await clients.twine(repository, developer.token, wheel);
    expect([guarded.status, guarded.output]).toEqual([1, expect.stringContaining('Package protected.')]);
    expect((await clients.pip('download', '--no-deps', '--index-url', ofProject(reader.token), 'guarded')).status).toBe(
      1,
    );
  });

  it('go up and down with curl, the file before the names', async () => {
    const wheel = await clients.wheel('curly', '1.0');
    const credentials = ['-s', '--user', `anybody:${owner.token}`];
    const form = ['-F', `content=@${wheel}`, '-F', 'name=Curly', '-F', 'version=1.0'];
    const { stdout: up } = await promisify(execFile)('curl', [...credentials, ...form, repository]);
    expect(JSON.parse(up)).toEqual({ message: '201 Created' });
    const sha256 = createHash('sha256').update(readFileSync(wheel)).digest('hex');
    const url = `${repository}/files/${sha256}/curly-1.0-py3-none-any.whl`;
    const target = join(clients.folder, 'curled.whl');
    await promisify(execFile)('curl', [...credentials, '--fail', '-o', target, url]);
    expect(readFileSync(target).equals(readFileSync(wheel))).toBe(true);
    const { stdout: head } = await promisify(execFile)('curl', [...credentials, '-I', url]);
    expect(head).toMatch(new RegExp(`^HTTP/1.1 200 OK[^]*content-length: ${readFileSync(wheel).length}\r`, 'i'));
  });

  it('carry the reason in the status line through the gateway', async () => {
    const boundary = `b${mark}`;
    const part = (name: string, value: string): string =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const body = `${part('name', 'a')}${part('version', 'latest')}--${boundary}\r\ncontent-disposition: form-data; name="content"; filename="a-1.tar.gz"\r\n\r\nx\r\n--${boundary}--\r\n`;
    const headers = { 'private-token': owner.token, 'content-type': `multipart/form-data; boundary=${boundary}` };
    const reason = await new Promise((resolve, reject) => {
      const sent = request(repository, { method: 'POST', headers }, (answer) => {
        answer.resume();
        resolve([answer.statusCode, answer.statusMessage]);
      });
      sent.once('error', reject).end(body);
    });
    expect(reason).toEqual([400, 'Validation failed: Version is invalid']);
  });

  it('are whole or absent after many uploads at once', async () => {
    const wheels = await Promise.all(Array.from({ length: 6 }, (_, index) => clients.wheel('busy', `1.${index}`)));
    const uploads = await Promise.all(wheels.map((wheel) => clients.twine(repository, owner.token, wheel)));
    expect(uploads.map(({ status }) => status)).toEqual(wheels.map(() => 0));
    const down = join(clients.folder, 'down');
    const words = ['download', '--no-deps', '-d', down, '--index-url', ofProject(), 'busy==1.3'];
    expectSuccess(await clients.pip(...words));
    expect(readdirSync(down)).toEqual(['busy-1.3-py3-none-any.whl']);
  });
});
