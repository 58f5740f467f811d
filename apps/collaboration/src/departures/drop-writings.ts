import { Injectable } from '@nestjs/common';
import { issueDeleted, noteDeleted } from '@rookery/contracts';
import type { NoteableType } from '@rookery/contracts';
import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';

/** Units: rows. */
const NOTES = 5000;
const THINGS = 500;

interface GoneIssue {
  readonly issue_id: number;
  readonly issue_iid: number;
  readonly project_id: number;
  readonly state: 'opened' | 'closed';
}
interface GoneNote {
  readonly note_id: number;
  readonly noteable_type: NoteableType;
  readonly noteable_id: number | null;
  readonly noteable_iid: number | null;
  readonly project_id: number | null;
  readonly author_id: number;
  readonly internal: boolean;
}

const notesBelow = prepared(
  'departures_notes_below',
  `delete from notes where id = any(array(
     select n.id from issues i join notes n on n.noteable_id = i.id and n.noteable_type = 'Issue'
     where i.author_id = $1::bigint limit ${NOTES})) returning 1`,
);
/** Nobody adds a note to what is locked here; those that came since go too. */
const issues = prepared(
  'departures_issues',
  `select id from issues where author_id = $1::bigint limit ${THINGS} for update`,
);
const lastNotes = prepared(
  'departures_last_notes',
  `delete from notes where noteable_id = any($1::bigint[]) and noteable_type = 'Issue'`,
);
const dropIssues = prepared(
  'departures_drop_issues',
  `delete from issues where id = any($1::bigint[])
   returning id as issue_id, iid as issue_iid, project_id, state`,
);
/** Issues are locked before their notes, as wherever notes change. */
const notesElsewhere = prepared(
  'departures_notes_elsewhere',
  `select n.id, n.noteable_id from notes n where n.author_id = $1::bigint limit ${THINGS}`,
);
const lockIssues = prepared(
  'departures_lock_issues',
  `select id from issues where id = any($1::bigint[]) order by id for no key update`,
);
const dropNotes = prepared(
  'departures_drop_notes',
  `with gone as (
     delete from notes where id = any($1::bigint[])
     returning id, noteable_type, noteable_id, project_id, author_id, internal, system
   ), counted as (
     select noteable_id, count(*) filter (where system) as system, count(*) filter (where internal) as internal,
       count(*) filter (where not system and not internal) as public
     from gone where noteable_type = 'Issue' group by noteable_id
   ), kept as (
     update issues i set public_notes_count = i.public_notes_count - c.public,
       internal_notes_count = i.internal_notes_count - c.internal, system_notes_count = i.system_notes_count - c.system
     from counted c where i.id = c.noteable_id
   )
   select g.id as note_id, g.noteable_type, g.noteable_id, i.iid as noteable_iid, g.project_id, g.author_id, g.internal
   from gone g left join issues i on i.id = g.noteable_id and g.noteable_type = 'Issue'`,
);

/** Issues and notes that go with their author; what pointed at them follows by their events. Source: ADR 0138. */
@Injectable()
export class DropWritings {
  /** Does the next part. True when nothing was left. */
  async next(tx: Tx, authorId: number): Promise<boolean> {
    if ((await tx.prepared(notesBelow, [authorId])).length === NOTES) return false;
    return (await this.dropIssues(tx, authorId)) && (await this.dropNotes(tx, authorId));
  }

  private async dropIssues(tx: Tx, authorId: number): Promise<boolean> {
    const ids = (await tx.prepared<{ id: number }>(issues, [authorId])).map((row) => row.id);
    if (ids.length === 0) return true;
    await tx.prepared(lastNotes, [ids]);
    for (const data of await tx.prepared<GoneIssue>(dropIssues, [ids]))
      tx.emit(issueDeleted.of({ aggregateId: data.issue_id, actorId: null, data }));
    return ids.length < THINGS;
  }

  private async dropNotes(tx: Tx, authorId: number): Promise<boolean> {
    const found = await tx.prepared<{ id: number; noteable_id: number | null }>(notesElsewhere, [authorId]);
    if (found.length === 0) return true;
    await tx.prepared(lockIssues, [[...new Set(found.map((row) => row.noteable_id))]]);
    for (const note of await tx.prepared<GoneNote>(dropNotes, [found.map((row) => row.id)]))
      tx.emit(noteDeleted.of({ aggregateId: note.note_id, actorId: null, data: { ...note, group_id: null } }));
    return found.length < THINGS;
  }
}
