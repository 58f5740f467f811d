import { Injectable } from '@nestjs/common';
import { API_VERSION } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import type { SiteFacts } from './site-status';

const MEASURE = `
  select (select count(*) from directory_projects) as projects, (
    select jsonb_build_object('count', count(*), 'used', count(*) filter (where active),
      'retained', coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)), 0)::bigint)
    from pg_replication_slots) as slots`;

/** Measures this estate. Replication slots are those of this database's server. */
@Injectable()
export class OwnGeoStatusQueries {
  constructor(private readonly db: Database) {}

  async measure(): Promise<SiteFacts> {
    const [row] = await this.db.query<Omit<SiteFacts, 'version'>>(MEASURE);
    return { version: API_VERSION, ...row! };
  }
}
