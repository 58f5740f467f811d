import { attachedTo } from '@rookery/persistence';

/** Removal of snippets. */
export const attachedSnippets = attachedTo({
  table: 'snippets',
  effect: 'drop-issues',
  project: 'project_id',
  users: [
    {
      column: 'author_id',
      onRemoval: 'ghost-or-delete',
      // The address that an author wrote from is no fact about the ghost user.
      alsoSets: 'user_agent = null, ip_address = null',
      // Personal snippets have no event. Those of projects are deleted with one each (`DropWritings`).
      deletedWhere: 'project_id is null',
    },
  ],
});
