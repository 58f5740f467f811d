import { Controller } from '@nestjs/common';
import { groupMoved } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { epicTree } from './epic-tree';

/** What becomes of parents and children when groups move. Source: reference work-tracking 5.7. */
@Controller()
export class EpicMovesConsumer {
  constructor(private readonly directory: Directory) {}

  @Consume(groupMoved, { effect: 'part-epics' })
  async moved({ tx, events }: EffectBatch<typeof groupMoved>): Promise<void> {
    await this.directory.settledFor(tx, events);
    await epicTree.part(
      tx,
      events.map((event) => event.data.group_id),
    );
  }
}
