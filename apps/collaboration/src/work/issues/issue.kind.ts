import { issueEvents } from '@rookery/contracts';
import type { NoteableKind, ReaderSql } from '../../base/noteables/noteable-kinds';
import { issueAssignees } from './assignees/issue-assignees';
import { attachedIssueAssignees, attachedIssues } from './issue-removal';
import { ISSUE_SHOWN_AS, issueTextBytesSql, issueDetailShape, issueShape } from './issue.shape';

/** Issues as a noteable kind. Source: reference work-tracking 2.1, 9.1. */
export const issueKind: NoteableKind = {
  ...ISSUE_SHOWN_AS,
  type: 'Issue',
  noun: 'issue',
  word: 'issue',
  resource: 'Issue',
  table: 'issues',
  writes: { update: 'update issues i set', remove: 'delete from issues i' },
  parent: 'project',
  feature: 'issues',
  confidentialColumn: 'confidential',
  stateColumn: 'state',
  dueColumn: 'due_on',
  hasEditorColumns: true,
  abilities: [
    'internal-notes',
    'threads',
    'awards',
    'time',
    'todos',
    'marking',
    'subscriptions',
    'labels',
    'milestones',
  ],
  allowsConfidentialOnlyNoteUpdate: true,
  events: issueEvents,
  visibleSql: isIssueVisibleSql,
  assignees: {
    ofSql: (id) => issueAssignees.ofSql(id),
    openSql: (user) => `(select i.project_id from issue_assignees s
      join issues i on i.id = s.issue_id and i.state = 'opened' where s.user_id = ${user})`,
  },
  listed: issueShape,
  listedBytes: issueTextBytesSql({}),
  detailed: issueDetailShape,
  attached: [attachedIssueAssignees, attachedIssues],
};

/**
 * Visibility of an issue: readers see confidential issues by their role, as assignees, or as the author while they have
 * any role. `in` and not `exists`: with `exists` PostgreSQL would gather all assignments of the user in any project.
 * Source: reference work-tracking 9.1.
 */
function isIssueVisibleSql({ viewer, isMember, readsConfidential }: ReaderSql): string {
  return `(not i.confidential or ${readsConfidential} or (i.author_id = ${viewer} and ${isMember})
    or ${viewer} in (select seen.user_id from issue_assignees seen where seen.issue_id = i.id))`;
}
