import { Injectable } from '@nestjs/common';
import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { parentAccessSql, cachePerNoteableKind, projectIdSql } from '../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';

/** A user who participates in a noteable because they wrote a note or were mentioned. */
export interface Participation {
  readonly noteableId: number;
  readonly userId: number;
  /** The note that made them a participant; null: title or description. */
  readonly noteId: number | null;
}

/**
 * Administrators count as such only for their own notes; for a mention only their membership counts, so that mentions do not
 * reveal who is an administrator.
 */
const person = { user: 'u.id', isAdmin: '(u.admin and u.id = n.author_id)', isExternal: 'u.external' };

/** Only readers of an internal note become participants by it: later e-mails would reveal the note to others. */
const insertParticipants = cachePerNoteableKind((kind) =>
  prepareStatement(
    `${kind.table}_participants_add`,
    `insert into participants (noteable_type, noteable_id, user_id, project_id, note_id)
     select distinct on (i.id, p.user_id) '${kind.type}', i.id, p.user_id, ${projectIdSql(kind)}, p.note_id
     from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as p (noteable_id, user_id, note_id)
     join ${kind.table} i on i.id = p.noteable_id left join notes n on n.id = p.note_id
     where n.internal is not true or exists (
       select 1 from directory_users u cross join lateral ${parentAccessSql(kind, person)} a where u.id = p.user_id and a.reads_internal)
     order by i.id, p.user_id, p.note_id nulls first
     on conflict do nothing`,
  ),
);
/**
 * $1 moved noteables, $2 their successors. The row of a commenter refers to that user's oldest note on the successor.
 */
const copyParticipantsToMoved = cachePerNoteableKind(({ table, type }) =>
  prepareStatement(
    `${table}_participants_go_with`,
    `insert into participants (noteable_type, noteable_id, user_id, project_id, note_id)
     select '${type}', i.id, p.user_id, i.project_id, case when p.note_id is not null then (
       select min(n.id) from notes n where n.noteable_id = i.id and n.noteable_type = '${type}'
         and n.author_id = p.user_id and not n.system) end
     from unnest($1::bigint[], $2::bigint[]) as moved (from_id, to_id)
     join ${table} i on i.id = moved.to_id
     join participants p on p.noteable_id = moved.from_id and p.noteable_type = '${type}'
     order by i.id, p.user_id
     on conflict do nothing`,
  ),
);
/** Authors of another note stay participants. */
const dropOfNotes = prepareStatement(
  'participants_drop_of_notes',
  `delete from participants p
   using unnest($1::text[], $2::bigint[], $3::bigint[]) as gone (noteable_type, noteable_id, note_id)
   where p.noteable_id = gone.noteable_id and p.noteable_type = gone.noteable_type and p.note_id = gone.note_id
     and not exists (select 1 from notes n where n.noteable_id = p.noteable_id and n.noteable_type = p.noteable_type
       and n.author_id = p.user_id and not n.system)`,
);

/**
 * Participants of noteables other than author and assignees. They are recorded when they appear: to compute them would mean
 * reading all comments of a noteable for each new comment. Source: reference work-tracking 8.4.
 */
@Injectable()
export class Participants {
  async addParticipants(tx: Tx, kind: NoteableKind, participations: readonly Participation[]): Promise<void> {
    if (participations.length === 0) return;
    await tx.prepared(insertParticipants(kind), [
      participations.map((one) => one.noteableId),
      participations.map((one) => one.userId),
      participations.map((one) => one.noteId),
    ]);
  }

  /** Copies the participants of moved noteables to their new noteables. All ids are of one kind. */
  async copyToMoved(
    tx: Tx,
    kind: NoteableKind,
    moves: readonly { readonly from: number; readonly to: number }[],
  ): Promise<void> {
    if (moves.length === 0) return;
    await tx.prepared(copyParticipantsToMoved(kind), [moves.map(({ from }) => from), moves.map(({ to }) => to)]);
  }

  async dropOfNotes(
    tx: Tx,
    gone: readonly { readonly noteableType: string; readonly noteableId: number; readonly noteId: number }[],
  ): Promise<void> {
    await tx.prepared(dropOfNotes, [
      gone.map((one) => one.noteableType),
      gone.map((one) => one.noteableId),
      gone.map((one) => one.noteId),
    ]);
  }
}
