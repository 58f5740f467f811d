import { Controller } from '@nestjs/common';
import { noteDeleted } from '@rookery/contracts';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { prepareStatement } from '@rookery/persistence';

const dropOfNotes = prepareStatement(
  'award_emoji_drop_of_notes',
  `delete from award_emoji where awardable_id = any($1::bigint[]) and awardable_type = 'Note'`,
);

/** Deletes the emoji of deleted notes. Source: reference work-tracking 9.6. */
@Controller()
export class AwardRemovalConsumer {
  @Consume(noteDeleted, { effect: 'drop-award-emoji' })
  async noteDeleted({ tx, events }: EffectBatch<typeof noteDeleted>): Promise<void> {
    await tx.prepared(dropOfNotes, [events.map((event) => event.data.note_id)]);
  }
}
