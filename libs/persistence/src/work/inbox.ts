import { Injectable } from '@nestjs/common';
import { prepareStatement } from '../sql/prepared';
import type { Tx } from './work';

const enter = prepareStatement(
  'inbox_enter',
  `insert into inbox (effect, event_id) select $1, unnest($2::uuid[])
   on conflict do nothing returning event_id`,
);

/** The processed events: one row for each (effect, event), written in the transaction of the effect itself. */
@Injectable()
export class Inbox {
  /**
   * Inserts events and returns those that this effect has not processed before. `effect` is the durable's name. Waits
   * for an event that another transaction is inserting.
   * Source: reference reliability 2.3.
   */
  async claimNew(tx: Tx, effect: string, eventIds: readonly string[]): Promise<Set<string>> {
    if (eventIds.length === 0) return new Set();
    // Sorted, so that two batches that share events lock them in the same order.
    const ids = [...new Set(eventIds)].sort();
    const rows = await tx.prepared<{ event_id: string }>(enter, [effect, ids]);
    return new Set(rows.map((row) => row.event_id));
  }
}
