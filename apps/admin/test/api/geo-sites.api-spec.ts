import type { Viewer } from '@rookery/kernel';
import { registerListPagingTests, registerParameterEncodingTests, requestOf } from '@rookery/testing';
import type { Method, SeededService, TestApp } from '@rookery/testing';
import { startAdmin } from '../support/app';

const HERE = 'https://rookery.example';

let service: SeededService;
let app: TestApp;
let administrator: Viewer;
let user: Viewer;
let serial = 0;

beforeAll(async () => {
  service = await startAdmin({ env: { ROOKERY_EXTERNAL_URL: HERE } });
  ({ app } = service);
  administrator = service.seed.viewer(await service.seed.user({ admin: true }));
  user = service.seed.viewer(await service.seed.user());
});
afterAll(() => service.close());
afterEach(() => service.database.query('delete from geo_sites'));

type Body = Record<string, unknown>;
const uniqueSiteParams = (): Body => ({ name: `Site ${++serial}`, url: `https://site${serial}.example` });
const postSite = (params: Body) => app.as(administrator).post('/api/v4/geo_sites').send(params);

async function createSite(params: Body = {}): Promise<Body> {
  const response = await postSite({ ...uniqueSiteParams(), ...params });
  expect([response.status, response.text]).toEqual([201, expect.any(String)]);
  return response.body as Body;
}

const putSite = (site: Body, params: Body) =>
  app
    .as(administrator)
    .put(`/api/v4/geo_sites/${String(site['id'])}`)
    .send(params);

describe('POST /geo_sites', () => {
  it('creates a secondary with the defaults', async () => {
    const site = await createSite({ name: ' Himalaya ', url: 'https://himalaya.example/base' });
    const { id } = site;
    expect(Object.entries(site)).toEqual(
      Object.entries({
        id,
        name: 'Himalaya',
        url: 'https://himalaya.example/base/',
        internal_url: 'https://himalaya.example/base/',
        primary: false,
        enabled: true,
        current: false,
        files_max_capacity: 10,
        repos_max_capacity: 25,
        verification_max_capacity: 100,
        container_repositories_max_capacity: 10,
        selective_sync_type: null,
        selective_sync_shards: [],
        selective_sync_namespace_ids: [],
        minimum_reverification_interval: 7,
        blob_download_timeout: 28_800,
        sync_object_storage: false,
        web_edit_url: `${HERE}/admin/geo/sites/${String(id)}/edit`,
        web_geo_replication_details_url: `https://himalaya.example/base/admin/geo/sites/${String(id)}/replication/lfs_objects`,
        _links: {
          self: `${HERE}/api/v4/geo_sites/${String(id)}`,
          status: `${HERE}/api/v4/geo_sites/${String(id)}/status`,
          repair: `${HERE}/api/v4/geo_sites/${String(id)}/repair`,
        },
      }),
    );
  });

  it('creates a single primary, without settings for copying', async () => {
    const site = await createSite({ name: `${HERE}/`, url: HERE, primary: true, sync_object_storage: true });
    expect(site).toMatchObject({ primary: true, current: true });
    expect(site).not.toHaveProperty('sync_object_storage');
    expect(site).not.toHaveProperty('web_geo_replication_details_url');
    const second = await postSite({ ...uniqueSiteParams(), primary: true });
    expect([second.status, second.body]).toEqual([400, { message: { primary: ['node already exists'] } }]);
  });

  it('stores an internal address only if it differs from the URL', async () => {
    expect(await createSite({ internal_url: 'http://10.1.2.3:8080' })).toMatchObject({
      internal_url: 'http://10.1.2.3:8080/',
    });
    const site = await createSite({ url: 'https://same.example', internal_url: 'https://same.example/' });
    expect((await putSite(site, { url: 'https://moved.example' })).body).toMatchObject({
      internal_url: 'https://moved.example/',
    });
    expect(await createSite({ url: 'https://blank.example', internal_url: '' })).toMatchObject({
      internal_url: 'https://blank.example/',
    });
  });

  it('refuses a taken name, ignoring case', async () => {
    await createSite({ name: 'Himalaya' });
    const response = await postSite({ name: 'himalaya', url: 'https://other.example' });
    expect([response.status, response.body]).toEqual([400, { message: { name: ['has already been taken'] } }]);
  });

  it('allows several sites at one address', async () => {
    await createSite({ url: 'https://shared.example' });
    await createSite({ url: 'https://shared.example' });
  });

  it.each<[Body, Body]>([
    [{ name: undefined }, { error: 'name is missing' }],
    [{ url: undefined }, { error: 'url is missing' }],
    [{ name: ' ' }, { message: { name: ["can't be blank"] } }],
    [{ name: 'x'.repeat(256) }, { message: { name: ['is too long (maximum is 255 characters)'] } }],
    [{ url: '' }, { message: { url: ["can't be blank"] } }],
    [{ url: 'himalaya' }, { message: { url: ['must be a valid URL'] } }],
    [{ url: 'ftp://himalaya.example' }, { message: { url: ['is blocked: Only allowed schemes are http, https'] } }],
    [{ url: 'https://name:word@himalaya.example' }, { message: { url: ['must be a valid URL'] } }],
    [{ url: 'https://himalaya.example/?a' }, { message: { url: ['must be a valid URL'] } }],
    [
      { url: `https://himalaya.example/${'x'.repeat(1024)}` },
      { message: { url: ['is too long (maximum is 1024 characters)'] } },
    ],
    [{ internal_url: 'himalaya' }, { message: { internal_url: ['must be a valid URL'] } }],
    [{ primary: 'maybe' }, { error: 'primary is invalid' }],
    [{ primary: true, enabled: false }, { message: { enabled: ['Geo primary node cannot be disabled'] } }],
    [{ files_max_capacity: -1 }, { message: { files_max_capacity: ['must be greater than or equal to 0'] } }],
    [{ repos_max_capacity: -1 }, { message: { repos_max_capacity: ['must be greater than or equal to 0'] } }],
    [
      { verification_max_capacity: -1 },
      { message: { verification_max_capacity: ['must be greater than or equal to 0'] } },
    ],
    [
      { container_repositories_max_capacity: -1 },
      { message: { container_repositories_max_capacity: ['must be greater than or equal to 0'] } },
    ],
    [{ files_max_capacity: 'many' }, { error: 'files_max_capacity is invalid' }],
    [{ repos_max_capacity: 2 ** 40 }, { error: 'repos_max_capacity does not have a valid value' }],
    [
      { minimum_reverification_interval: 0 },
      { message: { minimum_reverification_interval: ['must be greater than or equal to 1'] } },
    ],
    [
      { blob_download_timeout: 86_401 },
      { message: { blob_download_timeout: ['must be less than or equal to 86400'] } },
    ],
    [{ selective_sync_type: 'some' }, { message: { selective_sync_type: ['is not included in the list'] } }],
    [{ selective_sync_namespace_ids: ['x'] }, { error: 'selective_sync_namespace_ids is invalid' }],
    [{ selective_sync_shards: 'a\u0000b' }, { error: 'selective_sync_shards is invalid' }],
    [
      { name: HERE },
      { message: { base: ['Current node must be the primary node or you will be locking yourself out'] } },
    ],
  ])('refuses %j', async (params, body) => {
    const response = await postSite({ ...uniqueSiteParams(), ...params });
    expect([response.status, response.body]).toEqual([400, body]);
  });

  registerParameterEncodingTests({
    app: () => app,
    to: () => ({
      viewer: administrator,
      method: 'POST',
      path: '/api/v4/geo_sites',
      params: {
        ...uniqueSiteParams(),
        enabled: false,
        repos_max_capacity: 5,
        selective_sync_type: 'namespaces',
        selective_sync_shards: ['default', 'cold'],
        selective_sync_namespace_ids: [7, 9],
      },
    }),
    seen: (site) => [
      site['enabled'],
      site['repos_max_capacity'],
      site['selective_sync_type'],
      site['selective_sync_shards'],
      site['selective_sync_namespace_ids'],
    ],
    expected: [false, 5, 'namespaces', ['default', 'cold'], [7, 9]],
  });

  it('accepts comma-separated lists', async () => {
    expect(
      await createSite({ selective_sync_shards: 'default,cold', selective_sync_namespace_ids: '7, 9,7' }),
    ).toMatchObject({
      selective_sync_shards: ['default', 'cold'],
      selective_sync_namespace_ids: [7, 9],
    });
  });
});

describe('permissions', () => {
  const requests: readonly (readonly [Method, string])[] = ['geo_sites', 'geo_nodes'].flatMap((noun) => [
    ['GET', `/api/v4/${noun}`] as const,
    ['POST', `/api/v4/${noun}`] as const,
    ['GET', `/api/v4/${noun}/status`] as const,
    ['GET', `/api/v4/${noun}/statuses`] as const,
    ['GET', `/api/v4/${noun}/1`] as const,
    ['PUT', `/api/v4/${noun}/1`] as const,
    ['DELETE', `/api/v4/${noun}/1`] as const,
    ['POST', `/api/v4/${noun}/1/repair`] as const,
    ['GET', `/api/v4/${noun}/1/status`] as const,
  ]);

  it.each(requests)(
    '%s %s is for administrators; the permission is checked before parameters',
    async (method, path) => {
      const anonymous = await requestOf(app.as(service.seed.anonymous()), method, path);
      expect([anonymous.status, anonymous.body]).toEqual([401, { message: '401 Unauthorized' }]);
      const ordinary = await requestOf(app.as(user), method, path);
      expect([ordinary.status, ordinary.body]).toEqual([403, { message: '403 Forbidden' }]);
    },
  );

  it('a read-only token cannot write', async () => {
    const reader = { ...administrator, scopes: ['read_api'] };
    await app.as(reader).get('/api/v4/geo_sites').expect(200);
    const response = await app.as(reader).post('/api/v4/geo_sites').send(uniqueSiteParams());
    expect([response.status, (response.body as Body)['error']]).toEqual([403, 'insufficient_scope']);
  });
});

describe('PUT /geo_sites/:id', () => {
  it('changes only the sent fields; the primary stays primary', async () => {
    const before = await createSite({ selective_sync_type: 'shards', selective_sync_shards: ['cold'] });
    const changed = await putSite(before, { files_max_capacity: 3, sync_object_storage: true, primary: true });
    expect([changed.status, changed.body]).toEqual([
      200,
      { ...before, files_max_capacity: 3, sync_object_storage: true },
    ]);
    const cleared = await putSite(before, { selective_sync_type: '', selective_sync_shards: [] });
    expect(cleared.body).toMatchObject({ selective_sync_type: null, files_max_capacity: 3 });
  });

  it('accepts an update without any field', async () => {
    const before = await createSite();
    const response = await putSite(before, {});
    expect([response.status, response.body]).toEqual([200, before]);
  });

  it('refuses to disable the primary', async () => {
    const response = await putSite(await createSite({ primary: true }), { enabled: false });
    expect([response.status, response.body]).toEqual([
      400,
      { message: { enabled: ['Geo primary node cannot be disabled'] } },
    ]);
  });

  it('refuses a taken name, and for a secondary the name of this site', async () => {
    const [first, second] = [await createSite({ name: 'First' }), await createSite()];
    const taken = await putSite(second, { name: 'FIRST' });
    expect([taken.status, taken.body]).toEqual([400, { message: { name: ['has already been taken'] } }]);
    const here = await putSite(first, { name: `${HERE}/` });
    expect([here.status, Object.keys((here.body as { message: Body }).message)]).toEqual([400, ['base']]);
  });
});

describe.each(['geo_sites', 'geo_nodes'])('%s', (noun) => {
  it.each<[Method, string]>([
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ['POST', '/repair'],
    ['GET', '/status'],
  ])('%s /:id%s answers 404 for an unknown site', async (method, rest) => {
    const missing = await requestOf(app.as(administrator), method, `/api/v4/${noun}/999999${rest}`);
    expect([missing.status, missing.body]).toEqual([404, { message: '404 GeoSite Not Found' }]);
    const odd = await requestOf(app.as(administrator), method, `/api/v4/${noun}/first${rest}`);
    expect([odd.status, odd.body]).toEqual([400, { error: 'id is invalid' }]);
  });

  it('can be read, changed and deleted, including the primary and this one', async () => {
    const { id } = await createSite({ name: HERE, primary: true });
    const path = `/api/v4/${noun}/${String(id)}`;
    const shown = await app.as(administrator).get(path);
    expect([shown.status, shown.body]).toMatchObject([200, { id, current: true }]);
    await app.as(administrator).put(path).send({ repos_max_capacity: 1 }).expect(200);
    const removed = await app.as(administrator).delete(path);
    expect([removed.status, removed.text]).toEqual([204, '']);
    await app.as(administrator).delete(path).expect(404);
  });
});

describe('GET /geo_sites', () => {
  const rows = 5;
  beforeEach(async () => {
    for (let index = 0; index < rows; index += 1) await createSite();
  });

  it('lists the oldest first', async () => {
    const { body }: { body: { id: number }[] } = await app.as(administrator).get('/api/v4/geo_sites').expect(200);
    const ids = body.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    expect(ids).toHaveLength(rows);
  });

  registerListPagingTests(() => ({ app, viewer: administrator, path: '/api/v4/geo_sites', rows }));
});
