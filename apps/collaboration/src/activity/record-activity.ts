import { Injectable } from '@nestjs/common';
import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { ActivityAction } from './activity-words';

export interface ActivityEntry {
  readonly eventId: string;
  readonly projectId: number;
  readonly authorId: number;
  readonly action: ActivityAction;
  readonly targetType: 'Issue' | 'Note' | 'Project';
  readonly targetId: number;
  /** What access depends on; null for what concerns the project itself. */
  readonly issueId: number | null;
  /** ISO 8601. */
  readonly at: string;
}

const record = prepared(
  'activity_record',
  `insert into activity_events (source_event_id, project_id, author_id, action, target_type, target_id, noteable_type,
     noteable_id, created_at)
   select e.event_id, e.project_id, e.author_id, e.action, e.target_type, e.target_id,
     case when e.issue_id is not null then 'Issue' end, e.issue_id, e.at
   from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::bigint[],
     $8::timestamptz[]) with ordinality as e (event_id, project_id, author_id, action, target_type, target_id, issue_id,
     at, place)
   order by e.place
   on conflict do nothing`,
);
const dropOfIssues = prepared(
  'activity_drop_of_issues',
  `delete from activity_events where noteable_type = 'Issue' and noteable_id = any($1::bigint[])`,
);
const dropOfNotes = prepared(
  'activity_drop_of_notes',
  `delete from activity_events e using unnest($1::bigint[], $2::bigint[]) as gone (issue_id, note_id)
   where e.noteable_id = gone.issue_id and e.noteable_type = 'Issue' and e.target_id = gone.note_id
     and e.target_type = 'Note'`,
);
/** Units: rows. */
const CHUNK = 5000;
const dropOfProjects = prepared(
  'activity_drop_of_projects',
  `delete from activity_events where id in (
     select id from activity_events where project_id = any($1::bigint[]) limit ${CHUNK}) returning 1`,
);

/** Writes and drops entries of feeds, many at once. Source: reference work-tracking 7.6. */
@Injectable()
export class RecordActivity {
  async record(tx: Tx, entries: readonly ActivityEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const column = <K extends keyof ActivityEntry>(key: K): ActivityEntry[K][] => entries.map((one) => one[key]);
    await tx.prepared(record, [
      column('eventId'),
      column('projectId'),
      column('authorId'),
      column('action'),
      column('targetType'),
      column('targetId'),
      column('issueId'),
      column('at'),
    ]);
  }

  async dropOfIssues(tx: Tx, issueIds: readonly number[]): Promise<void> {
    await tx.prepared(dropOfIssues, [issueIds]);
  }

  async dropOfNotes(tx: Tx, gone: readonly { issueId: number; noteId: number }[]): Promise<void> {
    await tx.prepared(dropOfNotes, [gone.map((one) => one.issueId), gone.map((one) => one.noteId)]);
  }

  async dropOfProjects(tx: Tx, projectIds: readonly number[]): Promise<void> {
    while ((await tx.prepared(dropOfProjects, [projectIds])).length === CHUNK);
  }
}
