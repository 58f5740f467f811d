import type { Viewer } from '@rookery/kernel';
import { registerListPagingTests } from '@rookery/testing';
import type { SeededService, TestApp } from '@rookery/testing';
import { signGeoRequest } from '../../src/geo-sites/statuses/geo-signature';
import { ProbeSitesJob } from '../../src/geo-sites/statuses/probe-sites.job';
import { startAdmin } from '../support/app';
import { startOtherSite, WELL } from '../support/other-site';
import type { OtherSite } from '../support/other-site';

const HERE = 'https://rookery.example';
const SECRET = 'a secret of all sites, long enough';
const MINUTE = 60_000;

let other: OtherSite;
let service: SeededService;
let app: TestApp;
let administrator: Viewer;
const now = (): Date => new Date();

beforeAll(async () => {
  other = await startOtherSite();
  const env = { ROOKERY_EXTERNAL_URL: HERE, GEO_SHARED_SECRET: SECRET, EGRESS_ALLOW: other.destination };
  service = await startAdmin({ env });
  ({ app } = service);
  administrator = service.seed.viewer(await service.seed.user({ admin: true }));
});
afterAll(async () => {
  await service.close();
  await other.close();
});
afterEach(async () => {
  other.requests.length = 0;
  other.answers = { status: 200, body: JSON.stringify(WELL) };
  await service.database.query('delete from geo_sites');
});

type Body = Record<string, unknown>;
let serial = 0;

async function createSite(params: Body = {}): Promise<number> {
  const own = { name: `Site ${++serial}`, url: other.url, ...params };
  const { body } = await app.as(administrator).post('/api/v4/geo_sites').send(own).expect(201);
  return (body as { id: number }).id;
}

const createPrimarySite = () => createSite({ name: HERE, url: HERE, primary: true });
const probeAllSites = () => app.get(ProbeSitesJob).run();
const requestStatus = (id: number, query: Body = {}) =>
  app.as(administrator).get(`/api/v4/geo_sites/${id}/status`).query(query);
const listStatuses = async (path = 'geo_sites/status'): Promise<Body[]> =>
  (await app.as(administrator).get(`/api/v4/${path}`).expect(200)).body as Body[];

describe('GET /geo_sites/current/failures', () => {
  const failures = (query: Body = {}, path = 'geo_sites') =>
    app.as(administrator).get(`/api/v4/${path}/current/failures`).query(query);

  it('is empty on a secondary; a trailing slash of its name is ignored', async () => {
    const id = await createSite();
    await service.database.query('update geo_sites set name = $1 where id = $2', [`${HERE}/`, id]);
    const { body, headers } = await failures({ type: 'wiki', failure_type: 'verification', per_page: 5 }).expect(200);
    expect([body, headers['x-total'], headers['x-per-page']]).toEqual([[], '0', '5']);
    expect((await failures({}, 'geo_nodes').expect(200)).body).toEqual([]);
  });

  it('is refused where this estate is not a site, and on the primary', async () => {
    await createSite();
    const none = await failures().expect(404);
    expect(none.body).toEqual({ message: '404 Geo site not found Not Found' });
    await createPrimarySite();
    const own = await failures().expect(403);
    expect(own.body).toEqual({
      message: '403 Forbidden - Failures can only be requested from a secondary site',
    });
    expect((await failures({ type: 'x' }).expect(400)).body).toEqual({ error: 'type does not have a valid value' });
    const kind = await failures({ failure_type: 'x' }).expect(400);
    expect(kind.body).toEqual({ error: 'failure_type does not have a valid value' });
  });
});

describe('a site that was not checked', () => {
  it('has no status', async () => {
    const id = await createSite();
    const response = await requestStatus(id);
    expect([response.status, response.body]).toEqual([404, { message: '404 Status for Geo site not found Not Found' }]);
    expect(await listStatuses()).toEqual([]);
  });
});

describe('the check of all sites', () => {
  it('sends signed requests to secondaries and stores their answers', async () => {
    const [here, there] = [await createPrimarySite(), await createSite()];
    await probeAllSites();
    expect(other.requests.map(({ method, url }) => [method, url])).toEqual([['GET', '/base/-/geo/status']]);
    expect(other.requests[0]!.headers).toMatchObject({
      'rookery-geo-signature': expect.stringMatching(/^t=\d{13},v1=/),
    });
    expect((await requestStatus(there)).body).toMatchObject({
      geo_node_id: there,
      healthy: true,
      health: 'Healthy',
      health_status: 'Healthy',
      version: '18.1.1-ee',
      projects_count: 7,
      last_successful_status_check_timestamp: expect.any(Number),
      _links: { self: `${HERE}/api/v4/geo_sites/${there}/status`, site: `${HERE}/api/v4/geo_sites/${there}` },
    });
    expect((await listStatuses()).map(({ geo_node_id: id }) => id)).toEqual([here, there]);
  });

  it('reports numbers for primaries and secondaries, and null for unknown ones', async () => {
    const [here, there] = [await createPrimarySite(), await createSite()];
    await probeAllSites();
    const [own, others] = [(await requestStatus(here)).body as Body, (await requestStatus(there)).body as Body];
    expect(own).toMatchObject({ uploads_count: 0, uploads_checksummed_count: 0, uploads_synced_count: null });
    expect(others).toMatchObject({ uploads_count: null, uploads_synced_count: 0, uploads_registry_count: 0 });
    expect(own).toMatchObject({ uploads_synced_in_percentage: '0.00%', db_replication_lag_seconds: null });
    expect(own).toMatchObject({ replication_slots_count: expect.any(Number), last_event_id: null });
    expect(others).toMatchObject({ replication_slots_count: null, replication_slots_used_in_percentage: null });
  });

  it('reports an unreachable site as unhealthy, and as healthy when it is back', async () => {
    await createPrimarySite();
    const id = await createSite();
    await probeAllSites();
    const seen = (await requestStatus(id)).body as Body;
    other.answers = { status: 503, body: '{}' };
    await probeAllSites();
    expect((await requestStatus(id)).body).toMatchObject({
      healthy: false,
      health_status: 'Unhealthy',
      health: 'The site answered 503.',
      projects_count: 7,
      last_successful_status_check_timestamp: seen['last_successful_status_check_timestamp'],
    });
    other.answers = { status: 200, body: JSON.stringify(WELL) };
    await probeAllSites();
    expect((await requestStatus(id)).body).toMatchObject({ healthy: true, health: 'Healthy' });
  });

  it('checks more sites than fit into one batch', async () => {
    await createPrimarySite();
    for (let index = 0; index < 10; index += 1) await createSite();
    await probeAllSites();
    expect(other.requests).toHaveLength(10);
    expect(await listStatuses()).toHaveLength(11);
  });

  it('skips disabled sites and hides their old status', async () => {
    const id = await createSite();
    await probeAllSites();
    await app.as(administrator).put(`/api/v4/geo_sites/${id}`).send({ enabled: false }).expect(200);
    await probeAllSites();
    expect(other.requests).toHaveLength(1);
    expect((await requestStatus(id, { refresh: true })).status).toBe(404);
    expect(await listStatuses()).toEqual([]);
  });

  it('has no status of a site whose address has changed', async () => {
    const id = await createSite();
    await probeAllSites();
    await app
      .as(administrator)
      .put(`/api/v4/geo_sites/${id}`)
      .send({ internal_url: `${other.url}/new` })
      .expect(200);
    expect((await requestStatus(id)).status).toBe(404);
    await probeAllSites();
    expect((await requestStatus(id)).body).toMatchObject({ healthy: true });
    expect(other.requests.at(-1)!.url).toBe('/base/new/-/geo/status');
  });

  it('does nothing where this site is a secondary', async () => {
    await createSite();
    await service.database.query(
      `insert into geo_sites select (jsonb_populate_record(g, jsonb_build_object('id', 1000000, 'name', $1::text))).* from geo_sites g`,
      [HERE],
    );
    await probeAllSites();
    expect(other.requests).toEqual([]);
  });
});

describe('a stored status', () => {
  it('expires: an old healthy result counts as unhealthy', async () => {
    const id = await createSite();
    await probeAllSites();
    const grow = (minutes: number) =>
      service.database.query(`update geo_site_statuses set checked_at = checked_at - $1 * interval '1 minute'`, [
        minutes,
      ]);
    await grow(1);
    expect((await requestStatus(id)).body).toMatchObject({ healthy: true });
    await grow(5);
    expect((await requestStatus(id)).body).toMatchObject({
      healthy: false,
      health_status: 'Unhealthy',
      health: expect.stringMatching(/^The site was last asked at 20/),
    });
    expect(await listStatuses()).toMatchObject([{ healthy: false }]);
  });

  it('is renewed by refresh and by repair', async () => {
    const id = await createSite();
    expect((await requestStatus(id, { refresh: true })).body).toMatchObject({ geo_node_id: id, healthy: true });
    other.answers = { status: 500, body: '' };
    const repaired = await app.as(administrator).post(`/api/v4/geo_sites/${id}/repair`).expect(200);
    expect(repaired.body).toMatchObject({
      id,
      name: expect.stringMatching(/^Site /),
      geo_node_id: id,
      healthy: false,
      health: 'The site answered 500.',
      health_status: 'Unhealthy',
      missing_oauth_application: false,
      _links: {
        self: `${HERE}/api/v4/geo_sites/${id}`,
        status: `${HERE}/api/v4/geo_sites/${id}/status`,
        repair: `${HERE}/api/v4/geo_sites/${id}/repair`,
        site: `${HERE}/api/v4/geo_sites/${id}`,
      },
    });
    expect((await requestStatus(id)).body).toMatchObject({ healthy: false });
    expect(other.requests).toHaveLength(2);
  });

  it('of this site is measured on each read', async () => {
    const id = await createPrimarySite();
    const before = ((await requestStatus(id)).body as { projects_count: number }).projects_count;
    await service.seed.project();
    const { body } = await requestStatus(id);
    expect(body).toMatchObject({ geo_node_id: id, healthy: true, projects_count: before + 1, version: '18.1.1-ee' });
    const { body: repaired } = await app.as(administrator).post(`/api/v4/geo_nodes/${id}/repair`).expect(200);
    expect(repaired).toMatchObject({ primary: true, healthy: true });
    expect(other.requests).toEqual([]);
  });

  it('lists the selected namespaces', async () => {
    const group = await service.seed.group();
    const id = await createSite({
      selective_sync_type: 'namespaces',
      selective_sync_namespace_ids: [group.id, 987_654],
    });
    await probeAllSites();
    expect((await requestStatus(id)).body).toMatchObject({
      selective_sync_type: 'namespaces',
      namespaces: [{ id: group.id, kind: 'group', full_path: expect.any(String) }],
    });
  });

  it('is not stored when the site was deleted meanwhile', async () => {
    const id = await createSite();
    const asked = app.as(administrator).post(`/api/v4/geo_sites/${id}/repair`);
    await service.database.query('delete from geo_sites');
    expect([200, 404]).toContain((await asked).status);
    expect(await service.database.query('select 1 from geo_site_statuses')).toEqual([]);
  });
});

describe('an answer', () => {
  it.each([
    ['that it is not well', { ...WELL, healthy: false, health: 'Too hot.' }, 'Too hot.'],
    ['nothing of its health', { ...WELL, healthy: 'yes' }, 'The site answered something that is no status.'],
    ['odd numbers', { ...WELL, projects_count: -1 }, 'The site answered something that is no status.'],
    ['odd words', { ...WELL, version: '<script>' }, 'The site answered something that is no status.'],
    ['a long story', { ...WELL, health: 'x'.repeat(256) }, 'The site answered something that is no status.'],
    ['nothing', null, 'The site answered something that is no status.'],
  ])('%s is unhealthy', async (_what, body, health) => {
    other.answers = { status: 200, body: JSON.stringify(body) };
    expect((await requestStatus(await createSite(), { refresh: true })).body).toMatchObject({ healthy: false, health });
  });

  it.each([
    [401, '{}', 'The site knows another GEO_SHARED_SECRET or another time (401).'],
    [200, 'no JSON', 'The site answered something that is no status.'],
    [200, JSON.stringify({ ...WELL, more: 'x'.repeat(70_000) }), 'The answer is larger than 65536 bytes.'],
  ])('%s with %s is unhealthy', async (status, body, health) => {
    other.answers = { status, body };
    expect((await requestStatus(await createSite(), { refresh: true })).body).toMatchObject({ healthy: false, health });
  });
});

describe('an address', () => {
  it.each([
    'http://127.0.0.1:1',
    'http://169.254.169.254',
    'https://10.0.0.1',
    'https://[::1]',
    'http://localhost:5432',
  ])('%s that is private is not requested unless it is allowed', async (url) => {
    const { body } = await requestStatus(await createSite({ url }), { refresh: true });
    expect(body).toMatchObject({ healthy: false, health: expect.stringContaining('is not in EGRESS_ALLOW') });
  });
});

describe('GET /-/geo/status', () => {
  const ask = (signature?: string) => {
    const request = app.as(service.seed.anonymous()).get('/-/geo/status');
    return signature === undefined ? request : request.set('rookery-geo-signature', signature);
  };

  it('returns the status of this estate for a valid signature', async () => {
    const { body } = await ask(signGeoRequest(SECRET, now())).expect(200);
    expect(body).toMatchObject({ ...WELL, projects_count: expect.any(Number), geo_node_id: null });
    expect(body).toMatchObject({ replication_slots_count: null });
    expect(body).not.toHaveProperty('_links');
  });

  it.each<[string, () => string | undefined]>([
    ['without a signature', () => undefined],
    ['with another secret', () => signGeoRequest('another secret of other sites, as long', now())],
    ['signed two minutes ago', () => signGeoRequest(SECRET, new Date(now().getTime() - 2 * MINUTE))],
    ['signed in two minutes', () => signGeoRequest(SECRET, new Date(now().getTime() + 2 * MINUTE))],
    ['with the secret itself', () => SECRET],
    ['with another time than was signed', () => signGeoRequest(SECRET, now()).replace(/t=\d/, 't=9')],
    ['with a part of a signature', () => signGeoRequest(SECRET, now()).slice(0, -2)],
  ])('%s is 401', async (_how, signature) => {
    const response = await ask(signature());
    expect([response.status, response.body]).toEqual([401, { message: '401 Unauthorized' }]);
  });

  it('accepts no signature in the URL, because URLs are logged', async () => {
    const signature = signGeoRequest(SECRET, now());
    await app.as(service.seed.anonymous()).get('/-/geo/status').query({ signature }).expect(401);
  });

  it('is 401 for administrators too', async () => {
    await app.as(administrator).get('/-/geo/status').expect(401);
  });
});

describe('an estate without a secret', () => {
  it('refuses status requests and sends none', async () => {
    const id = await createSite();
    const silent = await service.again({ GEO_SHARED_SECRET: '' });
    try {
      const request = silent.as(service.seed.anonymous()).get('/-/geo/status');
      await request.set('rookery-geo-signature', signGeoRequest('', now())).expect(401);
      const { body } = await silent.as(administrator).get(`/api/v4/geo_sites/${id}/status?refresh=true`).expect(200);
      expect(body).toMatchObject({ health: 'GEO_SHARED_SECRET is not set, so no site can be asked.' });
      expect(other.requests).toEqual([]);
    } finally {
      await silent.close();
    }
  });
});

describe.each(['geo_sites/status', 'geo_sites/statuses', 'geo_nodes/status', 'geo_nodes/statuses'])(
  'GET /%s',
  (path) => {
    it('lists the last results', async () => {
      const id = await createSite();
      await probeAllSites();
      expect(await listStatuses(path)).toMatchObject([{ geo_node_id: id, healthy: true }]);
    });
  },
);

describe('pages of statuses', () => {
  const rows = 5;
  beforeEach(async () => {
    for (let index = 0; index < rows; index += 1) await createSite();
    await probeAllSites();
  });

  registerListPagingTests(() => ({
    app,
    viewer: administrator,
    path: '/api/v4/geo_sites/status',
    rows,
    key: (row) => row['geo_node_id'],
  }));
});
