import { Injectable } from '@nestjs/common';
import { declareAttachedTable, prepareStatement, REMOVAL_CHUNK, runInChunks } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { oldestExpiredRowsSql } from '../../base/noteables/expired-rows';
import { ACTIVITY_TARGET_TYPES, NOTE_TARGETS } from './activity-types';
import type { ActivityAction } from './activity-types';
import type { PushData } from './push-entries';

/** The noteable or milestone on which access to an entry depends. */
export interface FeedNoteable {
  readonly noteableType: string;
  readonly noteableId: number;
}

export interface ActivityEntry {
  readonly eventId: string;
  readonly projectId: number;
  readonly authorId: number;
  readonly action: ActivityAction;
  /** `Note`, `DiscussionNote`, `DiffNote`, `Project`, or the type of the noteable; null for a push. */
  readonly targetType: string | null;
  readonly targetId: number | null;
  /** Null for an entry about the project itself. */
  readonly noteable: FeedNoteable | null;
  /** ISO 8601. */
  readonly at: string;
  /** Facts of a push. */
  readonly push?: PushData;
  /** Kind of host from which the project was imported. */
  readonly importedFrom?: string;
}

const insertActivityEntries = prepareStatement(
  'activity_record',
  `insert into activity_events (source_event_id, project_id, author_id, action, target_type, target_id, noteable_type,
     noteable_id, created_at, push_data, imported_from)
   select e.event_id, e.project_id, e.author_id, e.action, e.target_type, e.target_id, e.noteable_type, e.noteable_id,
     e.at, e.push_data, e.imported_from
   from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::bigint[],
     $9::timestamptz[], $10::jsonb[], $11::text[]) with ordinality as e (event_id, project_id, author_id, action, target_type, target_id,
     noteable_type, noteable_id, at, push_data, imported_from, place)
   order by e.place
   on conflict do nothing`,
);
const dropOfNotes = prepareStatement(
  'activity_drop_of_notes',
  `delete from activity_events e
   using unnest($1::text[], $2::bigint[], $3::bigint[]) as gone (noteable_type, noteable_id, note_id)
   where e.noteable_id = gone.noteable_id and e.noteable_type = gone.noteable_type and e.target_id = gone.note_id
     and e.target_type in (${NOTE_TARGETS})`,
);
/** SQL array of the ids of a chunk of entries. `$1` are ids of milestones. */
const OF_MILESTONES = `array(select e.id from activity_events e where e.noteable_id = any($1::bigint[])
     and e.noteable_type = '${ACTIVITY_TARGET_TYPES.milestone}' limit ${REMOVAL_CHUNK})`;
/** Deletes a chunk of entries. `$1` are ids of milestones. */
const dropOfMilestones = prepareStatement(
  'activity_drop_of_milestones',
  `delete from activity_events where id = any(${OF_MILESTONES}) returning 1`,
);

/**
 * Moves a chunk of entries to another milestone. `$1` are ids of merged milestones, `$2` is the milestone that remains.
 */
const moveToMilestone = prepareStatement(
  'activity_hand_over_milestones',
  `update activity_events set noteable_id = $2::bigint, target_id = $2::bigint where id = any(${OF_MILESTONES}) returning 1`,
);

/** Writes and deletes entries of feeds in batches. Source: reference work-tracking 7.6. */
@Injectable()
export class ActivityRecorder {
  async record(tx: Tx, entries: readonly ActivityEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const column = <K extends keyof ActivityEntry>(key: K): ActivityEntry[K][] => entries.map((one) => one[key]);
    await tx.prepared(insertActivityEntries, [
      column('eventId'),
      column('projectId'),
      column('authorId'),
      column('action'),
      column('targetType'),
      column('targetId'),
      entries.map(({ noteable }) => noteable?.noteableType ?? null),
      entries.map(({ noteable }) => noteable?.noteableId ?? null),
      column('at'),
      entries.map(({ push }) => (push === undefined ? null : JSON.stringify(push))),
      entries.map(({ importedFrom }) => importedFrom ?? 'none'),
    ]);
  }

  async dropOfMilestones(tx: Tx, ids: readonly number[]): Promise<void> {
    await runInChunks(tx, dropOfMilestones, [ids]);
  }

  /** Lets entries of merged milestones name the milestone that remains. */
  async moveToMilestone(tx: Tx, ids: readonly number[], target: number): Promise<void> {
    await runInChunks(tx, moveToMilestone, [ids, target]);
  }

  async dropOfNotes(tx: Tx, gone: readonly (FeedNoteable & { readonly noteId: number })[]): Promise<void> {
    await tx.prepared(dropOfNotes, [
      gone.map((one) => one.noteableType),
      gone.map((one) => one.noteableId),
      gone.map((one) => one.noteId),
    ]);
  }
}

/** Removal of feed entries. An entry without its author is useless, so none is moved to the ghost user. */
export const attachedActivity = declareAttachedTable({
  table: 'activity_events',
  effect: 'drop-activity',
  consumedInWing: ['project'],
  noteable: { type: 'noteable_type', id: 'noteable_id' },
  project: 'project_id',
  users: [{ column: 'author_id', onRemoval: 'delete' }],
  stays: { target_id: 'the noteable itself, the project, or a note, whose deletion has an effect of its own' },
});

/** Deletes entries older than the retention time. */
export const oldActivity = prepareStatement(
  'activity_drop_oldest',
  `delete from activity_events where ${oldestExpiredRowsSql('activity_events', 'true')} returning 1`,
);
