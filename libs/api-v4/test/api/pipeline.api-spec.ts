import { connect } from 'node:net';
import type { Viewer } from '@rookery/kernel';
import {
  anonymousViewer,
  aViewer,
  parameterEncodings,
  paging,
  refusalOrder,
  startTestApp,
  TEST_INTERNAL_SECRET,
  visibility,
} from '@rookery/testing';
import type { TestApp, TestRequest } from '@rookery/testing';
import { rows, ThingsModule } from '../support/things';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ service: 'package', module: ThingsModule });
});
afterAll(() => app.close());

const member = (level: number): Viewer => aViewer({ userId: level });
const admin = aViewer({ userId: 1, isAdmin: true });

paging(() => ({
  app,
  viewer: member(10),
  path: '/projects/3/things',
  query: { labels: ['x', 'y z'] },
  rows: rows.length,
}));

visibility({
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
          : aViewer({ userId: levels[standing] ?? 99, isExternal: standing === 'external' });
    return { viewer, path: `/projects/${id}/things/1` };
  },
});

refusalOrder(
  () => app,
  () => ({
    method: 'POST',
    path: '/projects/group%2Fsecret/things',
    good: { title: 'x' },
    bad: { title: '', open: 'maybe' },
    anonymous: anonymousViewer(),
    outsider: member(99),
    reader: member(10),
    allowed: member(20),
  }),
);

parameterEncodings({
  app: () => app,
  to: () => ({
    viewer: member(40),
    method: 'POST',
    path: '/projects/1/things',
    params: { title: 'Grüße & 1', open: false, tags: ['a', 'b'], attributes: { color: 'red' }, parent_id: 5 },
  }),
  seen: ({ title, open, tags, color }) => ({ title, open, tags, color }),
  expected: { title: 'Grüße & 1', open: false, tags: ['a', 'b'], color: 'red' },
});

describe('an answer', () => {
  it('has the headers of the API, and no charset', async () => {
    const { headers, body } = await app.as(member(10)).get('/projects/1/things/1').send();
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('cache-control')).toBe('max-age=0, private, must-revalidate');
    expect(headers.get('vary')).toBe('Origin');
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get('x-runtime')).toMatch(/^\d+\.\d{6}$/);
    expect(body).toMatchObject({ id: 1, created_at: '2026-01-05T09:00:00.500Z', color: null });
  });

  it('is the same without a body for HEAD, refusals included', async () => {
    for (const path of ['/projects/1/things/1', '/projects/9/things/1']) {
      const [get, head] = [await app.as(member(10)).get(path).send(), await app.as(member(10)).head(path).send()];
      expect([head.status, head.text]).toEqual([get.status, '']);
      expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
      expect(head.headers.get('content-type')).toBe('application/json');
    }
  });

  it('may be text that the database built', async () => {
    expect((await app.as(member(10)).get('/projects/1/things/2').send()).text).toBe('{"id":2}');
    const page = await app.as(member(10)).get('/projects/1/things/as_json').send();
    expect([page.text, page.headers.get('x-total')]).toEqual(['[{"id":1}]', '1']);
  });

  it('is empty for 204 and 304', async () => {
    const gone = await app.as(member(10)).delete('/projects/1/things/1').send();
    expect([gone.status, gone.text, gone.headers.get('content-type')]).toEqual([204, '', null]);
    expect((await app.as(member(10)).get('/projects/1/things/5').send()).status).toBe(304);
  });

  it('may be bytes with a name, or another place', async () => {
    const bytes = await app.as(member(10)).get('//-/bytes').send();
    expect([bytes.text, bytes.headers.get('content-type'), bytes.headers.get('content-length')]).toEqual([
      'héllo',
      'text/plain',
      '6',
    ]);
    expect(bytes.headers.get('content-disposition')).toBe(`attachment; filename="_.txt"; filename*=UTF-8''%C3%A4.txt`);
    const elsewhere = await app.as(anonymousViewer()).get('//elsewhere').send();
    expect([elsewhere.status, elsewhere.headers.get('location')]).toEqual([302, 'http://host/there']);
  });

  it('may be a picture that caches ask for again by its version', async () => {
    const get = (known?: string, viewer = member(10)) => {
      const request = app.as(viewer).get('//-/picture');
      return (known === undefined ? request : request.header('if-none-match', known)).send();
    };
    const { status, text, headers } = await get();
    expect([status, text]).toEqual([200, 'png']);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': '3',
      'content-disposition': `inline; filename="_.png"; filename*=UTF-8''%C3%A4.png`,
      'content-security-policy': "default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'max-age=0, private, must-revalidate',
      etag: '"v1"',
    });
    expect((await get(undefined, anonymousViewer())).headers.get('cache-control')).toBe(
      'max-age=0, public, must-revalidate',
    );
    for (const known of ['"v1"', 'W/"v1"', '"v0", "v1"', '*']) {
      const answer = await get(known);
      expect([known, answer.status, answer.text, answer.headers.get('etag')]).toEqual([known, 304, '', '"v1"']);
    }
    expect((await get('"v2", v1')).status).toBe(200);
    const head = await app.as(member(10)).request('HEAD', '//-/picture').send();
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', '3']);
  });

  it('is found below an alias and with repeated slashes', async () => {
    expect((await app.as(member(10)).get('/projects/3/items').send()).body).toHaveLength(7);
    expect((await app.as(member(10)).get('/projects//3/things/1').send()).status).toBe(200);
  });

  it('goes on by keyset with a link alone', async () => {
    const { headers, body } = await app
      .as(member(10))
      .get('/projects/3/things')
      .query({ pagination: 'keyset', per_page: 5 })
      .send();
    expect([(body as unknown[]).length, headers.get('x-page')]).toEqual([5, null]);
    expect(headers.get('link')).toContain('id_after=5');
    const deep = await app.as(member(10)).get('/projects/3/things').query({ page: 9999 }).send();
    expect([deep.status, (deep.body as { error: string }).error]).toEqual([405, expect.stringContaining('type Thing')]);
  });
});

describe('a refusal', () => {
  const refusal = async (request: PromiseLike<{ status: number; body: unknown; headers: Headers }>) => {
    const { status, body, headers } = await request;
    expect(headers.get('content-type')).toBe('application/json');
    return [status, body];
  };

  it('knows unknown routes and wrong verbs', async () => {
    expect(await refusal(app.as(admin).get('/nowhere'))).toEqual([404, { error: '404 Not Found' }]);
    const wrong = await app.as(admin).patch('/projects/1/things').send({});
    expect([wrong.status, wrong.body, wrong.headers.get('allow')]).toEqual([
      405,
      { error: '405 Not Allowed' },
      'GET, HEAD, POST',
    ]);
    expect(await refusal(app.as(admin).get('/projects/group/secret/things'))).toEqual([
      404,
      { error: '404 Not Found' },
    ]);
  });

  it('is 404 for ids that nothing can have', async () => {
    for (const id of ['12345678901234567890', 'no%2Fwhere', '%00', '-1']) {
      expect((await app.as(admin).get(`/projects/${id}/things`).send()).body).toEqual({
        message: '404 Project Not Found',
      });
    }
    expect(await refusal(app.as(admin).get('/projects/1/things/12345678901234567890'))).toEqual([
      400,
      { error: 'thing_id is invalid' },
    ]);
  });

  it('trusts no context but the one of this very request', async () => {
    expect(await refusal(app.bare().get('/projects/3/things'))).toEqual([401, { message: '401 Unauthorized' }]);
    expect(await refusal(app.bare().get('/projects/3/things').header('x-rookery-context', 'a.b.c'))).toEqual([
      401,
      { message: '401 Unauthorized' },
    ]);
    expect(app.logs.filter((line) => line['msg'] === 'request context refused')).toHaveLength(2);
  });

  it('puts administrators before parameters, and parameters before everything that needs data', async () => {
    const post = (viewer: Viewer) => app.as(viewer).post('/admin_only').send({});
    expect((await post(anonymousViewer())).status).toBe(401);
    expect((await post(aViewer({ scopes: ['read_api'] }))).body).toMatchObject({ scope: 'api admin_mode' });
    expect((await post(aViewer())).body).toEqual({ message: '403 Forbidden' });
    expect((await post(admin)).body).toEqual({ error: 'title is missing' });
    const done = await app
      .as({ ...admin, scopes: ['admin_mode'] })
      .post('/admin_only')
      .send({ title: 'x' });
    expect([done.status, done.body]).toEqual([202, { message: '202 Accepted' }]);
  });

  it('may be an exception that the endpoint states', async () => {
    expect((await app.as(admin).post('/odd').send({})).body).toEqual({ message: '403 Forbidden - odd' });
    expect((await app.as(anonymousViewer()).post('/odd').send({})).status).toBe(401);
  });

  it('tells an anonymous caller to sign in where a rule says no', async () => {
    expect((await app.as(anonymousViewer()).get('/projects/3/things/6').send()).status).toBe(401);
    expect((await app.as(member(10)).get('/projects/3/things/6').send()).status).toBe(403);
  });

  it('shows nothing of an unexpected error, and logs it once with the request', async () => {
    const request = app.as(member(10)).get('/projects/1/things/3');
    await expect(request.send()).rejects.toThrow('answered 500, which it does not list');
    const lines = app.logs.filter((line) => line['msg'] === 'unexpected error');
    expect(lines).toHaveLength(1);
    expect(lines[0]!['requestId']).toMatch(/^[0-9a-f-]{36}$/);
    await expect(request.send()).rejects.not.toThrow('a secret detail');
  });

  it('fails the spec that sees a status which is not listed', async () => {
    await expect(app.as(admin).get('/status').send()).rejects.toThrow('answered 409, which it does not list');
    expect((await app.as(admin).get('/projects/1/things/4').send()).status).toBe(409);
  });

  it('compares If-Unmodified-Since in whole seconds', async () => {
    const remove = (since: string) =>
      app.as(member(10)).delete('/projects/1/things/1').header('if-unmodified-since', since).send();
    expect((await remove('Mon, 05 Jan 2026 08:59:59 GMT')).status).toBe(412);
    expect((await remove('Mon, 05 Jan 2026 09:00:00 GMT')).status).toBe(204);
  });
});

describe('a body', () => {
  const post = () => app.as(member(40)).post('/projects/1/things');

  it('may be announced as JSON and be missing', async () => {
    for (const method of ['GET', 'HEAD', 'DELETE'] as const) {
      const request = app.as(member(10)).request(method, '/projects/1/things/1');
      expect((await request.header('content-type', 'application/json').send()).status).toBeLessThan(300);
    }
    expect((await post().query({ title: 'x' }).body({}).send()).status).toBe(201);
    expect((await post().query({ title: 'x' }).body('').send()).status).toBe(201);
    expect((await post().query({ title: 'x' }).body('null').send()).status).toBe(201);
  });

  it.each(['{"title":', '[1]', '"text"', `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`])(
    'is refused as %.20s',
    async (text) => {
      const { status, body } = await post().body(text).send();
      expect([status, body]).toEqual([400, { error: 'message body does not match declared format' }]);
    },
  );

  it('is refused in other types, and past its limit', async () => {
    const other = await post().body('<x/>').header('content-type', 'text/xml').send();
    expect([other.status, other.body]).toEqual([
      415,
      { error: "The provided content-type 'text/xml' is not supported." },
    ]);
    const large = await post()
      .body({ title: 'x'.repeat(1024 * 1024) })
      .send();
    expect([large.status, large.body]).toEqual([413, { message: '413 Request Entity Too Large' }]);
    expect(large.headers.get('content-type')).toBe('application/json');
  });

  it('is judged after the caller: an anonymous one learns only that he is', async () => {
    const anonymous = await app.as(anonymousViewer()).post('/projects/1/things').body('{"title":').send();
    expect(anonymous.status).toBe(401);
  });

  it('reaches no prototype', async () => {
    const text =
      '{"title":"x","__proto__":{"open":false},"attributes":{"__proto__":{"color":"red"},"constructor":"c"}}';
    expect((await post().body(text).send()).body).toMatchObject({ title: 'x', open: true, color: null });
    expect(({} as Record<string, unknown>)['color']).toBeUndefined();
  });

  it('carries files in multipart, within the limit of the endpoint', async () => {
    const put = (size: number, params = {}) =>
      app
        .as(member(10))
        .put('/projects/1/things/picture')
        .multipart(params, { avatar: { filename: 'a.png', bytes: new Uint8Array(size) } })
        .send();
    expect((await put(100, { title: 't', file: '' })).body).toEqual({ filename: 'a.png', size: 100, title: 't' });
    expect((await put(4000)).status).toBe(413);
    const text = await app.as(member(10)).put('/projects/1/things/picture').multipart({ avatar: 'x' }).send();
    expect(text.body).toEqual({ error: 'avatar is missing' });
  });

  describe('with a file that may be taken away', () => {
    const put = () => app.as(member(10)).put('/projects/1/things/face');
    const raw = (...parts: string[]) =>
      put()
        .body([...parts.map((part) => `--x\r\nContent-Disposition: form-data; ${part}\r\n`), '--x--\r\n'].join(''))
        .header('content-type', 'multipart/form-data; boundary=x');
    const bytes = Buffer.from('png');
    const file = (name: string) => ({ avatar: { filename: name, bytes } });

    it.each<[string, () => TestRequest, string]>([
      ['a file', () => put().multipart({}, file('a.png')), 'png'],
      ['a file beside an empty text `file`', () => put().multipart({ file: '' }, file('a.png')), 'png'],
      ['a file without a type', () => raw('name="file"\r\n\r\n', 'name="avatar"; filename="a.png"\r\n\r\npng'), 'png'],
      [
        'a file after a blank text',
        () => raw('name="avatar"\r\n\r\n', 'name="avatar"; filename="a"\r\n\r\npng'),
        'png',
      ],
      [
        'a file under another name',
        () => put().multipart({ title: 't' }, { file: { filename: 'a.png', bytes } }),
        'png',
      ],
      ['an empty text under another name', () => put().multipart({ file: '' }), 'left'],
      ['a blank text part', () => put().multipart({ avatar: '' }), 'removed'],
      ['blanks in a form', () => put().form({ avatar: ' ' }), 'removed'],
      ['an empty JSON text', () => put().body({ avatar: '' }), 'removed'],
      ['JSON null', () => put().body({ avatar: null }), 'removed'],
      ['an empty text in the query', () => put().query({ avatar: '' }).body({}), 'removed'],
      ['a text', () => put().body({ avatar: 'a.png' }), 'left'],
      ['a text part', () => put().multipart({ avatar: 'a.png' }), 'left'],
      ['a list', () => put().body({ avatar: [] }), 'left'],
      [
        'a part of bytes without a name',
        () => raw('name="avatar"\r\nContent-Type: application/octet-stream\r\n\r\nx'),
        'left',
      ],
      ['nothing', () => put().body({}), 'left'],
    ])('reads %s', async (_, request, avatar) => {
      const { status, body } = await request().send();
      expect([status, body]).toEqual([200, { avatar }]);
    });
  });

  it('with a broken boundary or a broken query is the caller’s fault', async () => {
    const broken = await app
      .as(member(10))
      .put('/projects/1/things/picture')
      .body('--x\r\nbroken')
      .header('content-type', 'multipart/form-data; boundary=y')
      .send();
    expect(broken.status).toBe(400);
    expect((await app.as(member(10)).get('/projects/1/things?x=%zz').send()).status).toBe(400);
  });
});

describe('the inside', () => {
  const secret = `Bearer ${TEST_INTERNAL_SECRET}`;

  it('answers our own processes only', async () => {
    const ask = (authorization?: string) => {
      const request = app.bare().post('//internal/echo?a=1').body({ b: 2 });
      return (authorization === undefined ? request : request.header('authorization', authorization)).send();
    };
    expect((await ask()).status).toBe(401);
    expect((await ask('Bearer wrong')).status).toBe(401);
    expect((await ask(secret)).body).toEqual({ body: { b: 2 }, query: { a: '1' } });
  });

  it('covers ordinary Nest routes too', async () => {
    expect((await app.bare().get('//internal/plain').send()).status).toBe(401);
    expect((await app.bare().get('//internal/plain').header('authorization', secret).send()).text).toBe(
      '{"plain":true}',
    );
    const posted = await app.bare().post('//internal/plain').body({ a: 1 }).header('authorization', secret).send();
    expect(posted.text).toBe('{"a":1}');
    expect((await app.bare().get('//internal/nowhere').send()).status).toBe(404);
  });
});

it('answers hostile request lines, and lives on', async () => {
  const { port } = new URL(app.baseUrl);
  for (const line of ['GET /api/v4/%zz HTTP/1.1', 'GET /api/v4/projects/%E0%A4%A/things HTTP/1.1', 'GET // HTTP/1.1']) {
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
  expect((await app.as(admin).get('/projects/1/things/1').send()).status).toBe(200);
});
