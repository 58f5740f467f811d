import { declareAttachedTable } from '@rookery/persistence';

/** Parts of merge requests that are removed with their project or users. Versions go by a foreign key. */
export const attachedMergeRequestAssignees = declareAttachedTable({
  table: 'merge_request_assignees',
  key: 'ctid',
  users: [{ column: 'user_id', onRemoval: 'delete' }],
});
export const attachedMergeRequestReviewers = declareAttachedTable({
  table: 'merge_request_reviewers',
  key: 'ctid',
  users: [{ column: 'user_id', onRemoval: 'delete' }],
});
export const attachedMergeRequests = declareAttachedTable({
  table: 'merge_requests',
  effect: 'drop-merge-requests',
  project: 'project_id',
  users: [
    { column: 'closed_by_id', onRemoval: 'ghost-or-null' },
    { column: 'merged_by_id', onRemoval: 'ghost-or-null' },
    { column: 'auto_merge_user_id', onRemoval: 'ghost-or-null' },
    {
      column: 'author_id',
      onRemoval: 'ghost',
      because: 'with hard_delete each merge request is deleted with its notes and an event (`NoteableRemoval`)',
    },
  ],
  stays: {
    edited_by_id: 'says whose mentions an edited text has; no answer shows it, and a removed user mentions nobody',
    title_edited_by_id: 'as edited_by_id, of the title',
    collaboration_granted_by_id: 'no answer shows it; a removed user has no right to push, which ends that of others',
    source_project_id: 'another consumer closes open merge requests of a deleted fork, and empties the column',
  },
});
