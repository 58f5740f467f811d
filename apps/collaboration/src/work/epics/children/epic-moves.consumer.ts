import { Controller } from '@nestjs/common';
import { groupMoved } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { epicTree } from './epic-tree';

/** Separates parents and children that a moved group put into different trees. Source: reference work-tracking 5.7. */
@Controller()
export class EpicTreeSeparationConsumer {
  constructor(private readonly directory: Directory) {}

  @Consume(groupMoved, { effect: 'part-epics' })
  async moved({ tx, events }: EffectBatch<typeof groupMoved>): Promise<void> {
    await this.directory.assertCurrentFor(tx, events);
    await epicTree.separate(
      tx,
      events.map((event) => event.data.group_id),
    );
  }
}
