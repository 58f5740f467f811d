import { AssignedPeopleList } from '../../../planning/people/people-list';

/** Assignees of merge requests. */
export const mergeRequestAssignees = new AssignedPeopleList({
  table: 'merge_request_assignees',
  noteable: 'merge_request_id',
  writes: { insert: 'insert into merge_request_assignees', remove: 'delete from merge_request_assignees' },
});

/** Reviewers of merge requests. */
export const mergeRequestReviewers = new AssignedPeopleList({
  table: 'merge_request_reviewers',
  noteable: 'merge_request_id',
  writes: { insert: 'insert into merge_request_reviewers', remove: 'delete from merge_request_reviewers' },
});
