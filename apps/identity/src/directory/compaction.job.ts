import { Inject, Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import { Work } from '@rookery/persistence';
import { housekeepingCron } from '../identity.config';

/** Age up to which superseded entries are kept, so that readers can continue after a short interruption. Units: ms. */
const KEPT_MS = 3_600_000;

const RAISE = `update directory_head set compacted_to = greatest(compacted_to, coalesce(
    (select c.version from directory_changes c where c.created_at < statement_timestamp() - $1::bigint * interval '1 millisecond'
     order by c.version desc limit 1), 0))
  returning compacted_to`;

// Keeps the newest entry of each row, including tombstones: without them a reader that is far behind would keep deleted
// rows.
const DELETE = `delete from directory_changes c where c.version <= $1 and (c.kind = 'token' or exists (
    select 1 from directory_changes newer where newer.kind = c.kind and newer.entity_id = c.entity_id
      and newer.version > c.version and newer.version <= $1))`;

/**
 * Removes superseded entries from the change log. The horizon (`compacted_to`) is raised and committed first. A reader
 * below the horizon commits nothing until it has read up to it, because the states in between are incomplete.
 * Source: ADR 0041.
 */
@Injectable()
export class ChangeLogCompactionJob {
  constructor(@Inject(Work) private readonly work: Work) {}

  @Job('compact-change-log', { cron: housekeepingCron })
  async compact(): Promise<void> {
    await this.run();
  }

  /** Raises the horizon, then removes superseded entries. Returns the number of removed entries. */
  async run(keptMs = KEPT_MS): Promise<number> {
    const horizon = await this.work.run(async (tx) => {
      const [head] = await tx.query<{ compacted_to: number }>(RAISE, [keptMs]);
      return head?.compacted_to ?? 0;
    });
    return this.work.run(async (tx) => {
      await tx.allowLongStatements();
      const [gone] = await tx.query<{ count: number }>(
        `with gone as (${DELETE} returning 1) select count(*)::integer as count from gone`,
        [horizon],
      );
      return gone?.count ?? 0;
    });
  }
}
