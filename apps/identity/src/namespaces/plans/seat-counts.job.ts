import { Inject, Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { Interruptible } from '@rookery/jobs';
import { Database } from '@rookery/persistence';
import type { Logger } from '@rookery/platform';
import { LOGGER } from '@rookery/platform';
import { housekeepingCron } from '../../identity.config';
import { usedSeatCountSql } from './seats-sql';

/** Groups per run: those that were counted longest ago. */
const ROUND = 200;

const DUE = `
  select n.id from namespaces n left join namespace_seats s on s.namespace_id = n.id
  where n.kind = 'group' and n.parent_id is null order by s.counted_at nulls first, n.id limit ${ROUND}`;

const COUNT = `
  insert into namespace_seats as known (namespace_id, max_seats_used, max_seats_used_changed_at, counted_at)
  select root.id, ${usedSeatCountSql('root')}, now(), now() from namespaces root where root.id = $1
  on conflict (namespace_id) do update set counted_at = excluded.counted_at,
    max_seats_used = greatest(known.max_seats_used, excluded.max_seats_used),
    max_seats_used_changed_at = case when excluded.max_seats_used > known.max_seats_used
      then excluded.max_seats_used_changed_at else known.max_seats_used_changed_at end`;

/** Records the highest number of seats that top-level groups have used. Source: reference identity-and-import 3. */
@Injectable()
export class SeatCountsJob {
  constructor(
    private readonly db: Database,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** An error in one group does not stop the others. */
  @Job('count-seats', { cron: housekeepingCron })
  async run(run?: Interruptible): Promise<void> {
    for (const { id } of await this.db.query<{ id: number }>(DUE)) {
      run?.signal.throwIfAborted();
      await this.db
        .query(COUNT, [id])
        .catch((error: unknown) =>
          this.logger.warn({ err: error, group_id: id }, 'counting the seats of a group failed'),
        );
    }
  }
}
