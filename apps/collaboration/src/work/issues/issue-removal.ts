import { declareAttachedTable } from '@rookery/persistence';

/**
 * Parts of issues that are removed with their project or users. Search texts are deleted with their issue by a foreign
 * key.
 */
export const attachedIssueAssignees = declareAttachedTable({
  table: 'issue_assignees',
  key: 'ctid',
  users: [{ column: 'user_id', onRemoval: 'delete' }],
});
export const attachedIssues = declareAttachedTable({
  table: 'issues',
  effect: 'drop-issues',
  project: 'project_id',
  users: [
    { column: 'closed_by_id', onRemoval: 'ghost-or-null' },
    {
      column: 'author_id',
      onRemoval: 'ghost',
      // The author's address says nothing about the ghost user.
      alsoSets: 'user_agent = null, ip_address = null',
      because: 'with hard_delete each issue is deleted with its notes and an event (`NoteableRemoval`)',
    },
  ],
  stays: {
    edited_by_id: 'says whose mentions an edited text has; no answer shows it, and a removed user mentions nobody',
    title_edited_by_id: 'as edited_by_id, of the title',
  },
});
export const attachedIssueTexts = declareAttachedTable({
  table: 'issue_texts',
  key: 'issue_id',
  project: { column: 'project_id', because: 'the row goes with its issue by foreign key' },
});
export const attachedIssueCounts = declareAttachedTable({
  table: 'issue_counts',
  key: 'project_id',
  consumedInWing: ['project'],
  project: 'project_id',
});
