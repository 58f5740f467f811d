import { Controller } from '@nestjs/common';
import { noteDeleted } from '@rookery/contracts';
import { Unavailable } from '@rookery/kernel';
import { Consume } from '../../src';
import type { EffectBatch } from '../../src';

type DeletedNotes = EffectBatch<typeof noteDeleted>;

async function insertMarks({ tx, events }: DeletedNotes, effect: string): Promise<void> {
  await tx.query(`insert into marks (effect, note_id, batch) select $1, unnest($2::bigint[]), $3`, [
    effect,
    events.map((event) => event.data.note_id),
    events.length,
  ]);
}

/** Marks each note once for each delivery that the inbox lets through. Tests set which notes fail and which outages occur. */
@Controller()
export class MarkNotesConsumer {
  static poison = new Set<number>();
  static isAway = false;
  static calls = 0;

  static reset(): void {
    this.poison.clear();
    this.isAway = false;
    this.calls = 0;
  }

  @Consume(noteDeleted, { effect: 'mark-notes' })
  async mark(batch: DeletedNotes): Promise<void> {
    MarkNotesConsumer.calls += 1;
    await insertMarks(batch, 'mark-notes');
    if (MarkNotesConsumer.isAway) throw new Unavailable('identity away');
    const bad = batch.events.find((event) => MarkNotesConsumer.poison.has(event.data.note_id));
    if (bad) throw new Error(`note ${bad.data.note_id} is poison`);
  }
}

/** An effect that no user waits for. */
@Controller()
export class GatherNotesConsumer {
  @Consume(noteDeleted, { effect: 'gather-notes', gatherMs: 60_000 })
  async gather(batch: DeletedNotes): Promise<void> {
    await insertMarks(batch, 'gather-notes');
  }
}

/** A second effect of the same event, with a durable, an inbox name and retries of its own. */
@Controller()
export class CountNotesConsumer {
  @Consume(noteDeleted, { effect: 'count-notes' })
  async count(batch: DeletedNotes): Promise<void> {
    await insertMarks(batch, 'count-notes');
  }
}
