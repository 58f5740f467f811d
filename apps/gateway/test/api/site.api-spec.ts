import type { IncomingMessage, ServerResponse } from 'node:http';
import { request } from 'undici';
import { aHolder } from '../support/fake-identity';
import { Estate } from '../support/estate';
import type { Gateway } from '../support/estate';

/** Web pages over a gateway whose services are fakes. Source: reference pages 3. */
const FORM = 'application/x-www-form-urlencoded';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

const estate = new Estate();
let gateway: Gateway;

const answerJson = (value: unknown) => (_: IncomingMessage, response: ServerResponse) => {
  response.setHeader('Content-Type', 'application/json').end(JSON.stringify(value));
};
const answerMissingProject = (_: IncomingMessage, response: ServerResponse) => {
  response.writeHead(404, { 'Content-Type': 'application/json' }).end('{"message":"404 Project Not Found"}');
};

beforeAll(async () => {
  await estate.start();
  estate.identityInside.give('good', aHolder());
  estate.identity.on('/api/v4/user', answerJson({ username: 'mina' }));
  estate.identity.on('/api/v4/projects', answerJson([{ path_with_namespace: 'a/b', description: '<i>' }]));
  estate.identity.on('/api/v4/projects/a%2Fsecret', answerMissingProject);
  estate.identity.on('/api/v4/groups/a%2Fsecret', answerMissingProject);
  estate.identity.on('/api/v4/projects/a%2Fabsent', answerMissingProject);
  estate.identity.on('/api/v4/groups/a%2Fabsent', answerMissingProject);
  estate.identity.on('/api/v4/users', answerJson([]));
  estate.collaboration.on('/api/v4/todos', answerJson([]));
  gateway = await estate.gateway({ ROOKERY_EXTERNAL_URL: 'http://rook.test' });
});
afterAll(() => estate.stop());

async function requestPage(
  path: string,
  o: { cookie?: string; form?: Record<string, string>; headers?: Record<string, string>; of?: Gateway } = {},
): Promise<Answer> {
  const headers = {
    accept: 'text/html',
    ...(o.cookie === undefined ? {} : { cookie: o.cookie }),
    ...(o.form === undefined ? {} : { 'content-type': FORM }),
    ...o.headers,
  };
  const body = o.form === undefined ? null : new URLSearchParams(o.form).toString();
  const answer = await request(`${(o.of ?? gateway).url}${path}`, {
    method: body === null ? 'GET' : 'POST',
    headers,
    body,
  });
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}
async function signIn(fields: Record<string, string> = {}, of = gateway): Promise<{ answer: Answer; cookie: string }> {
  const answer = await requestPage('/-/sign_in', { form: { token: 'good', ...fields }, of });
  return { answer, cookie: String(answer.headers['set-cookie'] ?? '').split(';')[0]! };
}
const formTokenIn = ({ text }: Answer): string => /name="form_token" value="([^"]+)"/.exec(text)![1]!;

it('shows a page without scripts, with a policy that allows none', async () => {
  const { status, headers, text } = await requestPage('/-/projects');
  expect(status).toBe(200);
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  expect(headers['content-security-policy']).toBe(
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  );
  expect(headers).toMatchObject({
    'x-frame-options': 'DENY',
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
  });
  expect(text).toContain('<a href="/a/b">a/b</a>');
  expect(text).toContain('&lt;i&gt;');
  expect(text).not.toMatch(/<script|<i>/);
});

it('serves its stylesheet for ever', async () => {
  const [, path] = /href="(\/-\/assets\/[^"]+)"/.exec((await requestPage('/-/projects')).text)!;
  const { status, headers } = await requestPage(path!);
  expect([status, headers['content-type']]).toEqual([200, 'text/css; charset=utf-8']);
  expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
});

it.each([
  ['a client that wants JSON', '/a/b', { accept: 'application/json' }],
  ['a client that takes anything', '/v2/', { accept: '*/*' }],
  ['an encoded address of the API', '/%61pi/v4/nothing', {}],
  ['an unknown route of the API', '/api/v4/nothing', {}],
  ['a missing upload', '/uploads/nothing', {}],
])('answers %s with JSON as before', async (_, path, headers) => {
  const { status, text } = await requestPage(path, { headers });
  expect([status, JSON.parse(text)]).toEqual([404, { error: '404 Not Found' }]);
});

it('answers a POST that is no form with JSON as before', async () => {
  const { statusCode, body } = await request(`${gateway.url}/a/b`, {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json' },
  });
  expect([statusCode, await body.json()]).toEqual([404, { error: '404 Not Found' }]);
});

describe('signing in', () => {
  it('refuses a token that the API refuses', async () => {
    const { answer } = await signIn({ token: 'bad' });
    expect(answer.status).toBe(422);
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(answer.text).toContain('This token is invalid');
  });

  it('sets a sealed cookie that scripts and other sites cannot use', async () => {
    const { answer } = await signIn({ next: '/-/todos' });
    expect([answer.status, answer.headers['location']]).toEqual([303, '/-/todos']);
    const cookie = String(answer.headers['set-cookie']);
    expect(cookie).toMatch(/^rookery_session=Fe26\.2\*[^;]+; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax$/);
    expect(cookie).not.toContain('good');
  });

  it('sets a secure cookie of this host only where the instance has TLS', async () => {
    const secure = await estate.gateway({ ROOKERY_EXTERNAL_URL: 'https://rook.test' });
    const { answer } = await signIn({}, secure);
    expect(String(answer.headers['set-cookie'])).toMatch(/^__Host-rookery_session=.*; SameSite=Lax; Secure$/);
  });

  it.each(['//evil.test', '/\\evil.test', 'https://evil.test', '/a\r\nSet-Cookie: x=1', ''])(
    'does not lead to %j',
    async (next) => {
      const { answer } = await signIn({ next });
      expect([answer.status, answer.headers['location']]).toEqual([303, '/']);
    },
  );

  it('starts a new session each time, whatever cookie the browser had', async () => {
    const first = await signIn();
    const before = formTokenIn(await requestPage('/-/todos', { cookie: first.cookie }));
    const again = await requestPage('/-/sign_in', { form: { token: 'good' }, cookie: first.cookie });
    const [cookie] = String(again.headers['set-cookie']).split(';');
    expect(formTokenIn(await requestPage('/-/todos', { cookie: cookie! }))).not.toBe(before);
  });

  it('ends with the token, whose page then leads to the sign-in page', async () => {
    estate.identityInside.give('ending', aHolder({ token_id: 71 }));
    const { cookie } = await signIn({ token: 'ending' });
    expect((await requestPage('/-/todos', { cookie })).status).toBe(200);
    estate.collaboration.on('/api/v4/todos', (_, response) => {
      response.writeHead(401, { 'Content-Type': 'application/json' }).end('{"message":"401 Unauthorized"}');
    });
    const { status, headers } = await requestPage('/-/todos', { cookie });
    expect([status, headers['location']]).toEqual([303, '/-/sign_in?next=%2F-%2Ftodos']);
    expect(headers['set-cookie']).toMatch(/^rookery_session=; Path=\/; Max-Age=0/);
    estate.collaboration.on('/api/v4/todos', answerJson([]));
  });

  it('does not accept a changed cookie', async () => {
    const { cookie } = await signIn();
    expect((await requestPage('/-/todos', { cookie: `${cookie.slice(0, -4)}AAAA` })).status).toBe(200);
    expect((await requestPage('/-/todos', { cookie: 'rookery_session=nonsense' })).text).toContain('Sign in');
  });
});

describe('the list of sessions', () => {
  const list = '/-/profile/sessions';
  beforeEach(() => estate.identityInside.webSessions.clear());

  it('shows the browsers of the person, and leads strangers to the sign-in page', async () => {
    const { cookie } = await signIn();
    await requestPage('/-/sign_in', { form: { token: 'good' }, headers: { 'user-agent': 'Lynx <2>' } });
    const { status, text } = await requestPage(list, { cookie });
    expect(status).toBe(200);
    expect(text).toContain('Lynx &lt;2&gt;');
    expect(text.match(/this browser/g)).toHaveLength(1);
    expect(text.match(/End this session/g)).toHaveLength(1);
    expect((await requestPage(list)).headers['location']).toBe('/-/sign_in?next=%2F-%2Fprofile%2Fsessions');
  });

  it('ends another session at once', async () => {
    const [here, there] = [await signIn(), await signIn()];
    const form_token = formTokenIn(await requestPage('/-/todos', { cookie: here.cookie }));
    const [, other] = [...estate.identityInside.webSessions.keys()];
    const ended = await requestPage(list, { cookie: here.cookie, form: { form_token, session: other! } });
    expect([ended.status, ended.headers['location'], ended.headers['set-cookie']]).toEqual([303, list, undefined]);
    const { status, headers } = await requestPage('/-/todos', { cookie: there.cookie });
    expect([status, headers['location']]).toEqual([303, '/-/sign_in?next=%2F-%2Ftodos']);
    expect(headers['set-cookie']).toMatch(/^rookery_session=; Path=\/; Max-Age=0/);
    expect((await requestPage('/-/todos', { cookie: here.cookie })).status).toBe(200);
    expect((await requestPage('/-/todos', { cookie: there.cookie, form: { form_token, todo_id: '1' } })).status).toBe(
      303,
    );
  });

  it('signs out here with the own session', async () => {
    const { cookie } = await signIn();
    const form_token = formTokenIn(await requestPage(list, { cookie }));
    const [own] = [...estate.identityInside.webSessions.keys()];
    const { headers } = await requestPage(list, { cookie, form: { form_token, session: own! } });
    expect([headers['location'], headers['set-cookie']]).toEqual(['/', expect.stringMatching(/Max-Age=0/)]);
    expect(estate.identityInside.webSessions.size).toBe(0);
  });

  it('ends nothing without the token of the form', async () => {
    const { cookie } = await signIn();
    const [own] = [...estate.identityInside.webSessions.keys()];
    expect((await requestPage(list, { cookie, form: { session: own! } })).status).toBe(403);
    expect(estate.identityInside.webSessions.size).toBe(1);
  });

  it('is closed to tokens without the scope, which may sign out still', async () => {
    const [here, there] = [await signIn(), await signIn()];
    const form_token = formTokenIn(await requestPage('/-/todos', { cookie: here.cookie }));
    const [own, other] = [...estate.identityInside.webSessions.keys()];
    estate.identityInside.areSessionsOpen = false;
    try {
      expect((await requestPage(list, { cookie: here.cookie })).status).toBe(403);
      expect((await requestPage(list, { cookie: here.cookie, form: { form_token, session: other! } })).status).toBe(
        403,
      );
      expect((await requestPage('/-/todos', { cookie: there.cookie })).status).toBe(200);
      expect((await requestPage(list, { cookie: here.cookie, form: { form_token, session: own! } })).status).toBe(303);
    } finally {
      estate.identityInside.areSessionsOpen = true;
    }
  });

  it('loses the session of a browser that signs out or signs in again', async () => {
    const { cookie } = await signIn();
    await requestPage('/-/sign_in', { form: { token: 'good' }, cookie });
    expect(estate.identityInside.webSessions.size).toBe(1);
    const again = await signIn();
    const form_token = formTokenIn(await requestPage('/-/todos', { cookie: again.cookie }));
    await requestPage('/-/sign_out', { cookie: again.cookie, form: { form_token } });
    expect(estate.identityInside.webSessions.size).toBe(1);
    expect((await requestPage('/-/todos', { cookie: again.cookie })).status).toBe(303);
  });
});

it('leads strangers from hidden and missing addresses to the sign-in page alike', async () => {
  const hidden = await requestPage('/a/secret');
  const absent = await requestPage('/a/absent');
  expect([hidden.status, hidden.headers['location']]).toEqual([303, '/-/sign_in?next=%2Fa%2Fsecret']);
  expect([absent.status, absent.headers['location']]).toEqual([303, '/-/sign_in?next=%2Fa%2Fabsent']);
  const { cookie } = await signIn();
  const pages = await Promise.all(['/a/secret', '/a/absent'].map((path) => requestPage(path, { cookie })));
  expect(pages.map(({ status }) => status)).toEqual([404, 404]);
  expect(pages[0]!.text.replaceAll('secret', 'absent')).toBe(pages[1]!.text);
});

it.each([
  ['/a/former', '/a/new%20name'],
  ['/a/former/-/issues?state=closed', '/a/new%20name/-/issues?state=closed'],
])('leads from the former path %s to %s', async (former, now) => {
  const moved = (_: IncomingMessage, response: ServerResponse) => {
    response.writeHead(301, { Location: 'http://rook.test/api/v4/projects/7/issues?x=1' }).end('Moved');
  };
  estate.identity.on('/api/v4/projects/a%2Fformer', moved);
  estate.identity.on('/api/v4/groups/a%2Fformer', answerMissingProject);
  estate.collaboration.on('/api/v4/projects/a%2Fformer/issues', moved);
  estate.identity.on('/api/v4/projects/7', answerJson({ path_with_namespace: 'a/new name' }));
  const { cookie } = await signIn();
  const { status, headers } = await requestPage(former, { cookie });
  expect([status, headers['location']]).toEqual([303, now]);
});

it('survives an answer of a service that breaks off', async () => {
  const { cookie } = await signIn();
  estate.collaboration.on('/api/v4/todos', (_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 1000 }).write('[');
    response.destroy();
  });
  const { status, text } = await requestPage('/-/todos', { cookie });
  expect([status, text]).toEqual([503, expect.stringContaining('502 Bad Gateway')]);
  estate.collaboration.on('/api/v4/todos', answerJson([]));
  expect((await requestPage('/-/todos', { cookie })).status).toBe(200);
});

it('breaks off an answer that is too large for a page', async () => {
  const { cookie } = await signIn();
  estate.collaboration.on('/api/v4/todos', answerJson(['x'.repeat(9 * 1024 * 1024)]));
  const { status, text } = await requestPage('/-/todos', { cookie });
  expect([status, text]).toEqual([413, expect.stringContaining('too large for a page')]);
  estate.collaboration.on('/api/v4/todos', answerJson([]));
});

it('says that a service is away, and not that the page is missing', async () => {
  const away = (_: IncomingMessage, response: ServerResponse) => {
    response.writeHead(503, { 'Content-Type': 'application/json' }).end('{"message":"503 Service Unavailable"}');
  };
  estate.identity.on('/api/v4/projects/a%2Faway', away);
  expect((await requestPage('/a/away')).status).toBe(503);
});

it.each(['/a/b/-/__proto__/x', '/a/b/-/valueOf/x', '/a/b/-/constructor/issues', '/groups/-/epics/7', '/a/b/-/commit'])(
  'has no page at %s',
  async (path) => {
    const { cookie } = await signIn();
    const before = estate.collaboration.seen.length;
    expect((await requestPage(path, { cookie })).status).toBe(404);
    expect(estate.collaboration.seen).toHaveLength(before);
  },
);

describe('forms', () => {
  const marked = (): number =>
    estate.collaboration.seen.filter(({ url }) => url === '/api/v4/todos/mark_as_done').length;
  it.each([
    ['without the token of the session', {}, {}],
    ['with another token', { form_token: 'x' }, {}],
    ['from another site, as the browser says', null, { 'sec-fetch-site': 'cross-site' }],
    ['from another origin', null, { origin: 'http://evil.test' }],
  ])('refuse a write %s', async (_, fields, headers) => {
    const { cookie } = await signIn();
    const form = fields ?? { form_token: formTokenIn(await requestPage('/-/todos', { cookie })) };
    const before = marked();
    expect((await requestPage('/-/todos', { cookie, form, headers })).status).toBe(403);
    expect(marked()).toBe(before);
  });

  it('write with the token of the session, and lead back to the page', async () => {
    const { cookie } = await signIn();
    const form_token = formTokenIn(await requestPage('/-/todos', { cookie }));
    estate.collaboration.on('/api/v4/todos/mark_as_done', answerJson({}));
    const headers = { origin: 'http://rook.test', 'sec-fetch-site': 'same-origin' };
    const { status, headers: got } = await requestPage('/-/sign_out', { cookie, form: { form_token }, headers });
    expect([status, got['location']]).toEqual([303, '/']);
    expect(got['set-cookie']).toMatch(/^rookery_session=; Path=\/; Max-Age=0/);
  });

  it('of strangers lead to the sign-in page', async () => {
    expect((await requestPage('/-/todos', { form: { todo_id: '1' } })).headers['location']).toBe(
      '/-/sign_in?next=%2F-%2Ftodos',
    );
  });

  it('do not lead to another route', async () => {
    const { cookie } = await signIn();
    const form_token = formTokenIn(await requestPage('/-/todos', { cookie }));
    const before = marked();
    expect((await requestPage('/-/todos', { cookie, form: { form_token, todo_id: '..' } })).status).toBe(404);
    expect(marked()).toBe(before);
  });

  it('of a large comment are handled at once', async () => {
    const { cookie } = await signIn();
    const form_token = formTokenIn(await requestPage('/-/todos', { cookie }));
    const startedAt = performance.now();
    await requestPage('/-/sign_out', { cookie, form: { form_token, body: 'x'.repeat(200_000) } });
    expect(performance.now() - startedAt).toBeLessThan(1900);
  });

  it('are refused with too many fields', async () => {
    const { cookie } = await signIn();
    const form = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f${at}`, '']));
    expect((await requestPage('/-/todos', { cookie, form })).status).toBe(400);
  });

  it('are refused when they are too large', async () => {
    expect((await requestPage('/-/todos', { form: { body: 'x'.repeat(100_000) } })).status).toBe(413);
  });
});
