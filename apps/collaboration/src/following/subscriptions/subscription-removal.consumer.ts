import { Controller } from '@nestjs/common';
import { projectDeleted } from '@rookery/contracts';
import type { NoteableDeleted } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { prepared } from '@rookery/persistence';
import { NoteableKinds, noteables } from '../../base/noteables/noteable-kinds';

/** Units: rows. Small enough that no statement nears its time limit. */
const CHUNK = 5000;

const dropOfNoteables = prepared(
  'subscriptions_drop_of_noteables',
  `delete from subscriptions where noteable_id = any($2::bigint[]) and noteable_type = $1`,
);
const dropOfProjects = prepared(
  'subscriptions_drop_of_projects',
  `delete from subscriptions where ctid = any(array(
     select ctid from subscriptions where project_id = any($1::bigint[]) limit ${CHUNK})) returning 1`,
);

/** Subscriptions go with what was followed. Source: reference work-tracking 9.7. */
@Controller()
export class SubscriptionRemovalConsumer {
  constructor(
    private readonly kinds: NoteableKinds,
    private readonly directory: Directory,
  ) {}

  @Consume(noteables.deleted, { effect: 'drop-subscriptions' })
  async deleted({ tx, events }: EffectBatch<NoteableDeleted>): Promise<void> {
    const ids = events.map((event) => event.aggregateId);
    await tx.prepared(dropOfNoteables, [this.kinds.ofEvents(events).type, ids]);
  }

  @Consume(projectDeleted, { effect: 'drop-subscriptions' })
  async projectDeleted({ tx, events }: EffectBatch<typeof projectDeleted>): Promise<void> {
    const ids = events.map((event) => event.data.project_id);
    await this.directory.gone(tx, 'project', events, ids);
    while ((await tx.prepared(dropOfProjects, [ids])).length === CHUNK);
  }
}
