import { Readable } from 'node:stream';
import { request } from 'undici';
import { aHolder } from '../support/fake-identity';
import { Estate, eventually } from '../support/estate';
import type { Gateway } from '../support/estate';
import { RawClient } from '../support/raw';

const EXPIRED = {
  error: 'invalid_token',
  error_description: 'Token is expired. You can either do re-authorization or token refresh.',
};
const PACKAGE_FILE = '/projects/1/packages/generic/a/1.0/f.txt';
const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

describe('credentials', () => {
  const estate = new Estate();
  let gateway: Gateway;
  const get = (path: string, headers: Record<string, string> = {}) =>
    request(`${gateway.url}/api/v4${path}`, { headers });
  beforeAll(async () => {
    await estate.start();
    estate.identityInside.give('glpat-good');
    estate.identityInside.give('glpat-other', aHolder({ user_id: 8, username: 'olu', token_id: 80 }));
    gateway = await estate.gateway();
  });
  afterAll(() => estate.stop());
  beforeEach(() => (estate.collaboration.seen.length = 0));

  it.each<[string, string, Record<string, string>]>([
    ['PRIVATE-TOKEN', '/todos', { 'PRIVATE-TOKEN': 'glpat-good' }],
    ['private-token in any case', '/todos', { 'pRiVaTe-ToKeN': 'glpat-good' }],
    ['Authorization: Bearer', '/todos', { authorization: 'Bearer glpat-good' }],
    ['private_token in the query', '/todos?private_token=glpat-good', {}],
    ['access_token in the query', '/todos?access_token=glpat-good', {}],
    ['an encoded parameter name', '/todos?private%5Ftoken=glpat-good', {}],
    ['PRIVATE-TOKEN before the query', '/todos?private_token=bad', { 'private-token': 'glpat-good' }],
    ['the query before Bearer', '/todos?private_token=glpat-good', { authorization: 'Bearer bad' }],
    ['Bearer before access_token', '/todos?access_token=bad', { authorization: 'Bearer glpat-good' }],
    ['a token before a job token', '/todos', { 'private-token': 'glpat-good', 'job-token': 'bad' }],
  ])('accepts %s', async (_, path, headers) => {
    const answer = await get(path, headers);
    await answer.body.dump();
    expect(answer.statusCode).toBe(200);
    expect(estate.collaboration.last.claims.sub).toBe(7);
    expect(estate.collaboration.last.url).not.toContain('token');
    expect(JSON.stringify(estate.collaboration.last.headers)).not.toContain('glpat-');
  });

  it('forwards other parameters unchanged', async () => {
    await (await get('/todos?a%5B%5D=1&private_token=glpat-good&token=t&b=%2F+x')).body.dump();
    expect(estate.collaboration.last.url).toBe('/api/v4/todos?a%5B%5D=1&token=t&b=%2F+x');
  });

  it.each([
    ['a form', 'application/x-www-form-urlencoded', 'body=x&private_token=glpat-good'],
    ['JSON', 'application/json; charset=utf-8', JSON.stringify({ body: 'x', private_token: 'glpat-good' })],
  ])('accepts private_token in %s body, and forwards the body', async (_, type, body) => {
    const answer = await request(`${gateway.url}/api/v4/projects/1/issues`, {
      method: 'POST',
      headers: { 'content-type': type },
      body,
    });
    await answer.body.dump();
    expect(estate.collaboration.last).toMatchObject({ claims: { sub: 7 }, length: body.length });
  });

  it.each([
    ['an unknown token', { 'private-token': 'nobody' }],
    ['an unknown token beside a good query one that comes later', { 'private-token': 'nobody' }],
    ['two tokens in two headers', { 'private-token': ['glpat-good', 'glpat-other'] }],
    ['the token of a job that does not run', { 'job-token': 'glcbt-1' }],
  ])('refuses %s with 401 also on routes that allow anonymous callers', async (_, headers) => {
    const answer = await request(`${gateway.url}/api/v4/todos`, { headers });
    expect(answer.statusCode).toBe(401);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(await answer.body.json()).toEqual({ message: '401 Unauthorized' });
    expect(estate.collaboration.seen).toHaveLength(0);
  });

  it.each([
    ['expired', EXPIRED],
    [
      'revoked',
      {
        error: 'invalid_token',
        error_description: 'Token was revoked. You have to re-authorize from the user.',
      },
    ],
    [
      'impersonation_disabled',
      {
        error: 'invalid_token',
        error_description: 'Token is an impersonation token but impersonation was disabled.',
      },
    ],
  ])('reports why a token is %s', async (outcome, body) => {
    estate.identityInside.change(`glpat-${outcome}`, { outcome } as never, 99);
    const answer = await get('/todos', { 'private-token': `glpat-${outcome}` });
    expect(answer.statusCode).toBe(401);
    expect(answer.headers['www-authenticate']).toBe(
      `Bearer realm="The API", error="invalid_token", error_description="${body.error_description}"`,
    );
    expect(await answer.body.json()).toEqual(body);
  });

  it('refuses a blocked user with the reason', async () => {
    const reason = 'Your account has been blocked';
    estate.identityInside.change('glpat-blocked', { outcome: 'user_refused', reason } as never, 98);
    const answer = await get('/todos', { 'private-token': 'glpat-blocked' });
    expect(answer.statusCode).toBe(403);
    expect(await answer.body.json()).toEqual({ message: `403 Forbidden - ${reason}` });
  });

  it('refuses an expired token even if it was leased before', async () => {
    const { url } = await estate.gateway({}, { authLeaseMs: 600_000 });
    estate.identityInside.give('glpat-short', aHolder({ token_id: 71, expires_at: Date.now() + 3000 }));
    const ask = async () => {
      const { statusCode, body } = await request(`${url}/api/v4/todos`, {
        headers: { 'private-token': 'glpat-short' },
      });
      return [statusCode, ((await body.json()) as { error?: string }).error];
    };
    expect(await ask()).toEqual([200, undefined]);
    let answer: unknown[] = [];
    await eventually(async () => (answer = await ask())[0] !== 200);
    expect(answer).toEqual([401, EXPIRED.error]);
  });

  it('accepts Basic where package managers send it, and nowhere else', async () => {
    const good = { authorization: basic('anybody', 'glpat-good') };
    await (await get(PACKAGE_FILE, good)).body.dump();
    expect(estate.package.last.claims.sub).toBe(7);
    await (await get('/todos', good)).body.dump();
    expect(estate.collaboration.last.claims.sub).toBeNull();
    const bad = await get(PACKAGE_FILE, { authorization: basic('anybody', 'wrong') });
    expect(bad.statusCode).toBe(401);
    expect(bad.headers['www-authenticate']).toBe('Basic realm="GitLab Packages Registry"');
    await bad.body.dump();
  });

  it('refuses clients of npm without a challenge, and with the text that they show', async () => {
    const path = '/projects/1/packages/npm/a';
    const { error_description } = EXPIRED;
    estate.identityInside.change('glpat-npm-expired', { outcome: 'expired' } as never, 97);
    for (const [token, body] of [
      ['wrong', { message: '401 Unauthorized', error: 'Unauthorized' }],
      ['glpat-npm-expired', { message: '401 Unauthorized', error: error_description }],
    ] as const) {
      for (const authorization of [`Bearer ${token}`, basic('anybody', token)]) {
        const answer = await get(path, { authorization });
        expect([answer.statusCode, await answer.body.json()]).toEqual([401, body]);
        expect(answer.headers).not.toHaveProperty('www-authenticate');
      }
    }
    await (
      await get(path, {
        authorization: basic('anybody', 'glpat-good'),
        'npm-session': 'one',
        'x-gitlab-event': 'Push Hook',
      })
    ).body.dump();
    expect(estate.package.last.claims.sub).toBe(7);
    expect(estate.package.last.headers).toMatchObject({ 'npm-session': 'one', 'x-gitlab-event': 'Push Hook' });
  });

  it.each(['deploy-token', 'x-nuget-apikey'])(
    'takes %s where package managers send it, and nowhere else',
    async (name) => {
      const good = { [name]: 'glpat-good', authorization: basic('anybody', 'wrong') };
      await (await get(PACKAGE_FILE, good)).body.dump();
      expect(estate.package.last.claims.sub).toBe(7);
      await (await get('/todos', { [name]: 'glpat-good' })).body.dump();
      expect(estate.collaboration.last.claims.sub).toBeNull();
      const bad = await get(PACKAGE_FILE, { [name]: 'wrong' });
      expect(bad.statusCode).toBe(401);
      await bad.body.dump();
    },
  );

  describe('of git clients', () => {
    const REFS = '/group/project.git/info/refs?service=git-upload-pack';
    const ask = (headers: Record<string, string>) => request(`${gateway.url}${REFS}`, { headers });
    const long = 'glpat-abcdefghijklmnopqrst';
    beforeAll(() => estate.identityInside.give(long));

    it.each([
      ['any user name', basic('oauth2', 'glpat-good')],
      ['the user name of jobs', basic('gitlab-ci-token', long)],
      ['the token as the user name', basic(long, '')],
    ])('are accepted with %s', async (_, authorization) => {
      const answer = await ask({ authorization, 'git-protocol': 'version=2' });
      await answer.body.dump();
      expect(answer.statusCode).toBe(200);
      expect(estate.collaboration.last).toMatchObject({ url: REFS, claims: { sub: 7 } });
      expect(estate.collaboration.last.headers).toMatchObject({ 'git-protocol': 'version=2' });
    });

    it.each([
      ['an unknown token', { authorization: basic('oauth2', 'wrong') }],
      ['a job token', { authorization: basic('gitlab-ci-token', 'glcbt-abcdefghijklmnopqrst') }],
      ['an unknown header', { 'private-token': 'wrong' }],
    ])('are refused in words for %s', async (_, headers) => {
      const answer = await ask(headers);
      expect(await answer.body.text()).toMatch(/^HTTP Basic: Access denied\. .*scoped\.\n$/);
      expect([answer.statusCode, answer.headers['content-type'], answer.headers['www-authenticate']]).toEqual([
        401,
        'text/plain',
        'Basic realm="Rookery"',
      ]);
    });

    it('are refused in words when the token has expired', async () => {
      estate.identityInside.give('glpat-expired-git');
      estate.identityInside.change('glpat-expired-git', { outcome: 'expired' }, 7);
      const answer = await ask({ authorization: basic('oauth2', 'glpat-expired-git') });
      expect(await answer.body.text()).toMatch(/^HTTP Basic: Access denied\./);
      expect([answer.statusCode, answer.headers['www-authenticate']]).toEqual([401, 'Basic realm="Rookery"']);
    });
  });

  describe('of jobs', () => {
    const token = 'glcbt-abcdefghijklmnopqrst';
    const holder = aHolder({ token_id: null, scopes: ['read_repository'], job: { id: 5, project_id: 1 } });
    const inPackage = '/projects/1/packages/generic/a/1.0/f.txt';
    beforeEach(() => {
      estate.identityInside.give(token, holder);
      estate.identityInside.asked.length = 0;
      estate.package.seen.length = 0;
    });

    it.each<[string, string, Record<string, string>]>([
      ['JOB-TOKEN', inPackage, { 'job-token': token }],
      ['job_token in the query', `${inPackage}?job_token=${token}`, {}],
      ['Authorization: Bearer, which package managers send', inPackage, { authorization: `Bearer ${token}` }],
      ['Basic with the user name of jobs', inPackage, { authorization: basic('gitlab-ci-token', token) }],
      ['Basic with any user name', inPackage, { authorization: basic('ci', token) }],
    ])('are accepted as %s, with the job in the context', async (_, path, headers) => {
      const answer = await get(path, headers);
      await answer.body.dump();
      expect(answer.statusCode).toBe(200);
      expect(estate.package.last.claims).toMatchObject({ sub: 7, tok: null, job: [5, 1], scp: ['read_repository'] });
      expect(estate.package.last.url).not.toContain('glcbt');
      expect(estate.identityInside.asked).toMatchObject([{ job: true }]);
    });

    it('are accepted of git clients', async () => {
      const refs = '/group/project.git/info/refs?service=git-upload-pack';
      const headers = { authorization: basic('gitlab-ci-token', token) };
      const answer = await request(`${gateway.url}${refs}`, { headers });
      await answer.body.dump();
      expect([answer.statusCode, estate.collaboration.last.claims.job]).toEqual([200, [5, 1]]);
    });

    it('are asked about for each request, so that the end of the job counts at once', async () => {
      const status = async (): Promise<number> => {
        const answer = await get(inPackage, { 'job-token': token });
        await answer.body.dump();
        return answer.statusCode;
      };
      expect([await status(), await status()]).toEqual([200, 200]);
      expect(estate.identityInside.asked).toHaveLength(2);
      estate.identityInside.take(token);
      expect(await status()).toBe(401);
    });

    it('are no answer for requests that wait for the same check', async () => {
      let open = (): void => undefined;
      estate.identityInside.gate = new Promise((resolve) => (open = resolve));
      const answers = Array.from({ length: 3 }, () => get(inPackage, { 'job-token': token }));
      await eventually(() => estate.identityInside.asked.length === 3);
      open();
      for (const answer of await Promise.all(answers)) await answer.body.dump();
      expect(estate.identityInside.asked).toHaveLength(3);
    });

    it('are no tokens of users: as PRIVATE-TOKEN they are looked up as such', async () => {
      await (await get('/todos', { 'private-token': token })).body.dump();
      expect(estate.identityInside.asked).toMatchObject([{ digest: expect.any(String) }]);
      expect(estate.identityInside.asked[0]).not.toHaveProperty('job');
    });

    it('open no route of the gateway', async () => {
      const answer = await get('/version', { 'job-token': token });
      expect(answer.statusCode).toBe(403);
      expect(await answer.body.json()).toEqual({ message: '403 Forbidden - The token of a job is not accepted here' });
    });
  });

  describe('of Conan', () => {
    const conan = '/projects/1/packages/conan';
    const login = async (headers: Record<string, string>): Promise<string> => {
      await (await get(`${conan}/v2/users/authenticate`, headers)).body.dump();
      return estate.package.last.claims.ctk!;
    };
    const status = async (path: string, token: string): Promise<number> => {
      const answer = await get(path, { authorization: `Bearer ${token}` });
      await answer.body.dump();
      return answer.statusCode;
    };

    it('get a token that stands for their credential, on routes of Conan only', async () => {
      const token = await login({ authorization: basic('mina', 'glpat-good') });
      expect(token).toMatch(/^conan-/);
      expect(token).not.toContain('glpat');
      expect(await status(`${conan}/v1/ping`, token)).toBe(200);
      expect(estate.package.last.claims).toMatchObject({ sub: 7, tok: 70 });
      expect(estate.package.last.claims).not.toHaveProperty('ctk');
      expect(await login({ authorization: `Bearer ${token}` })).toBe(token);
      expect([await status('/todos', token), await status(PACKAGE_FILE, token)]).toEqual([401, 401]);
    });

    it('lose the token with their credential', async () => {
      estate.identityInside.give('glpat-lost', aHolder({ token_id: 72 }));
      const token = await login({ 'private-token': 'glpat-lost' });
      expect(await status(`${conan}/v1/ping`, token)).toBe(200);
      estate.identityInside.change('glpat-lost', { outcome: 'revoked' } as never, 72);
      await eventually(async () => (await status(`${conan}/v1/ping`, token)) === 401);
    });

    it('get one for the token of a job, too', async () => {
      const holder = aHolder({ token_id: null, scopes: [], job: { id: 5, project_id: 1 } });
      estate.identityInside.give('glcbt-conan', holder);
      const token = await login({ authorization: basic('gitlab-ci-token', 'glcbt-conan') });
      expect(await status(`${conan}/v1/ping`, token)).toBe(200);
      expect(estate.package.last.claims).toMatchObject({ job: [5, 1] });
      estate.identityInside.take('glcbt-conan');
      expect(await status(`${conan}/v1/ping`, token)).toBe(401);
    });

    it('read refusals as a list of errors', async () => {
      const answer = await get(`${conan}/v1/ping`, { authorization: 'Bearer conan-1' });
      expect(answer.headers['content-type']).toBe('application/json');
      expect(answer.headers['www-authenticate']).toBe('Basic realm="GitLab Packages Registry"');
      expect(await answer.body.json()).toEqual({ errors: [{ status: 401, message: '401 Unauthorized' }] });
    });
  });

  it('lets anonymous callers through with the directory version', async () => {
    await (await get('/todos')).body.dump();
    expect(estate.collaboration.last.claims).toMatchObject({
      sub: null,
      usr: null,
      scp: [],
      adm: false,
      adr: '127.0.0.1',
      ver: estate.identityInside.version,
    });
  });

  it('forwards every claim', async () => {
    const holder = aHolder({
      token_id: 72,
      admin: true,
      external: true,
      bot: true,
      impersonator_id: 1,
      scopes: ['api', 'x'],
    });
    estate.identityInside.give('glpat-all', holder);
    await (await get('/todos', { 'private-token': 'glpat-all', 'x-request-id': 'my-id-1' })).body.dump();
    const { claims } = estate.collaboration.last;
    expect(claims).toMatchObject({ tok: 72, adm: true, ext: true, bot: true, imp: 1, scp: ['api', 'x'] });
    expect(claims.adr).toBeUndefined();
    expect(claims).toMatchObject({ rid: 'my-id-1', aud: 'collaboration', req: 'GET /api/v4/todos' });
    expect(claims.ddl - claims.iat).toBeLessThanOrEqual(10_000);
  });

  it('ignores claims sent by the client', async () => {
    const headers = {
      'x-rookery-context': 'forged',
      'X-Rookery-Directory-Version': '1',
      'x-forwarded-for': '1.2.3.4',
      'x-request-id': 'no spaces allowed',
      cookie: 'a=b',
      forwarded: 'for=1.2.3.4',
    };
    const answer = await get('/todos', headers);
    await answer.body.dump();
    const seen = estate.collaboration.last;
    expect(seen.headers['x-rookery-directory-version']).toBeUndefined();
    expect(seen.headers['x-forwarded-for']).toBe('127.0.0.1');
    expect(seen.headers.cookie).toBeUndefined();
    expect(seen.headers['forwarded']).toBeUndefined();
    expect(seen.claims.rid).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.headers['x-request-id']).toBe(seen.claims.rid);
    expect(answer.headers['x-rookery-secret']).toBeUndefined();
    expect(answer.headers['server']).toBeUndefined();
  });

  it.each(['GET', 'HEAD', 'PUT', 'POST'] as const)(
    'drops internal headers that the client sent: %s',
    async (method) => {
      const names = ['Admission', 'ADMISSION', 'look', 'context', 'directory-version', 'wait-ms', 'ignored', 'x', ''];
      const forged = names.map((name) => [`X-Rookery-${name}`, 'forged']).flat();
      const path = method === 'PUT' ? '/api/v4/projects/1/packages/maven/a' : '/api/v4/projects/1/issues';
      const service = method === 'PUT' ? estate.package : estate.collaboration;
      const body = method === 'PUT' || method === 'POST' ? 'x' : null;
      const answer = await request(`${gateway.url}${path}`, { method, headers: forged, body });
      await answer.body.dump();
      const { headers } = service.last;
      const ours = Object.keys(headers).filter((name) => name.startsWith('x-rookery-'));
      expect(ours.sort()).toEqual(method === 'HEAD' ? ['x-rookery-context', 'x-rookery-look'] : ['x-rookery-context']);
      expect(Object.values(headers).join()).not.toContain('forged');
    },
  );

  it('returns the header of ignored parameters, and no other internal header', async () => {
    const internal = {
      'x-rookery-ignored': 'labels, not[x]',
      'x-rookery-directory-version': '7',
      'x-rookery-other': 'y',
    };
    estate.collaboration.on('/api/v4/projects', (_, response) => void response.writeHead(200, internal).end('[]'));
    estate.identity.on('/api/v4/projects', (_, response) => void response.writeHead(200, internal).end('[]'));
    const answer = await get('/projects', { origin: 'https://example.com' });
    await answer.body.dump();
    const ours = Object.entries(answer.headers).filter(([name]) => name.startsWith('x-rookery-'));
    expect(ours).toEqual([['x-rookery-ignored', 'labels, not[x]']]);
    expect(answer.headers['access-control-expose-headers']).toContain('X-Rookery-Ignored');
  });

  it('trusts as many proxies as configured', async () => {
    const behind = await estate.gateway({ GATEWAY_TRUSTED_PROXIES_COUNT: '1' });
    const answer = await request(`${behind.url}/api/v4/todos`, {
      headers: { 'x-forwarded-for': '6.6.6.6, 9.9.9.9' },
    });
    await answer.body.dump();
    expect(estate.collaboration.last.headers['x-forwarded-for']).toBe('9.9.9.9');
  });
});

describe('sudo', () => {
  const estate = new Estate();
  let gateway: Gateway;
  const get = (query: string, token: string | null, sudo?: string | string[]) =>
    request(`${gateway.url}/api/v4/todos${query}`, {
      headers: { ...(token ? { 'private-token': token } : {}), ...(sudo ? { sudo } : {}) },
    });
  beforeAll(async () => {
    await estate.start();
    const { identityInside } = estate;
    identityInside.give('root', aHolder({ user_id: 1, token_id: 1, admin: true, scopes: ['api', 'sudo'] }));
    identityInside.give('root-api', aHolder({ user_id: 1, token_id: 2, admin: true }));
    identityInside.give(
      'as-root',
      aHolder({ user_id: 1, token_id: 3, admin: true, scopes: ['api', 'sudo'], impersonator_id: 5 }),
    );
    identityInside.give('mina');
    const olu = { id: 8, username: 'olu', admin: false, external: true, bot: false, state: 'active' };
    identityInside.sudoUsers
      .set('8', olu)
      .set('olu', olu)
      .set('gone', { ...olu, state: 'blocked' });
    gateway = await estate.gateway();
  });
  afterAll(() => estate.stop());

  it.each([
    ['the query', '?sudo=olu', undefined],
    ['the query by id', '?sudo=8', undefined],
    ['the header, ignoring case', '', 'OLU'],
  ])('acts as the user of %s, with that user’s permissions', async (_, query, header) => {
    await (await get(query, 'root', header)).body.dump();
    expect(estate.collaboration.last.claims).toMatchObject({ sub: 8, usr: 'olu', adm: false, ext: true, imp: 1 });
  });

  const post = (query: string, type: string, body: string, token = 'root') =>
    request(`${gateway.url}/api/v4/projects/1/issues${query}`, {
      method: 'POST',
      headers: { 'private-token': token, 'content-type': type },
      body,
    });
  const FORM = 'application/x-www-form-urlencoded';

  it.each([
    ['a form', '', FORM, 'title=x&sudo=olu'],
    ['JSON', '', 'application/json', '{"title":"x","sudo":"olu"}'],
    ['a form, however its type is written', '', 'Application/X-WWW-Form-URLEncoded', 'title=x&sudo=olu'],
    ['JSON, however its type is written', '', 'Application/JSON', '{"title":"x","sudo":"olu"}'],
    ['JSON by id', '', 'application/json; charset=utf-8', '{"sudo":8}'],
    ['the query before the body', '?sudo=olu', FORM, 'sudo=gone'],
  ])('acts as the user of %s', async (_, query, type, body) => {
    await (await post(query, type, body)).body.dump();
    expect(estate.collaboration.last).toMatchObject({
      claims: { sub: 8, usr: 'olu', imp: 1, sud: true },
      length: body.length,
    });
  });

  it('is refused in a body as elsewhere, and does not count inside another parameter', async () => {
    const answer = await post('', 'application/json', '{"sudo":"olu"}', 'mina');
    expect([answer.statusCode, await answer.body.json()]).toEqual([
      403,
      { message: '403 Forbidden - Must be admin to use sudo' },
    ]);
    for (const [type, body] of [
      ['application/json', '{"title":"sudo","meta":{"sudo":"olu"},"sudo":null}'],
      [FORM, 'title=sudo&a%5Bsudo%5D=olu'],
    ] as const) {
      await (await post('', type, body)).body.dump();
      expect(estate.collaboration.last.claims).toMatchObject({ sub: 1, imp: null });
      expect(estate.collaboration.last.claims).not.toHaveProperty('sud');
    }
  });

  it('is not lost when a body has two content types', async () => {
    const { port } = new URL(gateway.url);
    const types = `Content-Type: ${FORM}\r\nContent-Type: multipart/form-data; boundary=x\r\n`;
    const body = '--x\r\nContent-Disposition: form-data; name="sudo"\r\n\r\nolu\r\n--x--\r\n';
    const head = `POST /api/v4/todos/mark_as_done HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: root\r\nConnection: close\r\n${types}`;
    const said = await RawClient.exchange(Number(port), `${head}Content-Length: ${body.length}\r\n\r\n${body}`);
    expect(said).toMatch(/^HTTP\/1\.1 400 /);
    expect(said).toContain('{"message":"400 Bad request"}');
  });

  const SEVERAL = [400, { error: 'sudo names more than one person' }];
  it.each<[string, () => ReturnType<typeof request>]>([
    ['in the query', () => get('?sudo=olu&sudo=8', 'root')],
    ['in the query, both the same', () => get('?sudo=olu&sudo=olu', 'root')],
    ['in the query, one escaped', () => get('?s%75do=8&sudo=olu', 'root')],
    ['in the query, one of them a list', () => get('?sudo=olu&sudo[]=8', 'root')],
    ['in the query, one in capitals before it', () => get('?SUDO=8&sudo=olu', 'root')],
    ['in one of the query', () => get('?sudo=olu,8', 'root')],
    ['as headers', () => get('', 'root', ['olu', '8'])],
    ['in a form', () => post('', FORM, 'sudo=olu&title=x&sudo=8')],
    ['in JSON', () => post('', 'application/json', '{"sudo":8,"title":"sudo","sudo":"olu"}')],
    ['in JSON, one escaped', () => post('', 'application/json', '{"\\u0073udo":8,"sudo":"olu"}')],
    ['in JSON, one in capitals', () => post('', 'application/json', '{"sudo":"olu","SUDO":8}')],
  ])('is refused when it names two users: %s', async (_, send) => {
    const before = estate.collaboration.seen.length;
    const answer = await send();
    expect([answer.statusCode, await answer.body.json()]).toEqual(SEVERAL);
    expect(estate.collaboration.seen).toHaveLength(before);
  });

  it('is not cancelled by a blank value', async () => {
    for (const query of ['?sudo=olu&sudo=', '?sudo=olu&sudo', '?sudo=&sudo=olu', '?sudo=olu&SUDO=']) {
      await (await get(query, 'root')).body.dump();
      expect(estate.collaboration.last.claims).toMatchObject({ sub: 8, imp: 1, sud: true });
    }
    await (await post('', FORM, 'title=x&sudo=olu&sudo=')).body.dump();
    expect(estate.collaboration.last.claims).toMatchObject({ sub: 8, imp: 1, sud: true });
  });

  describe('in the body of a GET, which no service reads', () => {
    const MULTIPART = 'multipart/form-data; boundary=x';
    const read = (body: string | Readable, type: string, token = 'root', query = '', method: 'GET' | 'HEAD' = 'GET') =>
      request(`${gateway.url}/api/v4/todos${query}`, {
        method,
        headers: { 'private-token': token, 'content-type': type },
        body,
      });

    it.each([
      ['a form', FORM, 'sudo=olu'],
      ['JSON', 'application/json', '{"sudo":"olu"}'],
    ])('counts in %s', async (_, type, body) => {
      await (await read(body, type)).body.dump();
      expect(estate.collaboration.last.claims).toMatchObject({ sub: 8, imp: 1, sud: true });
    });

    it.each([
      ['a part', MULTIPART, '--x\r\nContent-Disposition: form-data; name="sudo"\r\n\r\nolu\r\n--x--\r\n'],
      ['a list in a form', FORM, 'sudo[]=olu'],
      ['an escaped name in a form', FORM, 's%75do=olu'],
      ['a list in JSON', 'application/json', '{"sudo":["olu"]}'],
      ['an escaped name in JSON', 'application/json', '{"\\u0073udo":"olu"}'],
      ['JSON that says it twice', 'application/json', '{"sudo":"olu","sudo":""}'],
      ['JSON of another type', 'application/vnd.api+json', '{"sudo":"olu"}'],
      ['JSON in other letters', 'application/json', Buffer.from('{"sudo":"olu"}', 'utf16le').toString('latin1')],
      ['a text', 'text/plain', 'sudo=olu'],
    ])('is refused as %s', async (_, type, body) => {
      const answer = await read(body, type);
      expect([answer.statusCode, await answer.body.json()]).toEqual([
        400,
        { error: 'sudo cannot be read here, it can be sent in the query or as a header' },
      ]);
      const head = await read(body, type, 'root', '', 'HEAD');
      await head.body.dump();
      expect(head.statusCode).toBe(400);
    });

    it('counts in a body without a stated length', async () => {
      const form = await read(Readable.from(['su', 'do=olu']), FORM);
      await form.body.dump();
      expect(form.statusCode).toBe(200);
      expect(estate.collaboration.last.claims).toMatchObject({ sub: 8, imp: 1, sud: true });
      const list = await read(Readable.from(['sudo[]=olu']), FORM);
      await list.body.dump();
      expect(list.statusCode).toBe(400);
      const { port } = new URL(gateway.url);
      const head = 'GET /api/v4/todos HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: root\r\nConnection: close\r\n';
      const nothing = await RawClient.exchange(Number(port), `${head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`);
      expect(nothing).toMatch(/^HTTP\/1\.1 200 /);
      expect(estate.collaboration.last.claims).toMatchObject({ sub: 1, imp: null });
    });

    const large = `sudo=olu&pad=${'x'.repeat(64 * 1024)}`;
    it.each([
      ['a large body', () => large],
      ['a large body of no stated length', () => Readable.from([large.slice(0, 60_000), large.slice(60_000)])],
    ])('is refused with %s', async (_, body) => {
      const answer = await read(body(), FORM);
      expect([answer.statusCode, await answer.body.json()]).toEqual([
        400,
        { error: 'the body of a read cannot be read here, parameters can be sent in the query' },
      ]);
    });

    it.each([
      ['gzip', 400],
      ['deflate, identity', 400],
      ['identity', 200],
    ])('is refused in a body that cannot be searched: %s is %d', async (encoding, status) => {
      const answer = await request(`${gateway.url}/api/v4/todos`, {
        method: 'GET',
        headers: { 'private-token': 'root', 'content-type': 'application/json', 'content-encoding': encoding },
        body: '{"a":1}',
      });
      await answer.body.dump();
      expect(answer.statusCode).toBe(status);
    });

    it('is refused in a body with a transfer coding', async () => {
      const head = `GET /api/v4/todos HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: root\r\nConnection: close\r\n`;
      const coded = `${head}Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`;
      expect(await RawClient.exchange(Number(new URL(gateway.url).port), coded)).toMatch(/^HTTP\/1\.1 400 /);
    });

    it.each([
      ['is blank in a form', FORM, 'a=1&sudo='],
      ['is blank in JSON', 'application/json', '{"sudo": " "}'],
      ['means nobody', 'application/json', '{"a":1,"sudo":null}'],
      ['is not there', 'text/plain', 'anything'],
    ])('does not count where it %s', async (_, type, body) => {
      await (await read(body, type)).body.dump();
      expect(estate.collaboration.last.claims).toMatchObject({ sub: 1, imp: null });
    });

    it('is checked after the caller, and not if the query names the user', async () => {
      const answer = await read('sudo[]=olu', FORM, 'unknown');
      await answer.body.dump();
      expect(answer.statusCode).toBe(401);
      await (await read('sudo[]=gone', FORM, 'root', '?sudo=olu')).body.dump();
      expect(estate.collaboration.last.claims).toMatchObject({ sub: 8, sud: true });
    });
  });

  it('names the administrator who impersonates the acting one', async () => {
    await (await get('?sudo=olu', 'as-root')).body.dump();
    expect(estate.collaboration.last.claims).toMatchObject({ sub: 8, usr: 'olu', adm: false, imp: 5 });
  });

  it.each([
    ['nobody', null, 'olu', 401, { message: '401 Unauthorized' }],
    ['a user', 'mina', 'olu', 403, { message: '403 Forbidden - Must be admin to use sudo' }],
    [
      'an administrator without the scope',
      'root-api',
      'olu',
      403,
      {
        error: 'insufficient_scope',
        error_description: 'The request requires higher privileges than provided by the access token.',
        scope: 'sudo',
      },
    ],
    ['an administrator naming nobody', 'root', '123', 404, { message: "404 User with ID or username '123' Not Found" }],
    [
      'an administrator naming a blocked user',
      'root',
      'gone',
      403,
      { message: '403 Forbidden - Your account has been blocked' },
    ],
  ])('refuses %s', async (_, token, ref, status, body) => {
    const answer = await get(`?sudo=${ref}`, token);
    expect(await answer.body.json()).toEqual(body);
    expect(answer.statusCode).toBe(status);
  });
});
