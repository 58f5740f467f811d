import { Controller } from '@nestjs/common';
import { groupDeleted } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { dropInternalIds } from '@rookery/persistence';
import { dropEpicsOfGroups } from './epic-removal';

/** Epics go with their group. Source: docs/architecture.md 3. */
@Controller()
export class EpicsConsumer {
  constructor(private readonly directory: Directory) {}

  @Consume(groupDeleted, { effect: 'drop-epics' })
  async groupDeleted({ tx, events }: EffectBatch<typeof groupDeleted>): Promise<void> {
    const ids = events.map((event) => event.data.group_id);
    await this.directory.gone(tx, 'group', events, ids);
    await dropEpicsOfGroups(tx, ids);
    await dropInternalIds(tx, 'epics', ids);
  }
}
