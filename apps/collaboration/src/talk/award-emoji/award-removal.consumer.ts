import { Controller } from '@nestjs/common';
import { noteDeleted, projectDeleted } from '@rookery/contracts';
import type { NoteableDeleted } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { prepared } from '@rookery/persistence';
import { NoteableKinds, noteables } from '../../base/noteables/noteable-kinds';

/** Units: rows. Small enough that no statement nears its time limit. */
const CHUNK = 5000;

const dropOfNotes = prepared(
  'award_emoji_drop_of_notes',
  `delete from award_emoji where awardable_id = any($1::bigint[]) and awardable_type = 'Note'`,
);
const dropOfNoteables = prepared(
  'award_emoji_drop_of_noteables',
  `delete from award_emoji where id in (
     select id from award_emoji where noteable_id = any($2::bigint[]) and noteable_type = $1 limit ${CHUNK}) returning 1`,
);
const dropOfProjects = prepared(
  'award_emoji_drop_of_projects',
  `delete from award_emoji where id in (
     select id from award_emoji where project_id = any($1::bigint[]) limit ${CHUNK}) returning 1`,
);

/** Emoji go with what they were given to. Source: reference work-tracking 9.6. */
@Controller()
export class AwardRemovalConsumer {
  constructor(
    private readonly kinds: NoteableKinds,
    private readonly directory: Directory,
  ) {}

  @Consume(noteDeleted, { effect: 'drop-award-emoji' })
  async noteDeleted({ tx, events }: EffectBatch<typeof noteDeleted>): Promise<void> {
    await tx.prepared(dropOfNotes, [events.map((event) => event.data.note_id)]);
  }

  @Consume(noteables.deleted, { effect: 'drop-award-emoji' })
  async deleted({ tx, events }: EffectBatch<NoteableDeleted>): Promise<void> {
    const values = [this.kinds.ofEvents(events).type, events.map((event) => event.aggregateId)];
    while ((await tx.prepared(dropOfNoteables, values)).length === CHUNK);
  }

  @Consume(projectDeleted, { effect: 'drop-award-emoji' })
  async projectDeleted({ tx, events }: EffectBatch<typeof projectDeleted>): Promise<void> {
    const ids = events.map((event) => event.data.project_id);
    await this.directory.gone(tx, 'project', events, ids);
    while ((await tx.prepared(dropOfProjects, [ids])).length === CHUNK);
  }
}
