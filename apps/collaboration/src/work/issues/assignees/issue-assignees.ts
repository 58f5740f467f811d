import { AssignedPeopleList } from '../../../planning/people/people-list';

/** Assignees of issues. */
export const issueAssignees = new AssignedPeopleList({
  table: 'issue_assignees',
  noteable: 'issue_id',
  writes: { insert: 'insert into issue_assignees', remove: 'delete from issue_assignees' },
});
