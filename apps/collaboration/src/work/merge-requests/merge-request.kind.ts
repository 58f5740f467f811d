import { mergeRequestEvents } from '@rookery/contracts';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import {
  attachedMergeRequestAssignees,
  attachedMergeRequestReviewers,
  attachedMergeRequests,
} from './merge-request-removal';
import {
  MERGE_REQUEST_SHOWN_AS,
  mergeRequestTextBytesSql,
  mergeRequestDetailShape,
  mergeRequestShape,
} from './merge-request.shape';
import { mergeRequestAssignees, mergeRequestReviewers } from './people/merge-request-people';

/** Merge requests as a noteable kind. Source: reference work-tracking 2.1; reference repositories 8. */
export const mergeRequestKind: NoteableKind = {
  ...MERGE_REQUEST_SHOWN_AS,
  type: 'MergeRequest',
  noun: 'merge_request',
  word: 'merge request',
  resource: undefined,
  table: 'merge_requests',
  writes: { update: 'update merge_requests i set', remove: 'delete from merge_requests i' },
  parent: 'project',
  feature: 'merge_requests',
  confidentialColumn: null,
  stateColumn: 'state',
  hasEditorColumns: true,
  abilities: [
    'internal-notes',
    'threads',
    'diff-threads',
    'suggestions',
    'awards',
    'time',
    'todos',
    'marking',
    'subscriptions',
    'labels',
    'milestones',
  ],
  events: mergeRequestEvents,
  // Every reader of the project's merge requests sees all of them.
  visibleSql: () => 'true',
  assignees: {
    ofSql: (id) => mergeRequestAssignees.ofSql(id),
    openSql: (user) => `(select i.project_id from merge_request_assignees s
      join merge_requests i on i.id = s.merge_request_id and i.state = 'opened' where s.user_id = ${user})`,
  },
  reviewers: {
    ofSql: (id) => mergeRequestReviewers.ofSql(id),
    openSql: (user) => `(select i.project_id from merge_request_reviewers s
      join merge_requests i on i.id = s.merge_request_id and i.state = 'opened' where s.user_id = ${user})`,
  },
  listed: mergeRequestShape,
  listedBytes: mergeRequestTextBytesSql({}),
  detailed: mergeRequestDetailShape,
  attached: [attachedMergeRequestAssignees, attachedMergeRequestReviewers, attachedMergeRequests],
};
