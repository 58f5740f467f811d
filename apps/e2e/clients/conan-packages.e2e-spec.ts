import { createHash } from 'node:crypto';
import { addMember, call, estate, eventually, person, projectOf } from '../support/estate';
import type { Person } from '../support/estate';
import { RequestLog } from '../support/request-log';

const sha1 = (content: string): string => createHash('sha1').update(content).digest('hex');
const md5 = (content: string): string => createHash('md5').update(content).digest('hex');
const BINARY = '1'.repeat(40);
const BINARY_REVISION = 'b'.repeat(32);

type Files = Readonly<Record<string, string>>;
const RECIPE: Files = { 'conan_export.tgz': 'export', 'conanfile.py': 'recipe', 'conanmanifest.txt': 'manifest' };
/** A package without settings has an empty description. */
const PACKAGE: Files = { 'conan_package.tgz': 'archive', 'conaninfo.txt': '', 'conanmanifest.txt': 'manifest of it' };

/** An error that Conan shows. */
class ConanError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Stand-in for Conan, because neither Debian nor npm has a package of it. It pings, logs in with Basic after a 401, and sends
 * the token that it got as Bearer from then on.
 */
class ScriptedConan {
  private token: string | null = null;

  constructor(
    private readonly log: RequestLog,
    private readonly remote: string,
    private readonly password: string | null,
    private readonly version: 1 | 2,
  ) {}

  /** `conan upload` with revisions. `reference` has the form `name/version/user/channel`. */
  async upload(reference: string, revision: string, recipe = RECIPE): Promise<void> {
    await this.ping('conan upload');
    const below = `v2/conans/${reference}/revisions/${revision}`;
    if ((await this.ask('conan upload', 'GET', `${below}/files`)).status === 404) await this.putAll(below, recipe);
    const binary = `${below}/packages/${BINARY}/revisions/${BINARY_REVISION}`;
    await this.putAll(binary, PACKAGE);
  }

  /** `conan install` with revisions: the files of the recipe and of its package. */
  async install(reference: string): Promise<Files> {
    await this.ping('conan install');
    const recipe = `v2/conans/${reference}`;
    const { revision } = await this.json('conan install', `${recipe}/latest`);
    const below = `${recipe}/revisions/${revision}`;
    const binary = `${below}/packages/${BINARY}`;
    const packages = await this.json('conan install', `${binary}/latest`);
    return {
      ...(await this.getAll(below)),
      ...(await this.getAll(`${binary}/revisions/${packages.revision}`)),
    };
  }

  /** `conan upload` without revisions: URLs for the files, which are sent in their order. */
  async uploadFirst(reference: string): Promise<void> {
    await this.ping('conan upload v1');
    const recipe = `v1/conans/${reference}`;
    const found = await this.ask('conan upload v1', 'GET', `${recipe}/digest`);
    expect(found.status).toBe(404);
    for (const [path, files] of [
      [recipe, RECIPE],
      [`${recipe}/packages/${BINARY}`, PACKAGE],
    ] as const) {
      const sizes = Object.fromEntries(Object.entries(files).map(([name, content]) => [name, content.length]));
      const body = JSON.stringify(sizes);
      const answer = await this.ask('conan upload v1', 'POST', `${path}/upload_urls`, {
        body,
        type: 'application/json',
      });
      const urls = (await answer.json()) as Files;
      for (const [name, url] of Object.entries(urls)) await this.put('conan upload v1', url, files[name]!);
    }
  }

  /** `conan install` without revisions, which compares digests with the snapshot. */
  async installFirst(reference: string): Promise<Files> {
    await this.ping('conan install v1');
    const recipe = `v1/conans/${reference}`;
    const files: Record<string, string> = {};
    for (const path of [recipe, `${recipe}/packages/${BINARY}`]) {
      const snapshot = await this.json('conan install v1', path);
      const urls = await this.json('conan install v1', `${path}/download_urls`);
      for (const [name, url] of Object.entries(urls)) {
        const content = await (await this.ask('conan install v1', 'GET', url as string)).text();
        expect(md5(content)).toBe(snapshot[name]);
        files[name] = content;
      }
    }
    return files;
  }

  async search(pattern: string): Promise<readonly string[]> {
    await this.ping('conan search');
    const found = await this.json('conan search', `v${this.version}/conans/search?q=${pattern}&ignorecase=True`);
    return found.results as string[];
  }

  /** `conan list`: the packages of a recipe. */
  async list(reference: string): Promise<readonly string[]> {
    await this.ping('conan list');
    return Object.keys(await this.json('conan list', `v2/conans/${reference}/search`));
  }

  /** `conan remove`, which takes only 200 for success. */
  async remove(reference: string): Promise<void> {
    await this.ping('conan remove');
    const answer = await this.ask('conan remove', 'DELETE', `v${this.version}/conans/${reference}`);
    if (answer.status !== 200) throw await errorOf(answer);
  }

  private async ping(about: string): Promise<void> {
    const answer = await this.ask(about, 'GET', 'v1/ping');
    if (answer.status !== 200) throw await errorOf(answer);
    expect(answer.headers.get('x-conan-server-capabilities')).toBe('revisions');
  }

  /** A 401 begins the login. Conan asks for a password up to three times; here is one. */
  private async ask(
    about: string,
    method: string,
    path: string,
    content: { readonly body?: string; readonly type?: string } = {},
  ): Promise<Response> {
    const url = path.startsWith('http') ? path : `${this.remote}/${path}`;
    const answer = await this.send(about, method, url, this.token, content);
    if (answer.status !== 401 || this.token !== null || this.password === null) return answer;
    const basic = `Basic ${Buffer.from(`demo:${this.password}`).toString('base64')}`;
    const login = await this.log.send({
      ...{ about: 'conan remote login', method: 'GET', url: `${this.remote}/v${this.version}/users/authenticate` },
      headers: { authorization: basic, 'user-agent': this.agent },
    });
    if (login.status !== 200) throw await errorOf(login);
    expect(login.headers.get('content-type')).toBe('text/plain');
    this.token = await login.text();
    const checked = await this.send(
      'conan remote login',
      'GET',
      `${this.remote}/v${this.version}/users/check_credentials`,
    );
    expect(await checked.text()).toBe('ok');
    return this.send(about, method, url, this.token, content);
  }

  private send(
    about: string,
    method: string,
    url: string,
    token = this.token,
    { body, type }: { readonly body?: string; readonly type?: string } = {},
  ): Promise<Response> {
    const headers = {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(type === undefined ? {} : { 'content-type': type }),
      'user-agent': this.agent,
    };
    return this.log.send({ about, method, url, headers, ...(body === undefined ? {} : { body }) });
  }

  private get agent(): string {
    return this.version === 2 ? 'Conan/2.8.1 (Linux; Python 3.11.2; x86_64)' : 'Conan/1.65.0 (Python 3.11.2)';
  }

  private async json(about: string, path: string): Promise<Record<string, unknown>> {
    const answer = await this.ask(about, 'GET', path);
    if (answer.status !== 200) throw await errorOf(answer);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json(; charset=utf-8)?$/);
    return (await answer.json()) as Record<string, unknown>;
  }

  private async putAll(below: string, files: Files): Promise<void> {
    for (const [name, content] of Object.entries(files))
      await this.put('conan upload', `${this.remote}/${below}/files/${name}`, content);
  }

  private async put(about: string, url: string, content: string): Promise<void> {
    const answer = await this.log.send({
      ...{ about, method: 'PUT', url, body: content },
      headers: {
        ...(this.token === null ? {} : { authorization: `Bearer ${this.token}` }),
        ...{ 'x-checksum-sha1': sha1(content), 'user-agent': this.agent },
      },
    });
    if (answer.status !== 200 && answer.status !== 201) throw await errorOf(answer);
  }

  private async getAll(below: string): Promise<Files> {
    const { files } = (await this.json('conan install', `${below}/files`)) as { files: Files };
    const found: Record<string, string> = {};
    for (const name of Object.keys(files)) {
      const answer = await this.ask('conan install', 'GET', `${below}/files/${name}`);
      expect(answer.headers.get('accept-ranges')).toBe('bytes');
      found[name] = await answer.text();
    }
    return found;
  }
}

/** Conan reads the text only if the type is exactly this one. */
async function errorOf(answer: Response): Promise<ConanError> {
  const isRead = answer.headers.get('content-type') === 'application/json';
  const { errors } = (isRead ? await answer.json() : { errors: [] }) as { errors: { message: string }[] };
  return new ConanError(answer.status, errors[0]?.message ?? 'unreadable');
}

/** Conan packages by a scripted client, through the gateway. */
describe('Conan packages', () => {
  let owner: Person;
  let project: Awaited<ReturnType<typeof projectOf>>;
  let path: string;
  let log: RequestLog;
  let conan: (password: string | null, o?: { version?: 1 | 2; isInstance?: true }) => ScriptedConan;
  const failing = (work: Promise<unknown>): Promise<unknown> =>
    work.catch(({ status, message }: ConanError) => `${status} ${message}`);

  beforeAll(async () => {
    owner = await person('packer');
    project = await projectOf(owner, 'recipes');
    const { body } = await call('GET', `/projects/${project.id}`, { token: owner.token });
    path = body.path_with_namespace.replaceAll('/', '+');
    log = new RequestLog(
      new Map([
        [estate.baseUrl, '<host>'],
        [`/projects/${project.id}/`, '/projects/<project>/'],
        [path, '<group>+recipes'],
        [encodeURIComponent(path), '<group>+recipes'],
      ]),
    );
    conan = (password, { version = 2, isInstance } = {}) => {
      const base = isInstance ? 'packages/conan' : `projects/${project.id}/packages/conan`;
      return new ScriptedConan(log, `${estate.baseUrl}/api/v4/${base}`, password, version);
    };
  });

  it('are uploaded, found, installed and removed, with every kind of caller', async () => {
    const client = conan(owner.token);
    await client.upload('hello/1.0/demo/stable', 'a'.repeat(32));
    expect(await client.install('hello/1.0/demo/stable')).toEqual({ ...RECIPE, ...PACKAGE });
    await client.upload('hello/1.0/demo/stable', 'a'.repeat(32));
    // No client sees an upload that ends before the manifest.
    await client.upload('hello/1.0/demo/stable', 'c'.repeat(32), { 'conanfile.py': 'new' });
    expect(await client.install('hello/1.0/demo/stable')).toEqual({ ...RECIPE, ...PACKAGE });
    expect(await client.search('hel*')).toEqual(['hello/1.0@demo/stable']);
    expect(await client.list('hello/1.0/demo/stable')).toEqual([BINARY]);
    expect(await failing(conan(null).search('*'))).toBe('401 401 Unauthorized');
    expect(await failing(conan('glpat-wrong').search('*'))).toBe('401 401 Unauthorized');
    const reader = await person('installer');
    expect(await failing(conan(reader.token).search('*'))).toBe('404 404 Project Not Found');
    await addMember(project.id, reader, 20, owner);
    expect(await conan(reader.token).install('hello/1.0/demo/stable')).toEqual({ ...RECIPE, ...PACKAGE });
    expect(await failing(conan(reader.token).upload('hello/2.0/demo/stable', 'a'.repeat(32)))).toBe(
      '403 403 Forbidden',
    );
    expect(await failing(conan(reader.token).remove('hello/1.0/demo/stable'))).toBe('403 403 Forbidden');
    const listed = await call('GET', `/projects/${project.id}/packages?package_type=conan`, { token: owner.token });
    expect(listed.body).toMatchObject([{ name: 'hello/1.0@demo/stable', conan_package_name: 'hello', version: '1.0' }]);
    await client.remove('hello/1.0/demo/stable');
    expect(await failing(client.install('hello/1.0/demo/stable'))).toBe('404 404 Not found');
  });

  it('have an older protocol without revisions', async () => {
    const client = conan(owner.token, { version: 1 });
    await client.uploadFirst('older/1.0/demo/stable');
    expect(await client.installFirst('older/1.0/demo/stable')).toEqual({ ...RECIPE, ...PACKAGE });
    expect(await client.search('older')).toEqual(['older/1.0@demo/stable']);
    await client.remove('older/1.0/demo/stable');
    expect(await failing(client.installFirst('older/1.0/demo/stable'))).toBe('404 404 Not found');
  });

  it('are in the registry of the instance under the path of their project', async () => {
    const client = conan(owner.token, { isInstance: true });
    // Its ping needs no credential, so the first refusal begins the login.
    await client.upload(`shared/1.0/${path}/stable`, 'a'.repeat(32));
    expect(await client.search('shared')).toEqual([`shared/1.0@${path}/stable`]);
    expect(await client.install(`shared/1.0/${path}/stable`)).toEqual({ ...RECIPE, ...PACKAGE });
    log.expectGolden('conan');
  });

  it('need no credentials in a public project', async () => {
    await call('PUT', `/groups/${project.group}`, { token: owner.token, json: { visibility: 'public' } });
    await call('PUT', `/projects/${project.id}`, { token: owner.token, json: { visibility: 'public' } });
    const found = await eventually(
      () => failing(conan(null, { isInstance: true }).install(`shared/1.0/${path}/stable`)),
      (files) => typeof files === 'object',
    );
    expect(found).toEqual({ ...RECIPE, ...PACKAGE });
  });
});
