import { Controller } from '@nestjs/common';
import { groupDeleted } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { DropWritings } from './drop-writings';

/** What belonged to a group goes with it: things of its kinds, and their notes. Source: docs/architecture.md 3. */
@Controller()
export class GroupDeletionConsumer {
  constructor(
    private readonly writings: DropWritings,
    private readonly directory: Directory,
  ) {}

  @Consume(groupDeleted, { effect: 'drop-epics' })
  async drop({ tx, events }: EffectBatch<typeof groupDeleted>): Promise<void> {
    const groupIds = events.map((event) => event.data.group_id);
    await this.directory.gone(tx, 'group', events, groupIds);
    await this.writings.ofGroups(tx, groupIds);
  }
}
