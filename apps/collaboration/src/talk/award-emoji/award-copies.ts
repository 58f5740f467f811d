import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';

/** $1 kind, $2 source noteable, $3 target noteable, $4 its project, $5-$6 old and new ids of copied notes. */
const insertCopies = prepareStatement(
  'award_emoji_copy',
  `insert into award_emoji
     (awardable_type, awardable_id, noteable_type, noteable_id, project_id, user_id, name, created_at, updated_at)
   select a.awardable_type, case a.awardable_type when 'Note' then note.new_id else $3::bigint end, a.noteable_type,
     $3::bigint, $4::bigint, a.user_id, a.name, a.created_at, a.updated_at
   from award_emoji a
   left join unnest($5::bigint[], $6::bigint[]) as note (old_id, new_id)
     on a.awardable_type = 'Note' and a.awardable_id = note.old_id
   where a.noteable_type = $1 and a.noteable_id = $2::bigint and (a.awardable_type <> 'Note' or note.new_id is not null)
   order by a.id`,
);

/** Copies the emoji of a noteable and of its copied notes to another noteable of the same kind. */
export async function copyAwards(
  tx: Tx,
  { type }: Pick<NoteableKind, 'type'>,
  o: {
    readonly from: number;
    readonly to: number;
    readonly projectId: number;
    readonly notes: { readonly oldIds: readonly number[]; readonly newIds: readonly number[] };
  },
): Promise<void> {
  await tx.prepared(insertCopies, [type, o.from, o.to, o.projectId, o.notes.oldIds, o.notes.newIds]);
}
