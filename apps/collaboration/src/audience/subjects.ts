import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';

/** A note and what it stands on, as they are now. */
export interface NoteSubject {
  readonly note_id: number;
  readonly body: string;
  readonly author_id: number;
  readonly project_id: number;
  readonly issue_id: number;
  readonly created_at: Date;
}

/** An issue with its texts, as they are now. */
export interface IssueSubject {
  readonly issue_id: number;
  readonly project_id: number;
  readonly author_id: number;
  readonly text: string;
}

// The lock holds a deletion back until the effect is committed, so that the deletion's own effect finds what to drop.
const notes = prepared(
  'audience_notes',
  `select n.id as note_id, n.body, n.author_id, i.project_id, i.id as issue_id, n.created_at
   from notes n join issues i on i.id = n.noteable_id
   where n.id = any($1::bigint[]) and n.noteable_type = 'Issue' and not n.system
   order by n.id for key share of n`,
);
const issues = prepared(
  'audience_issues',
  `select i.id as issue_id, i.project_id, i.author_id, i.title || E'\\n\\n' || coalesce(i.description, '') as text
   from issues i where i.id = any($1::bigint[]) order by i.id for key share`,
);

/** Notes on issues by id; those that are gone meanwhile are missing. Events carry no texts (architecture 4). */
export async function noteSubjects(tx: Tx, ids: readonly number[]): Promise<ReadonlyMap<number, NoteSubject>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.prepared<NoteSubject>(notes, [[...new Set(ids)]]);
  return new Map(rows.map((row) => [row.note_id, row]));
}

/** Issues by id; those that are gone meanwhile are missing. */
export async function issueSubjects(tx: Tx, ids: readonly number[]): Promise<ReadonlyMap<number, IssueSubject>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.prepared<IssueSubject>(issues, [[...new Set(ids)]]);
  return new Map(rows.map((row) => [row.issue_id, row]));
}
