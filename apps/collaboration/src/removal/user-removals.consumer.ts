import { Controller } from '@nestjs/common';
import { userDeleted } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Jobs } from '@rookery/jobs';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { prepareStatement } from '@rookery/persistence';
import { handOverReferences } from './user-removals';

const insertDepartures = prepareStatement(
  'departures_begin',
  `insert into user_departures (user_id, ghost_user_id, hard_delete)
   select * from unnest($1::bigint[], $2::bigint[], $3::boolean[]) on conflict do nothing`,
);

/** Records removed users and starts the job for each: the work is too much for one transaction. Source: ADR 0136. */
@Controller()
export class UserRemovalsConsumer {
  constructor(
    private readonly jobs: Jobs,
    private readonly directory: Directory,
  ) {}

  @Consume(userDeleted, { effect: 'hand-over' })
  async userDeleted({ tx, events }: EffectBatch<typeof userDeleted>): Promise<void> {
    const column = <K extends keyof (typeof events)[number]['data']>(key: K) => events.map(({ data }) => data[key]);
    await this.directory.assertDeleted(tx, 'user', events, column('user_id'));
    await tx.prepared(insertDepartures, [column('user_id'), column('ghost_user_id'), column('hard_delete')]);
    for (const { data } of events) await this.jobs.enqueue(tx, handOverReferences, { user_id: data.user_id });
  }
}
