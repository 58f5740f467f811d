import { Controller } from '@nestjs/common';
import { groupDeleted } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { NoteableRemoval } from './noteable-removal';

/** Removes the noteables of a deleted group and their notes. Source: docs/architecture.md 3. */
@Controller()
export class DeletedGroupsConsumer {
  constructor(
    private readonly noteables: NoteableRemoval,
    private readonly directory: Directory,
  ) {}

  @Consume(groupDeleted, { effect: 'drop-epics' })
  async drop({ tx, events }: EffectBatch<typeof groupDeleted>): Promise<void> {
    const groupIds = events.map((event) => event.data.group_id);
    await this.directory.assertDeleted(tx, 'group', events, groupIds);
    await this.noteables.ofGroups(tx, groupIds);
  }
}
