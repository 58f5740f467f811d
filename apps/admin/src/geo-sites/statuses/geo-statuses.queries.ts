import { Injectable } from '@nestjs/common';
import type { Page, PageRequest } from '@rookery/kernel';
import { Database, ListQuery } from '@rookery/persistence';
import type { GeoSite } from '../geo-site.entity';
import type { ProbeResult, SiteFacts, SyncedNamespace } from './site-status';

/** A stored site with the result of its last check. */
export interface StatusRow {
  readonly site_id: number;
  readonly is_primary: boolean;
  readonly selective_sync_type: string | null;
  readonly namespaces: readonly SyncedNamespace[];
  readonly is_healthy: boolean;
  readonly health: string;
  readonly measured: SiteFacts | null;
  readonly checked_at: Date;
  readonly healthy_at: Date | null;
}

/** SQL: a jsonb array of the namespaces that the site `s` selects and that exist. */
const NAMESPACES = `(select coalesce(jsonb_agg(jsonb_build_object('id', n.id, 'name', n.name, 'path', n.path,
  'kind', n.kind, 'full_path', n.full_path, 'parent_id', n.parent_id) order by n.id), '[]')
  from directory_namespaces n where n.id = any(s.selective_sync_namespace_ids))`;

const ADDRESS = 'coalesce(s.internal_url, s.url)';
/**
 * SQL: the site is enabled and was checked at its present address. Evaluated per status as a subquery, so that the scan
 * stops when a page is full.
 */
const IS_KNOWN = `t.url = (select ${ADDRESS} from geo_sites s where s.id = t.geo_site_id and s.enabled)`;

const STORE = `
  insert into geo_site_statuses as known (geo_site_id, url, is_healthy, health, measured, checked_at, healthy_at)
  select s.id, $2, $3, $4, $5::jsonb, $6, case when $3 then $6::timestamptz end
  from geo_sites s where s.id = $1 for key share
  on conflict (geo_site_id) do update set url = excluded.url, is_healthy = excluded.is_healthy,
    health = excluded.health, checked_at = excluded.checked_at,
    measured = coalesce(excluded.measured, case when known.url = excluded.url then known.measured end),
    healthy_at = coalesce(excluded.healthy_at, case when known.url = excluded.url then known.healthy_at end)
  where known.checked_at <= excluded.checked_at`;

/** Sites in the order of creation, one batch at a time. */
const TO_PROBE = `
  select id, coalesce(internal_url, url) as address, name, is_primary as "isPrimary" from geo_sites
  where enabled and id > $1 order by id limit $2`;

/** $1 is `CurrentSite.name`. */
const NAMED = `select is_primary as "isPrimary" from geo_sites where rtrim(btrim(name), '/') = $1 limit 1`;

export type ProbedSite = Pick<GeoSite, 'id' | 'address' | 'name' | 'isPrimary'>;

/** Stored results of status checks. No other class reads or writes them. */
@Injectable()
export class GeoStatusesQueries {
  constructor(private readonly db: Database) {}

  list(request: PageRequest): Promise<Page<StatusRow>> {
    return this.statusQuery()
      .orderBy([['t.geo_site_id', 'asc']])
      .readPage(this.db, request);
  }

  /** Returns undefined when nothing is known of the site. */
  findStatus(siteId: number): Promise<StatusRow | undefined> {
    return this.statusQuery()
      .where((bind) => `t.geo_site_id = ${bind(siteId)}`)
      .readOne(this.db);
  }

  /** Stores a result, unless a newer one is stored or the site is deleted. */
  async storeResult(site: Pick<ProbedSite, 'id' | 'address'>, found: ProbeResult, checkedAt: Date): Promise<void> {
    const measured = found.measured === null ? null : JSON.stringify(found.measured);
    await this.db.query(STORE, [site.id, site.address, found.isHealthy, found.health, measured, checkedAt]);
  }

  /** Returns the first `count` enabled sites with an id above `after`. */
  sitesToProbe(after: number, count: number): Promise<ProbedSite[]> {
    return this.db.query<ProbedSite>(TO_PROBE, [after, count]);
  }

  /** Returns null when no site has that name. */
  async findSite(name: string): Promise<Pick<GeoSite, 'isPrimary'> | null> {
    const [site] = await this.db.query<Pick<GeoSite, 'isPrimary'>>(NAMED, [name]);
    return site ?? null;
  }

  private statusQuery(): ListQuery<StatusRow> {
    return new ListQuery<StatusRow>({
      name: 'geo_site_statuses',
      from: 'geo_site_statuses t',
      key: 't.geo_site_id',
      joins: 'join geo_sites s on s.id = t.geo_site_id',
      columns: `s.id as site_id, s.is_primary, s.selective_sync_type, ${NAMESPACES} as namespaces,
        t.is_healthy, t.health, t.measured, t.checked_at, t.healthy_at`,
    }).where(IS_KNOWN);
  }
}
