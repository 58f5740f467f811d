import type { Viewer } from '@rookery/kernel';
import { registerListPagingTests, registerParameterEncodingTests, requestOf } from '@rookery/testing';
import type { SeededService, TestApp } from '@rookery/testing';
import { startAdmin } from '../support/app';

let service: SeededService;
let app: TestApp;
let administrator: Viewer;
let user: Viewer;

beforeAll(async () => {
  service = await startAdmin();
  ({ app } = service);
  administrator = service.seed.viewer(await service.seed.user({ admin: true }));
  user = service.seed.viewer(await service.seed.user());
});
afterAll(() => service.close());

const postMessage = (params: Record<string, unknown> = {}) =>
  app
    .as(administrator)
    .post('/api/v4/broadcast_messages')
    .send({ message: 'Tea at four', ...params });

async function createMessage(params: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
  const response = await postMessage(params);
  expect([response.status, response.text]).toEqual([201, expect.any(String)]);
  return response.body as Record<string, unknown>;
}

describe('POST /broadcast_messages', () => {
  it('creates a banner for one hour from now when only a text is given', async () => {
    const before = Date.now();
    const message = await createMessage();
    expect(Object.keys(message)).toEqual([
      'id',
      'message',
      'starts_at',
      'ends_at',
      'font',
      'target_access_levels',
      'target_path',
      'broadcast_type',
      'theme',
      'dismissable',
      'active',
    ]);
    expect(message).toMatchObject({
      message: 'Tea at four',
      font: '#FFFFFF',
      target_access_levels: [],
      target_path: null,
      broadcast_type: 'banner',
      theme: 'indigo',
      dismissable: false,
      active: true,
    });
    const starts = Date.parse(String(message['starts_at']));
    expect(starts).toBeGreaterThanOrEqual(before);
    expect(starts).toBeLessThanOrEqual(Date.now());
    expect(Date.parse(String(message['ends_at'])) - starts).toBe(3_600_000);
  });

  it('ignores the deprecated color parameter', async () => {
    expect(await createMessage({ color: '#123456' })).not.toHaveProperty('color');
  });

  it('stores a message that ends before it starts; it is never active', async () => {
    const message = await createMessage({ starts_at: '2026-02-01T00:00:00Z', ends_at: '2026-01-01T00:00:00Z' });
    expect(message).toMatchObject({
      starts_at: '2026-02-01T00:00:00.000Z',
      ends_at: '2026-01-01T00:00:00.000Z',
      active: false,
    });
  });

  it.each([
    [{ message: undefined }, { error: 'message is missing' }],
    [{ message: '  ' }, { message: { message: ["can't be blank"] } }],
    [{ message: ['a'] }, { error: 'message is invalid' }],
    [{ message: 'a\u0000b' }, { error: 'message is invalid' }],
    [{ starts_at: 'tomorrow' }, { error: 'starts_at is invalid' }],
    [{ ends_at: '2026-13-01' }, { error: 'ends_at is invalid' }],
    [{ font: 'white' }, { message: { font: ['must be a valid color code'] } }],
    [{ font: '#12345' }, { message: { font: ['must be a valid color code'] } }],
    [{ target_access_levels: [30, 60] }, { error: 'target_access_levels does not have a valid value' }],
    [{ target_access_levels: 'guest' }, { error: 'target_access_levels does not have a valid value' }],
    [{ target_path: ['/a'] }, { error: 'target_path is invalid' }],
    [{ target_access_levels: [11] }, { error: 'target_access_levels does not have a valid value' }],
    [{ broadcast_type: 'song' }, { error: 'broadcast_type does not have a valid value' }],
    [{ theme: 'pink' }, { error: 'theme does not have a valid value' }],
    [{ dismissable: 'maybe' }, { error: 'dismissable is invalid' }],
  ])('refuses %j', async (params, body) => {
    const response = await postMessage(params);
    expect([response.status, response.body]).toEqual([400, body]);
  });

  registerParameterEncodingTests({
    app: () => app,
    to: () => ({
      viewer: administrator,
      method: 'POST',
      path: '/api/v4/broadcast_messages',
      params: { message: 'Tea', target_access_levels: [30, 40], dismissable: true, theme: 'light-red' },
    }),
    seen: ({ message, target_access_levels, dismissable, theme }) => [
      message,
      target_access_levels,
      dismissable,
      theme,
    ],
    expected: ['Tea', [30, 40], true, 'light-red'],
  });

  it('writes an event for each change to the outbox, in the same transaction', async () => {
    const { id } = await createMessage();
    await app
      .as(administrator)
      .put(`/api/v4/broadcast_messages/${String(id)}`)
      .send({ theme: 'red' });
    await app.as(administrator).delete(`/api/v4/broadcast_messages/${String(id)}`);
    const rows = await service.database.query<{ type: string }>(
      'select type from outbox where aggregate_id = $1 order by id',
      [id],
    );
    expect(rows.map((row) => row.type.split('.').at(-2))).toEqual(['created', 'updated', 'deleted']);
  });
});

describe('permissions', () => {
  const requests = [
    ['POST', '/api/v4/broadcast_messages'],
    ['PUT', '/api/v4/broadcast_messages/1'],
    ['DELETE', '/api/v4/broadcast_messages/1'],
  ] as const;

  it.each(requests)('%s %s is for administrators', async (method, path) => {
    const anonymous = await requestOf(app.as(service.seed.anonymous()), method, path);
    expect([anonymous.status, anonymous.body]).toEqual([401, { message: '401 Unauthorized' }]);
    const ordinary = await requestOf(app.as(user), method, path);
    expect([ordinary.status, ordinary.body]).toEqual([403, { message: '403 Forbidden' }]);
  });

  it('all callers may read, also without a token', async () => {
    const { id } = await createMessage();
    for (const viewer of [service.seed.anonymous(), user, administrator]) {
      await app.as(viewer).get('/api/v4/broadcast_messages').expect(200);
      expect((await app.as(viewer).get(`/api/v4/broadcast_messages/${String(id)}`)).body).toMatchObject({ id });
    }
  });

  it('a read-only token cannot write', async () => {
    const reader = { ...administrator, scopes: ['read_api'] };
    await app.as(reader).get('/api/v4/broadcast_messages').expect(200);
    const response = await app.as(reader).post('/api/v4/broadcast_messages').send({ message: 'x' });
    expect([response.status, (response.body as Record<string, unknown>)['error']]).toEqual([403, 'insufficient_scope']);
  });
});

describe('PUT /broadcast_messages/:id', () => {
  it('changes only the sent fields', async () => {
    const before = await createMessage({ theme: 'blue', target_path: '/docs/*' });
    const response = await app
      .as(administrator)
      .put(`/api/v4/broadcast_messages/${String(before['id'])}`)
      .send({ message: 'Tea at five' });
    expect([response.status, response.body]).toEqual([200, { ...before, message: 'Tea at five' }]);
  });

  it('accepts an update without any field', async () => {
    const before = await createMessage();
    const response = await app
      .as(administrator)
      .put(`/api/v4/broadcast_messages/${String(before['id'])}`)
      .send({});
    expect([response.status, response.body]).toEqual([200, before]);
  });
});

describe.each(['GET', 'PUT', 'DELETE'] as const)('%s /broadcast_messages/:id', (method) => {
  it('answers 404 for an unknown message', async () => {
    const response = await requestOf(app.as(administrator), method, '/api/v4/broadcast_messages/999999');
    expect([response.status, response.body]).toEqual([404, { message: '404 Not found' }]);
  });

  it.each(['abc', '12345678901234567890'])('refuses the id %s', async (id) => {
    const response = await requestOf(app.as(administrator), method, `/api/v4/broadcast_messages/${id}`);
    expect([response.status, response.body]).toEqual([400, { error: 'id is invalid' }]);
  });
});

describe('DELETE /broadcast_messages/:id', () => {
  it('deletes the message; the second time answers 404', async () => {
    const { id } = await createMessage();
    const path = `/api/v4/broadcast_messages/${String(id)}`;
    const first = await app.as(administrator).delete(path);
    expect([first.status, first.text]).toEqual([204, '']);
    await app.as(administrator).delete(path).expect(404);
  });
});

describe('GET /broadcast_messages', () => {
  const rows = 5;
  beforeAll(async () => {
    await service.database.query('delete from broadcast_messages');
    for (let index = 0; index < rows; index += 1) await createMessage({ message: `message ${index}` });
  });

  it('lists the newest first', async () => {
    const { body }: { body: { id: number }[] } = await app.as(user).get('/api/v4/broadcast_messages').expect(200);
    const ids = body.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort((a, b) => b - a));
    expect(ids).toHaveLength(rows);
  });

  registerListPagingTests(() => ({ app, viewer: user, path: '/api/v4/broadcast_messages', rows }));

  it.each(['', '/displayed'])('%s refuses a page with more text than fits into memory', async (rest) => {
    await service.database.query(
      `insert into broadcast_messages (message, starts_at, ends_at, broadcast_type, theme)
       select repeat('x', 1000000), now(), now() + interval '1 hour', 'banner', 'indigo' from generate_series(1, 35)`,
    );
    try {
      const path = `/api/v4/broadcast_messages${rest}`;
      const { status, body } = await app.as(service.seed.anonymous()).get(path).query({ per_page: 40 });
      const error = 'per_page is too large for these texts (a page holds at most 32 MiB of them)';
      expect([status, body]).toEqual([400, { error }]);
      expect((await app.as(service.seed.anonymous()).get(path).query({ per_page: 2 })).body).toHaveLength(2);
    } finally {
      await service.database.query('delete from broadcast_messages where length(message) = 1000000');
    }
  });
});
