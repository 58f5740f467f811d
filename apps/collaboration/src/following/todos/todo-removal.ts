import { declareAttachedTable } from '@rookery/persistence';
import type { DeletedNoteables, Tx } from '@rookery/persistence';
import { prepareTodoStatementsByParent, columnReader, splitByParent } from './todo-recorder';

const dropOfTargets = prepareTodoStatementsByParent(
  'todos_drop_of_targets',
  (
    inParent,
  ) => `delete from todos t using unnest($1::bigint[], $2::text[], $3::bigint[]) as gone (project_id, target_type, target_id)
   where ${inParent('gone')} and t.target_id = gone.target_id and t.target_type = gone.target_type`,
);

/** Removal of to-dos. */
export const attachedTodos = declareAttachedTable({
  table: 'todos',
  consumedInWing: ['project', 'group'],
  noteable: {
    type: 'target_type',
    id: 'target_id',
    because: 'the index on targets begins with the project',
    drop: dropTodosOfNoteables,
  },
  project: 'project_id',
  group: 'group_id',
  users: [
    // One statement for each of the two partial indexes.
    { column: 'user_id', onRemoval: 'delete', where: [`state = 'pending'`, `state = 'done'`] },
    { column: 'author_id', onRemoval: 'ghost-or-delete' },
  ],
  stays: { note_id: 'the effect `drop-todos` of `note.deleted` removes items of deleted notes' },
});

async function dropTodosOfNoteables(tx: Tx, { type, rows }: DeletedNoteables): Promise<void> {
  const gone = rows.map(({ id, projectId }) => ({ targetType: type, targetId: id, projectId }));
  for (const [parent, ones] of splitByParent(gone)) {
    const column = columnReader(ones);
    await tx.prepared(dropOfTargets[parent], [column('projectId'), column('targetType'), column('targetId')]);
  }
}
