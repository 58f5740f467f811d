import { connect } from 'node:net';
import type { Answer } from '../support/estate';
import { call, estate, mark, person, projectOf } from '../support/estate';
import type { Person } from '../support/estate';

/**
 * Bad input gets the documented 4xx JSON: never a 5xx, a stack trace or a hang.
 * Source: reference work-tracking 1.1; reference identity-and-import 1.1; reference reliability 6.1, 6.3.
 */
let owner: Person;
let notes: string;
let issues: string;

beforeAll(async () => {
  owner = await person('careful');
  const project = await projectOf(owner, 'hostile');
  issues = `/projects/${project.id}/issues`;
  await call('POST', issues, { token: owner.token, json: { title: 'target' } });
  notes = `${issues}/1/notes`;
});

const send = (method: string, path: string, options: Parameters<typeof call>[2] = {}) =>
  call(method, path, { token: owner.token, ...options });

function refused(answer: Answer, status: number, body: unknown): void {
  expect([answer.status, answer.body]).toEqual([status, body]);
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(answer.text).not.toMatch(/\bat .+\.(js|ts):\d+|node_modules|stack/);
}

const json = { 'content-type': 'application/json' };

describe('malformed requests', () => {
  it.each(['{"body":', '[1,2', 'nonsense', '{"a":1}}'])('malformed JSON: %s', async (body) => {
    refused(await send('POST', notes, { body, headers: json }), 400, {
      error: 'message body does not match declared format',
    });
  });

  it('an unknown content type', async () => {
    const answer = await send('POST', notes, { body: '<a/>', headers: { 'content-type': 'application/xml' } });
    refused(answer, 415, { error: "The provided content-type 'application/xml' is not supported." });
  });

  it.each([
    [{}, 'body is missing'],
    [{ body: 'a\u0000b' }, 'body is invalid'],
    [{ body: ['a'] }, 'body is invalid'],
    [{ body: { a: 1 } }, 'body is invalid'],
    [{ body: 'x', internal: 'perhaps' }, 'internal is invalid'],
    [{ body: 'x', created_at: 'yesterday' }, 'created_at is invalid'],
  ])('note %j', async (params, error) => {
    refused(await send('POST', notes, { json: params }), 400, { error });
  });

  it.each([
    ['12345678901234567890', 'note_id is invalid'],
    ['abc', 'note_id is invalid'],
    ['1.5', 'note_id is invalid'],
  ])('the note id %s', async (id, error) => {
    refused(await send('GET', `${notes}/${id}`), 400, { error });
  });

  it.each([
    ['page=x', 'page is invalid'],
    ['per_page=-1', 'per_page is invalid'],
    ['per_page=0', 'per_page has a value not allowed'],
    ['sort=sideways', 'sort does not have a valid value'],
    ['sort[]=asc', 'sort is invalid'],
    ['order_by=id', 'order_by does not have a valid value'],
  ])('the list of notes?%s', async (query, error) => {
    refused(await send('GET', `${notes}?${query}`), 400, { error });
  });

  it('a page of 20 digits, and one that is negative', async () => {
    const huge = await send('GET', `${notes}?page=99999999999999999999`);
    expect([huge.status, typeof huge.body.error]).toEqual([400, 'string']);
    expect((await send('GET', `${notes}?page=-3`)).headers.get('x-page')).toBe('1');
  });

  it('prototype keys are data', async () => {
    const answer = await send('POST', notes, {
      body: '{"body":"x","__proto__":{"internal":true},"constructor":{"prototype":{"internal":true}}}',
      headers: json,
    });
    expect([answer.status, answer.body.internal]).toEqual([201, false]);
  });

  it('deeply nested JSON', async () => {
    const answer = await send('POST', notes, {
      body: `{"body":${'['.repeat(5000)}${']'.repeat(5000)}}`,
      headers: json,
    });
    expect(answer.status).toBe(400);
  });
});

describe('sizes', () => {
  it('a body of 9 MB', async () => {
    const answer = await send('POST', notes, { json: { body: 'x'.repeat(9 * 1024 * 1024) } });
    refused(answer, 413, { message: '413 Request Entity Too Large' });
  });

  it('a note of a million characters is kept, one more is refused', async () => {
    const long = 'ä'.repeat(1_000_000);
    const kept = await send('POST', notes, { json: { body: long } });
    expect([kept.status, kept.body.body.length]).toEqual([201, 1_000_000]);
    const answer = await send('POST', notes, { json: { body: `${long}x` } });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'application/json']);
    expect(answer.text).toMatch(/too long/);
  });

  it('a query of 20 KiB', async () => {
    const answer = await send('GET', `${notes}?x=${'y'.repeat(20_000)}`);
    expect([answer.status, answer.status < 500]).toEqual([414, true]);
  });
});

describe('paths', () => {
  it.each(['/nothing', '/projects/1/issues/1/notes/1/more', '/'])('unknown route %s', async (path) => {
    const answer = await send('GET', path);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/json']);
  });

  it('a known path with another verb', async () => {
    const answer = await send('PATCH', notes);
    refused(answer, 405, { error: '405 Not Allowed' });
    expect(answer.headers.get('allow')).toMatch(/GET.*POST|POST.*GET/);
  });

  it.each(['%00', 'a%00b', '%2e%2e%2fetc', '%252F', 'a%2Fb%2F', '%ff'])('the project %s', async (ref) => {
    const answer = await send('GET', `/projects/${ref}`);
    expect([400, 404]).toContain(answer.status);
    expect(answer.headers.get('content-type')).toBe('application/json');
  });
});

describe('credentials', () => {
  it.each([
    ['an unknown token', { token: 'glpat-00000000000000000000' }],
    ['an empty bearer', { token: null, headers: { authorization: 'Bearer ' } }],
    ['binary data', { token: null, headers: { 'private-token': 'äöü%00' } }],
  ])('%s is 401 on private resources', async (_name, options) => {
    const answer = await call('GET', notes, options).catch((error: Error) => error);
    if (answer instanceof Error) return expect(answer.message).toMatch(/ByteString|header/i);
    expect([answer.status, answer.body]).toEqual([401, { message: '401 Unauthorized' }]);
  });

  it('internal headers from clients are dropped', async () => {
    const forged = Buffer.from(JSON.stringify({ sub: 1, adm: true })).toString('base64url');
    const answer = await call('GET', '/user', { token: null, headers: { 'x-rookery-context': `${forged}.k1.x` } });
    expect([answer.status, answer.body]).toEqual([401, { message: '401 Unauthorized' }]);
    expect([...answer.headers.keys()].filter((name) => name.startsWith('x-rookery-'))).toEqual([]);
  });
});

describe('raw connections', () => {
  const raw = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(estate.baseUrl);
      const socket = connect(Number(port), hostname);
      let answer = '';
      socket.setTimeout(60_000, () => socket.destroy(new Error('no answer in 60 s')));
      socket.on('data', (data) => (answer += data.toString()));
      socket.once('close', () => resolve(answer));
      // The gateway may cut the connection after its answer, before it has read all of the request.
      socket.once('error', (error) => answer === '' && reject(error));
      socket.write(text);
    });

  it('two lengths in one request are refused', async () => {
    const answer = await raw(
      'POST /api/v4/projects HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400/);
  });

  it('a header of 20 KiB is refused', async () => {
    const answer = await raw(
      `GET /api/v4/user HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Long: ${'y'.repeat(20_000)}\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 (400|431)/);
  });
});

it('the gateway still serves requests after all of these', async () => {
  expect((await call('GET', '/user', { token: owner.token })).body.username).toBe(`careful-${mark}`);
});
