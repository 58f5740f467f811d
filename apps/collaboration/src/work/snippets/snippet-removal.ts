import { declareAttachedTable } from '@rookery/persistence';

/** Parts of snippets that are removed with their project or author. */
export const attachedSnippets = declareAttachedTable({
  table: 'snippets',
  effect: 'drop-issues',
  project: 'project_id',
  users: [
    {
      column: 'author_id',
      onRemoval: 'ghost-or-delete',
      // The author's address says nothing about the ghost user.
      alsoSets: 'user_agent = null, ip_address = null',
      // The deletion of a personal snippet emits no event; that of a project's snippet emits one each (`NoteableRemoval`).
      deletedWhere: 'project_id is null',
    },
  ],
});
