import { connect } from 'node:net';
import type { Viewer } from '@rookery/kernel';
import {
  anonymousViewer,
  makeViewer,
  internalAuthorization,
  registerListPagingTests,
  registerParameterEncodingTests,
  registerRefusalOrderTests,
  requestOf,
  startTestApp,
  registerVisibilityTests,
} from '@rookery/testing';
import type { TestApp } from '@rookery/testing';
import type { Test } from 'supertest';
import { openApiDocument, registeredEndpoints, statusesOf } from '../../src';
import { builtWidget, rows, WidgetsModule } from '../support/widgets';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ service: 'package', module: WidgetsModule });
});
afterAll(() => app.close());

const member = (level: number): Viewer => makeViewer({ userId: level });
const admin = makeViewer({ userId: 1, isAdmin: true });

registerListPagingTests(() => ({
  app,
  viewer: member(10),
  path: '/api/v4/projects/3/widgets',
  query: { labels: ['x', 'y z'] },
  rows: rows.length,
}));

registerVisibilityTests({
  app: () => app,
  from: (level, standing) => {
    const id = { private: 1, internal: 2, public: 3 }[level];
    const levels: Partial<Record<string, number>> = {
      guest: 10,
      planner: 15,
      reporter: 20,
      developer: 30,
      maintainer: 40,
      owner: 50,
    };
    const viewer =
      standing === 'anonymous'
        ? anonymousViewer()
        : standing === 'admin'
          ? admin
          : makeViewer({ userId: levels[standing] ?? 99, isExternal: standing === 'external' });
    return { viewer, path: `/api/v4/projects/${id}/widgets/1` };
  },
});

registerRefusalOrderTests(
  () => app,
  () => ({
    method: 'POST',
    path: '/api/v4/projects/group%2Fsecret/widgets',
    good: { title: 'x' },
    bad: { title: '', open: 'maybe' },
    anonymous: anonymousViewer(),
    outsider: member(99),
    reader: member(10),
    allowed: member(20),
  }),
);

registerParameterEncodingTests({
  app: () => app,
  to: () => ({
    viewer: member(40),
    method: 'POST',
    path: '/api/v4/projects/1/widgets',
    params: { title: 'Grüße & 1', open: false, tags: ['a', 'b'], attributes: { color: 'red' }, parent_id: 5 },
  }),
  seen: ({ title, open, tags, color }) => ({ title, open, tags, color }),
  expected: { title: 'Grüße & 1', open: false, tags: ['a', 'b'], color: 'red' },
});

describe('an answer', () => {
  it('has the headers of the API, and no charset', async () => {
    const { headers, body } = await app.as(member(10)).get('/api/v4/projects/1/widgets/1');
    expect(headers['content-type']).toBe('application/json');
    expect(headers['cache-control']).toBe('max-age=0, private, must-revalidate');
    expect(headers['vary']).toBe('Origin');
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers['x-runtime']).toMatch(/^\d+\.\d{6}$/);
    expect(body).toMatchObject({ id: 1, created_at: '2026-01-05T09:00:00.500Z', color: null });
  });

  it('is the same without a body for HEAD, refusals included', async () => {
    for (const path of ['/api/v4/projects/1/widgets/1', '/api/v4/projects/9/widgets/1']) {
      const [get, head] = [await app.as(member(10)).get(path), await app.as(member(10)).head(path)];
      expect([head.status, head.text]).toEqual([get.status, undefined]);
      expect(head.get('content-length')).toBe(get.get('content-length'));
      expect(head.get('content-type')).toBe('application/json');
    }
  });

  it('may be JSON that the database built, which is sent unchanged', async () => {
    const member10 = app.as(member(10));
    expect((await member10.get('/api/v4/projects/1/widgets/2')).text).toBe(builtWidget(2));
    const page = await member10.get('/api/v4/projects/1/widgets/as_json');
    expect([page.text, page.get('x-total')]).toEqual([`[${builtWidget(1)}]`, '1']);
  });

  it('is empty for 204 and 304', async () => {
    const gone = await app.as(member(10)).delete('/api/v4/projects/1/widgets/1');
    expect([gone.status, gone.text, gone.get('content-type')]).toEqual([204, '', undefined]);
    await app.as(member(10)).get('/api/v4/projects/1/widgets/5').expect(304);
  });

  it('may be a file with a name, or a redirect', async () => {
    const bytes = await app.as(member(10)).get('/-/bytes');
    expect([bytes.text, bytes.get('content-type'), bytes.get('content-length')]).toEqual(['héllo', 'text/plain', '6']);
    expect(bytes.get('content-disposition')).toBe(`attachment; filename="_.txt"; filename*=UTF-8''%C3%A4.txt`);
    const elsewhere = await app.as(anonymousViewer()).get('/elsewhere');
    expect([elsewhere.status, elsewhere.get('location')]).toEqual([302, 'http://host/there']);
  });

  it('may be a picture that caches revalidate by its version', async () => {
    const get = (known?: string, viewer = member(10)) => {
      const request = app.as(viewer).get('/-/picture');
      return known === undefined ? request : request.set('if-none-match', known);
    };
    const { status, body, headers } = await get();
    expect([status, body]).toEqual([200, Buffer.from('png')]);
    expect(headers).toMatchObject({
      'content-type': 'image/png',
      'content-length': '3',
      'content-disposition': `inline; filename="_.png"; filename*=UTF-8''%C3%A4.png`,
      'content-security-policy': "default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'max-age=0, private, must-revalidate',
      etag: '"v1"',
    });
    expect((await get(undefined, anonymousViewer())).get('cache-control')).toBe('max-age=0, public, must-revalidate');
    for (const known of ['"v1"', 'W/"v1"', '"v0", "v1"', '*']) {
      const answer = await get(known);
      expect([known, answer.status, answer.text, answer.get('etag')]).toEqual([known, 304, '', '"v1"']);
    }
    await get('"v2", v1').expect(200);
    const head = await app.as(member(10)).head('/-/picture');
    expect([head.status, head.text, head.get('content-length')]).toEqual([200, undefined, '3']);
  });

  it('is the same under an alias and with repeated slashes', async () => {
    expect((await app.as(member(10)).get('/api/v4/projects/3/items')).body).toHaveLength(7);
    await app.as(member(10)).get('/api/v4/projects//3/widgets/1').expect(200);
  });

  it('has only a link to the next page with keyset paging', async () => {
    const { headers, body } = await app
      .as(member(10))
      .get('/api/v4/projects/3/widgets')
      .query({ pagination: 'keyset', per_page: 5 });
    expect([(body as unknown[]).length, headers['x-page']]).toEqual([5, undefined]);
    expect(headers['link']).toContain('id_after=5');
    const deep = await app.as(member(10)).get('/api/v4/projects/3/widgets').query({ page: 9999 });
    expect([deep.status, (deep.body as { error: string }).error]).toEqual([
      405,
      expect.stringContaining('type Widget'),
    ]);
  });
});

describe('a refusal', () => {
  const refusal = async (request: Test) => {
    const { status, body, headers } = await request;
    expect(headers['content-type']).toBe('application/json');
    return [status, body];
  };

  it('distinguishes unknown routes and wrong methods', async () => {
    expect(await refusal(app.as(admin).get('/api/v4/nowhere'))).toEqual([404, { error: '404 Not Found' }]);
    const wrong = await app.as(admin).patch('/api/v4/projects/1/widgets').send({});
    expect([wrong.status, wrong.body, wrong.get('allow')]).toEqual([
      405,
      { error: '405 Not Allowed' },
      'GET, HEAD, POST',
    ]);
    expect(await refusal(app.as(admin).get('/api/v4/projects/group/secret/widgets'))).toEqual([
      404,
      { error: '404 Not Found' },
    ]);
  });

  it('is 404 for impossible ids', async () => {
    for (const id of ['12345678901234567890', 'no%2Fwhere', '%00', '-1']) {
      expect((await app.as(admin).get(`/api/v4/projects/${id}/widgets`)).body).toEqual({
        message: '404 Project Not Found',
      });
    }
    expect(await refusal(app.as(admin).get('/api/v4/projects/1/widgets/12345678901234567890'))).toEqual([
      400,
      { error: 'widget_id is invalid' },
    ]);
  });

  it('is 301 for reads by a former path of a project, with the whole address kept, and 405 for writes', async () => {
    const former = '/api/v4/projects/group%2Fformer/widgets';
    const location = 'http://localhost:8080/api/v4/projects/1/widgets';
    for (const [path, target] of [
      [former, location],
      [`${former}?labels[]=a&labels[]=b%20c`, `${location}?labels[]=a&labels[]=b%20c`],
      [`${former}/1`, `${location}/1`],
      [`${former}?search=a?b`, `${location}?search=a?b`],
      [former.replace('%2F', '%2f'), location],
    ] as const) {
      const { status, headers } = await app.as(member(10)).get(path);
      expect([path, status, headers['location']]).toEqual([path, 301, target]);
    }
    const head = await app.as(member(10)).head(former);
    expect([head.status, head.get('location')]).toEqual([301, location]);
    const write = await app.as(member(20)).post(former).send({ title: 'x' });
    expect([write.status, write.body, write.get('location')]).toEqual([
      405,
      { message: 'Non GET methods are not allowed for moved projects' },
      undefined,
    ]);
    for (const [viewer, path] of [
      [member(99), former],
      [anonymousViewer(), former],
      [admin, former.replace('former', 'gone')],
    ] as const) {
      const { status, body } = await app.as(viewer).get(path);
      expect([status, body]).toEqual([404, { message: '404 Project Not Found' }]);
    }
  });

  it('is 401 without a valid context, and is logged', async () => {
    expect(await refusal(app.bare().get('/api/v4/projects/3/widgets'))).toEqual([401, { message: '401 Unauthorized' }]);
    expect(await refusal(app.bare().get('/api/v4/projects/3/widgets').set('x-rookery-context', 'a.b.c'))).toEqual([
      401,
      { message: '401 Unauthorized' },
    ]);
    expect(app.logs.filter((line) => line['msg'] === 'request context refused')).toHaveLength(2);
  });

  it('checks the administrator before parameters, and parameters before anything that needs data', async () => {
    const post = (viewer: Viewer) => app.as(viewer).post('/api/v4/admin_only').send({});
    await post(anonymousViewer()).expect(401);
    expect((await post(makeViewer({ scopes: ['read_api'] }))).body).toMatchObject({ scope: 'api admin_mode' });
    expect((await post(makeViewer())).body).toEqual({ message: '403 Forbidden' });
    expect((await post(admin)).body).toEqual({ error: 'title is missing' });
    const done = await app
      .as({ ...admin, scopes: ['admin_mode'] })
      .post('/api/v4/admin_only')
      .send({ title: 'x' });
    expect([done.status, done.body]).toEqual([202, { message: '202 Accepted' }]);
  });

  it('is no second success: an endpoint with two successes answers either', async () => {
    const post = (title: string) => app.as(makeViewer()).post('/api/v4/either').send({ title });
    const made = await post('x');
    expect([made.status, made.body]).toEqual([201, { title: 'x' }]);
    const none = await post('nothing');
    expect([none.status, none.body, none.get('content-length')]).toEqual([202, { why: 'é' }, '12']);
    const either = registeredEndpoints().find(({ path }) => path === '/either')!;
    expect(statusesOf(either)).toEqual(expect.arrayContaining([201, 202]));
    const { paths } = openApiDocument({ service: 'test', version: '0', endpoints: [either] }) as never as {
      paths: Record<string, { post: { responses: Record<string, object> } }>;
    };
    const { responses } = Object.values(paths)[0]!.post;
    expect(responses['202']).toEqual({
      description: 'Alternative success.',
      content: { 'application/json': { schema: { type: 'object', properties: { why: {} } } } },
      headers: { 'Idempotency-Replayed': { $ref: '#/components/headers/Idempotency-Replayed' } },
    });
  });

  it('may be an exception that the endpoint declares', async () => {
    expect((await app.as(admin).post('/api/v4/odd').send({})).body).toEqual({ message: '403 Forbidden - odd' });
    await app.as(anonymousViewer()).post('/api/v4/odd').send({}).expect(401);
  });

  it('is 401 for an anonymous caller whom a rule refuses', async () => {
    await app.as(anonymousViewer()).get('/api/v4/projects/3/widgets/6').expect(401);
    await app.as(member(10)).get('/api/v4/projects/3/widgets/6').expect(403);
  });

  it('shows no details of an unexpected error, which is logged once with the request id', async () => {
    const request = app.as(member(10)).get('/api/v4/projects/1/widgets/3');
    await expect(request).rejects.toThrow('answered 500, which it does not list');
    const lines = app.logs.filter((line) => line['msg'] === 'unexpected error');
    expect(lines).toHaveLength(1);
    expect(lines[0]!['requestId']).toMatch(/^[0-9a-f-]{36}$/);
    await expect(request).rejects.not.toThrow('a secret detail');
  });

  it('fails a spec that sees a status which is not listed', async () => {
    await expect(app.as(admin).get('/api/v4/status')).rejects.toThrow('answered 409, which it does not list');
    await app.as(admin).get('/api/v4/projects/1/widgets/4').expect(409);
  });

  it('fails a spec that sees JSON with a charset', async () => {
    await expect(app.as(admin).get('/-/charset')).rejects.toThrow('announced application/json; charset=utf-8');
  });

  it('compares If-Unmodified-Since in whole seconds', async () => {
    const remove = (since: string) =>
      app.as(member(10)).delete('/api/v4/projects/1/widgets/1').set('if-unmodified-since', since);
    await remove('Mon, 05 Jan 2026 08:59:59 GMT').expect(412);
    await remove('Mon, 05 Jan 2026 09:00:00 GMT').expect(204);
  });
});

describe('a body', () => {
  const post = () => app.as(member(40)).post('/api/v4/projects/1/widgets');

  it('may be missing although its content type is JSON', async () => {
    for (const method of ['GET', 'HEAD', 'DELETE'] as const) {
      const request = requestOf(app.as(member(10)), method, '/api/v4/projects/1/widgets/1');
      expect((await request.set('content-type', 'application/json')).status).toBeLessThan(300);
    }
    await post().query({ title: 'x' }).send({}).expect(201);
    await post().query({ title: 'x' }).type('json').send('').expect(201);
    await post().query({ title: 'x' }).type('json').send('null').expect(201);
  });

  it.each(['{"title":', '[1]', '"text"', `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`])(
    'is refused as %.20s',
    async (text) => {
      const { status, body } = await post().type('json').send(text);
      expect([status, body]).toEqual([400, { error: 'message body does not match declared format' }]);
    },
  );

  it('is refused with other content types, and over its limit', async () => {
    const other = await post().type('text/xml').send('<x/>');
    expect([other.status, other.body]).toEqual([
      415,
      { error: "The provided content-type 'text/xml' is not supported." },
    ]);
    const large = await post().send({ title: 'x'.repeat(1024 * 1024) });
    expect([large.status, large.body]).toEqual([413, { message: '413 Request Entity Too Large' }]);
    expect(large.get('content-type')).toBe('application/json');
  });

  it('is parsed after the caller is checked: an anonymous caller gets 401', async () => {
    await app.as(anonymousViewer()).post('/api/v4/projects/1/widgets').type('json').send('{"title":').expect(401);
  });

  it('cannot reach a prototype', async () => {
    const text =
      '{"title":"x","__proto__":{"open":false},"attributes":{"__proto__":{"color":"red"},"constructor":"c"}}';
    expect((await post().type('json').send(text)).body).toMatchObject({ title: 'x', open: true, color: null });
    expect(({} as Record<string, unknown>)['color']).toBeUndefined();
  });

  it('may be multipart with files, within the limit of the endpoint', async () => {
    const put = (size: number, params = {}) =>
      app
        .as(member(10))
        .put('/api/v4/projects/1/widgets/picture')
        .field(params)
        .attach('avatar', Buffer.alloc(size), 'a.png');
    expect((await put(100, { title: 't', file: '' })).body).toEqual({ filename: 'a.png', size: 100, title: 't' });
    await put(4000).expect(413);
    const text = await app.as(member(10)).put('/api/v4/projects/1/widgets/picture').field({ avatar: 'x' });
    expect(text.body).toEqual({ error: 'avatar is invalid' });
  });

  describe('with a removable file', () => {
    const put = () => app.as(member(10)).put('/api/v4/projects/1/widgets/face');
    const raw = (...parts: string[]) =>
      put()
        .type('multipart/form-data; boundary=x')
        .send([...parts.map((part) => `--x\r\nContent-Disposition: form-data; ${part}\r\n`), '--x--\r\n'].join(''));
    const bytes = Buffer.from('png');

    it.each<[string, () => Test, string]>([
      ['a file', () => put().attach('avatar', bytes, 'a.png'), 'png'],
      ['a file and an empty text `file`', () => put().field({ file: '' }).attach('avatar', bytes, 'a.png'), 'png'],
      ['a file without a type', () => raw('name="file"\r\n\r\n', 'name="avatar"; filename="a.png"\r\n\r\npng'), 'png'],
      [
        'a file after a blank text',
        () => raw('name="avatar"\r\n\r\n', 'name="avatar"; filename="a"\r\n\r\npng'),
        'png',
      ],
      ['a file under another name', () => put().field({ title: 't' }).attach('file', bytes, 'a.png'), 'png'],
      ['an empty text under another name', () => put().field({ file: '' }), 'left'],
      ['a blank text part', () => put().field({ avatar: '' }), 'removed'],
      ['blanks in a form', () => put().type('form').send({ avatar: ' ' }), 'removed'],
      ['an empty JSON text', () => put().send({ avatar: '' }), 'removed'],
      ['JSON null', () => put().send({ avatar: null }), 'removed'],
      ['an empty text in the query', () => put().query({ avatar: '' }).send({}), 'removed'],
      [
        'a part of bytes without a name',
        () => raw('name="avatar"\r\nContent-Type: application/octet-stream\r\n\r\nx'),
        'left',
      ],
      ['nothing', () => put().send({}), 'left'],
    ])('reads %s', async (_, request, avatar) => {
      const { status, body } = await request();
      expect([status, body]).toEqual([200, { avatar }]);
    });

    it.each<[string, () => Test]>([
      ['a text', () => put().send({ avatar: 'a.png' })],
      ['a text part', () => put().field({ avatar: 'a.png' })],
      ['a text under another name', () => put().send({ file: 'a.png' })],
      ['a text in the query', () => put().query({ avatar: 'a.png' }).send({})],
      ['a number', () => put().send({ avatar: 5 })],
      ['a list', () => put().send({ avatar: [] })],
    ])('refuses %s', async (_, request) => {
      const { status, body } = await request();
      expect([status, body]).toEqual([400, { error: 'avatar is invalid' }]);
    });
  });

  it('with a broken boundary or a broken query is the caller’s fault', async () => {
    await app
      .as(member(10))
      .put('/api/v4/projects/1/widgets/picture')
      .type('multipart/form-data; boundary=y')
      .send('--x\r\nbroken')
      .expect(400);
    await app.as(member(10)).get('/api/v4/projects/1/widgets?x=%zz').expect(400);
  });
});

const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');
const asBody = (body: unknown): never => body as never;

describe('sudo that the gateway did not act on', () => {
  const post = (viewer: Viewer = admin) => app.as(viewer).post('/api/v4/projects/1/widgets');
  const REFUSED = [400, { error: 'sudo cannot be read here, it can be sent in the query or as a header' }];
  const FORM = 'application/x-www-form-urlencoded';
  const PART = 'Content-Disposition: form-data; name="foo"';
  const SUDO_PART = 'Content-Disposition: form-data; name="sudo"';
  /** Sends a body whose second part has this header. */
  const parts = (head: string, before = ''): Test => {
    const title = '--x\r\nContent-Disposition: form-data; name="title"\r\n\r\nx\r\n';
    const body = `${before}${title}--x\r\n${head}\r\n\r\nolu\r\n--x--\r\n`;
    return post().set('content-type', 'multipart/form-data; boundary=x').send(body);
  };

  it.each<[string, () => Test]>([
    ['a text in JSON', () => post().send({ title: 'x', sudo: 'olu' })],
    ['an escaped name in JSON', () => post().type('json').send('{"title":"x","\\u0073udo":"olu"}')],
    ['JSON of another type', () => post().type('application/vnd.api+json').send('{"title":"x","sudo":"olu"}')],
    ['a list in JSON', () => post().send({ title: 'x', sudo: ['olu'] })],
    ['a hash in JSON', () => post().send({ title: 'x', sudo: { id: 2 } })],
    ['a truth in JSON', () => post().send({ title: 'x', sudo: true })],
    ['a form', () => post().type(FORM).send('title=x&sudo=olu')],
    ['JSON that says it is a form', () => post().query('title=x').type(FORM).send('{"sudo":"olu"}')],
    [
      'longer JSON that says it is a form',
      () => post().query('title=x').type(FORM).send(' {"a":"b=c&d","s\\u0075do":"olu"}'),
    ],
    ['the same, escaped', () => post().query('title=x').type(FORM).send('%7B%22sudo%22%3A+%22olu%22%7D')],
    ['a list of it', () => post().query('title=x').type(FORM).send('[{"sudo":"olu"}]')],
    ['an escaped name in a form', () => post().type(FORM).send('title=x&s%75do=olu')],
    ['a text in JSON, none after it', () => post().type('json').send('{"title":"x","sudo":"olu","sudo":null}')],
    [
      'an escaped name in JSON, a blank one after it',
      () => post().type('json').send('{"title":"\\"","\\u0073udo" : ["olu"],"sudo":""}'),
    ],
    ['a name in capitals in the query', () => post().query('title=x&SUDO=olu')],
    ['a name in capitals in JSON', () => post().send({ title: 'x', Sudo: 'olu' })],
    ['a name with a bracket', () => post().query('title=x&sudo[=olu')],
    ['a name in brackets', () => post().query('title=x&[sudo]=olu')],
    ['a name with a blank', () => post().query('title=x&sudo%20=olu')],
    ['a name after a second question mark', () => post().query('title=x&?sudo=olu')],
    ['a list in the query', () => post().query('title=x&sudo[]=olu')],
    ['an item in the query', () => post().query('title=x&sudo[0]=olu')],
    ['a hash in the query', () => post().query('title=x&sudo[a]=olu')],
    ['a parameter of a GET', () => app.as(admin).get('/api/v4/projects/1/widgets').query('sudo[]=olu')],
    ['a part', () => post().field({ title: 'x', sudo: 'olu' })],
    ['a part, a blank one after it', () => post().field({ title: 'x', sudo: 'olu' }).field('sudo', '')],
    ['an escaped name, a blank one after it', () => post().type(FORM).send('title=x&s%75do=olu&sudo=')],
    ['a list, a blank text after it', () => post().query('title=x&sudo[]=olu&sudo=')],
    ['a part that is a file without a name', () => post().field({ title: 'x' }).attach('sudo', Buffer.from('olu'), '')],
    ['a name in capitals, a blank one after it', () => post().query('title=x&SUDO=olu&SUDO=')],
    ['a list of such a name, a blank text after it', () => post().query('title=x&Sudo[]=olu&Sudo=')],
    ['such a name in JSON, none after it', () => post().type('json').send('{"title":"x","SUDO":"olu","SUDO":null}')],
    ['a part of such a name, a blank one after it', () => post().field({ title: 'x', Sudo: 'olu' }).field('Sudo', '')],
    [
      'a part of such a name that is a file without one',
      () => post().field({ title: 'x' }).attach('SUDO', Buffer.from('olu'), ''),
    ],
    ['a part that is a file', () => post().field({ title: 'x' }).attach('sudo', Buffer.from('olu'), 'sudo.txt')],
    ['a name in wide letters', () => post().send({ title: 'x', ｓｕｄｏ: 'olu' })],
    ['a name with a letter that is not seen', () => post().send({ title: 'x', 'su\u200bdo': 'olu' })],
    ['a name of UTF-16 in JSON', () => post().send({ title: 'x', 's\0u\0d\0o\0': 'olu' })],
    ['a name that is escaped twice', () => post().query('title=x&s%2575do=olu')],
    ['a part of two names', () => parts('Content-Disposition: form-data; name="sudo"; name="foo"')],
    ['a part of a name in pieces', () => parts('Content-Disposition: form-data; name*0=su; name*1=do')],
    ['a part of pieces in another order', () => parts('Content-Disposition: attachment; name*1=do; name*0*=su')],
    ['a part of a name in UTF-8, escaped', () => parts("Content-Disposition: form-data; name*=utf-8''s%75do")],
    ['such a part in UTF-16', () => parts("Content-Disposition: form-data; name*=utf-16le''s%00u%00d%00o%00")],
    ['such a part in base64', () => parts("Content-Disposition: form-data; name*=base64''c3Vkbw==")],
    ['such a part that is left out', () => parts("Content-Disposition: attachment; name*=base64'en'c3Vkbw==")],
    ['a part of an encoded word', () => parts('Content-Disposition: form-data; name="=?utf-8?B?c3Vkbw==?="')],
    ['a part of two such words', () => parts('Content-Disposition: form-data; name="=?us-ascii?q?su?= =?x?q?=64o?="')],
    ['an encoded word in JSON', () => post().send({ title: 'x', '=?utf-8?q?s=75do?=': 'olu' })],
    ['a part of an escaped name', () => parts('Content-Disposition: form-data; name="s%75do"')],
    ['a part of a name with a backslash', () => parts('Content-Disposition: form-data; name="su\\do"')],
    ['a part of another disposition', () => parts('Content-Disposition: attachment; name="sudo"')],
    ['a folded header of such a part', () => parts('content-disposition: attachment;\r\n name=sudo')],
    ['a part of two dispositions', () => parts(`${PART}\r\nContent-Disposition: form-data; name="sudo"`)],
    ['a part before the first', () => parts(PART, 'Content-Disposition: form-data; name="sudo"\r\n\r\nolu\r\n')],
    ['a part after the last', () => parts(`${PART}\r\n\r\ny\r\n--x--\r\n--x\r\n${SUDO_PART}`)],
    [
      'a part within a part',
      () =>
        parts(`${PART}\r\nContent-Type: multipart/mixed; boundary=y\r\n\r\n--y\r\n${SUDO_PART}\r\n\r\nolu\r\n--y--`),
    ],
  ])('is refused as %s', async (_, send) => {
    const { status, body } = await send();
    expect([status, body]).toEqual(REFUSED);
  });

  it.each<[string, string, Buffer, number, string]>([
    ['a form of UTF-16', FORM, utf16('sudo=olu'), 400, 'parameters are not encoded correctly'],
    ['a form of UTF-16, backwards', FORM, utf16('sudo=olu').swap16(), 400, 'parameters are not encoded correctly'],
    ['a form that says so', `${FORM}; charset=UTF-16`, utf16('sudo=olu'), 415, 'charset=UTF-16'],
    ['JSON that says so', 'application/json; charset="utf-16le"', utf16('{"sudo":"olu"}'), 415, 'charset="utf-16le"'],
    ['a form of EBCDIC', FORM, Buffer.from('a2a4849680', 'hex'), 400, 'message body does not match declared format'],
    [
      'parts that say so',
      'multipart/form-data; boundary=x; charset=utf-32',
      Buffer.from('--x--'),
      415,
      'charset=utf-32',
    ],
    ['a name with a NUL', FORM, Buffer.from('su%00do=olu'), 400, 'parameters are not encoded correctly'],
  ])('is not searched for in other encodings, which are refused: %s', async (_, type, content, status, problem) => {
    const sent = await post().query('title=x').set('content-type', type).serialize(asBody).send(content);
    const error = status === 415 ? `The provided content-type '${type}' is not supported.` : problem;
    expect([sent.status, sent.body]).toEqual([status, { error }]);
    expect(error).toContain(problem);
  });

  it.each(['application/json', FORM, 'multipart/form-data; boundary=x'])(
    'is not searched for in an encoded %s, which is refused',
    async (type) => {
      const coded = post().query('title=x').set({ 'content-type': type, 'content-encoding': 'base64' });
      const sent = await coded.serialize(asBody).send(Buffer.from(Buffer.from('sudo=olu').toString('base64')));
      const error = `The provided content-type '${type}, base64' is not supported.`;
      expect([sent.status, sent.body]).toEqual([415, { error }]);
    },
  );

  it.each<[string, () => Test]>([
    [
      'that is in the name or text of a file',
      () => post().field({ title: 'sudo' }).attach('a', Buffer.from('name="sudo"'), 'sudo'),
    ],
    [
      'in letters that say they are ASCII',
      () => post().set('content-type', `${FORM}; Charset=US-ASCII`).send('title=x'),
    ],
    ['that is null', () => post().send({ title: 'x', sudo: null })],
    ['that is empty', () => post().type(FORM).send('title=x&sudo=')],
    ['that is part of a name', () => post().query('title=x&sudoku=olu&pseudo=x')],
    ['that is blank', () => post().send({ title: 'x', sudo: ' ' })],
    ['that is blank in capitals', () => post().type('json').send('{"title":"x","SUDO":null,"SUDO":""}')],
    [
      'that is null, with another one inside a parameter',
      () => post().type('json').send('{"title":"a \\"sudo\\": b","attributes":{"sudo":"olu"},"sudo":null}'),
    ],
    ['within another parameter', () => post().send({ title: 'x', attributes: { sudo: 'olu' } })],
    [
      'of a caller for whom the gateway has read one',
      () =>
        post(makeViewer({ userId: 40, impersonatorId: 1, isBySudo: true }))
          .query({ sudo: 'olu' })
          .send({ title: 'x' }),
    ],
  ])('is not assumed for a parameter %s', async (_, send) => {
    expect((await send()).status).toBe(201);
  });
});

describe('internal routes', () => {
  const ours = internalAuthorization('identity', 'package');

  it('answer the processes that may call them', async () => {
    const ask = (authorization?: string) => {
      const request = app.bare().post('/internal/echo?a=1').send({ b: 2 });
      return authorization === undefined ? request : request.set('authorization', authorization);
    };
    await ask().expect(401);
    await ask('Bearer wrong').expect(401);
    // The key for calls in the other direction, and the key of two other processes.
    await ask(internalAuthorization('package', 'identity')).expect(401);
    await ask(internalAuthorization('identity', 'admin')).expect(401);
    const other = await ask(internalAuthorization('import', 'package'));
    expect([other.status, other.body]).toEqual([403, { message: '403 Forbidden' }]);
    expect((await ask(ours)).body).toEqual({ body: { b: 2 }, query: { a: '1' } });
  });

  it('include ordinary Nest routes', async () => {
    await app.bare().get('/internal/plain').expect(401);
    expect((await app.bare().get('/internal/plain').set('authorization', ours)).text).toBe('{"plain":true}');
    const posted = await app.bare().post('/internal/plain').send({ a: 1 }).set('authorization', ours);
    expect(posted.text).toBe('{"a":1}');
    await app.bare().get('/internal/nowhere').expect(404);
  });
});

it('answers hostile request lines, and keeps running', async () => {
  const { port } = new URL(app.baseUrl);
  for (const line of [
    'GET /api/v4/%zz HTTP/1.1',
    'GET /api/v4/projects/%E0%A4%A/widgets HTTP/1.1',
    'GET // HTTP/1.1',
  ]) {
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1', () =>
        socket.write(`${line}\r\nHost: h\r\nConnection: close\r\n\r\n`),
      );
      let text = '';
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.on('end', () => resolve(text));
      socket.on('error', reject);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d/);
  }
  await app.as(admin).get('/api/v4/projects/1/widgets/1').expect(200);
});
