import { declareAttachedTable } from '@rookery/persistence';

/** Parts of epics that are removed with their group or users. */
export const attachedEpics = declareAttachedTable({
  table: 'epics',
  group: { column: 'group_id', because: 'each epic is deleted with its notes and an event (`NoteableRemoval`)' },
  users: [
    { column: 'closed_by_id', onRemoval: 'ghost-or-null' },
    {
      column: 'author_id',
      onRemoval: 'ghost',
      because: 'with hard_delete each epic is deleted with its notes and an event (`NoteableRemoval`)',
    },
  ],
  stays: {
    edited_by_id: 'says whose mentions an edited text has; no answer shows it, and a removed user mentions nobody',
    title_edited_by_id: 'as edited_by_id, of the title',
  },
});
