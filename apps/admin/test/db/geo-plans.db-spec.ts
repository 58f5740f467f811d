import { join } from 'node:path';
import { Work } from '@rookery/persistence';
import { expectPlan, vacuumUntilVisible } from '@rookery/testing';
import type { Planned, SeededService } from '@rookery/testing';
import { Pool } from 'pg';
import { geoSites } from '../../src/geo-sites/geo-sites';
import { GeoStatusesQueries } from '../../src/geo-sites/statuses/geo-statuses.queries';
import { startAdmin } from '../support/app';

/** Plans of the lists over far more sites than any estate has, by shape. `UPDATE_GOLDEN=1` rewrites them. */
let service: SeededService;
let pool: Pool;
beforeAll(async () => {
  service = await startAdmin();
  pool = new Pool({ connectionString: service.databaseUrl, max: 1 });
  await pool.query(`
    insert into geo_sites (name, url, internal_url, is_primary, enabled, files_max_capacity, repos_max_capacity,
        verification_max_capacity, container_repositories_max_capacity, sync_object_storage, selective_sync_shards,
        selective_sync_namespace_ids, minimum_reverification_interval, blob_download_timeout)
      select 's' || g, 'https://s' || g || '.example/', null, false, g % 50 <> 0, 1, 1, 1, 1, false, '{}',
        array[g, g + 1], 7, 1 from generate_series(1, 20000) g;
    insert into geo_site_statuses (geo_site_id, url, is_healthy, health, checked_at)
      select id, url, true, 'Healthy', now() from geo_sites where id % 3 <> 0;
    insert into directory_namespaces (id, kind, traversal_ids, name, path, full_name, full_path, visibility,
        emails_enabled, plan, created_at)
      select 100000 + g, 'group', array[100000 + g], 'g' || g, 'g' || g, 'g' || g, 'g' || g, 'public', true, 'free', now()
      from generate_series(1, 5000) g;
  `);
  await vacuumUntilVisible(pool);
}, 400_000);
afterAll(async () => {
  await pool.end();
  await service.close();
});

const page = { page: 1, perPage: 20 };
const HOT: Readonly<Record<string, Planned>> = {
  'geo-sites/geo-sites': (db) => geoSites.on(service.app.get(Work), db).list({ page }),
  'geo-sites/geo-site-statuses': (db) => new GeoStatusesQueries(db).list(page),
  'geo-sites/geo-site-status': (db) => new GeoStatusesQueries(db).findStatus(7),
};

it.each(Object.entries(HOT))('%s', async (name, planned) => {
  await expectPlan(pool, join(__dirname, '../golden', name), planned);
});
