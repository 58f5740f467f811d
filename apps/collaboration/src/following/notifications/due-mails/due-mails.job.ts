import { Inject, Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { Job } from '@rookery/jobs';
import type { Interruptible } from '@rookery/jobs';
import { CLOCK } from '@rookery/kernel';
import type { Clock } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import { NoteableKinds, cachePerNoteableKind } from '../../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../../base/noteables/noteable-kinds';
import { NoteableMailEnqueuer } from '../noteable-mail-enqueuer';
import type { Notice } from '../noteable-mail-enqueuer';

interface DueNoteable {
  readonly id: number;
  readonly author_id: number;
  readonly event_id: string;
}

/** Number of noteables whose e-mails one transaction queues. */
const BATCH = 100;
const DAY_MS = 86_400_000;

/** Open noteables that are due on a day. The event id is the same whenever the job runs for the noteable and the day. */
const selectDueNoteables = cachePerNoteableKind((kind) =>
  statement<{ day: string; after: number; limit: number }, DueNoteable>(
    `${kind.table}_due`,
    `select i.id, i.author_id, md5('${kind.noun} due ' || i.id || ' ' || i.${kind.dueColumn})::uuid as event_id
     from ${kind.table} i join directory_projects p on p.id = i.project_id and not p.archived
     where i.${kind.stateColumn} = 'opened' and i.${kind.dueColumn} = :day::date and i.id > :after::bigint
     order by i.id limit :limit::integer`,
  ),
);

/**
 * Queues e-mails about open issues that are due tomorrow, once for an issue and a day. Days are those of UTC.
 * Source: reference work-tracking 8.4.
 */
@Injectable()
export class DueIssueMailsJob {
  constructor(
    private readonly work: Work,
    private readonly mails: NoteableMailEnqueuer,
    private readonly kinds: NoteableKinds,
    private readonly directory: Directory,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Job('announce-due-issues', { cron: '50 0 * * *' })
  async run(run?: Interruptible): Promise<void> {
    const day = new Date(this.clock.now().getTime() + DAY_MS).toISOString().slice(0, 10);
    for (const kind of this.kinds.all) {
      if (kind.dueColumn === undefined) continue;
      let after: number | null = 0;
      while (after !== null) {
        after = await this.queueNextBatch(kind, day, after);
        run?.signal.throwIfAborted();
      }
    }
  }

  /** Returns the last id, or null if there are no more. */
  private queueNextBatch(kind: NoteableKind, day: string, afterId: number): Promise<number | null> {
    return this.work.run(async (tx) => {
      await this.directory.assertCurrent(tx);
      const rows = await tx.run(selectDueNoteables(kind), { day, after: afterId, limit: BATCH });
      const notices = rows.map(({ id, author_id, event_id }): Notice => {
        // No user acts, so the author is named, and gets the e-mail like the other participants.
        const author = { actorId: author_id, isForActor: true, to: [] };
        const about = { eventId: event_id, template: 'due', noteableId: id, noteId: null } as const;
        return { ...about, ...author, isForParticipants: true, details: { due_on: day } };
      });
      await this.mails.queueMails(tx, kind, notices);
      return rows.length === BATCH ? rows.at(-1)!.id : null;
    });
  }
}
