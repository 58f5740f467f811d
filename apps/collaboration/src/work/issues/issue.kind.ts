import { issueEvents } from '@rookery/contracts';
import type { NoteableKind, ReaderSql } from '../../base/noteables/noteable-kinds';
import { attachedIssueAssignees, attachedIssues } from './issue-removal';
import { ISSUE_ASSIGNEES, ISSUE_SHOWN_AS, issueBytes, issueDetailShape, issueShape } from './issue.shape';

/** Issues as everything else knows them. Source: reference work-tracking 2.1, 9.1. */
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
  tellsEditors: true,
  abilities: ['internal-notes', 'threads', 'awards', 'time', 'todos', 'subscriptions', 'labels', 'milestones'],
  takesNoteFlagAlone: true,
  events: issueEvents,
  visibleSql: visibleIssueSql,
  assignees: {
    ...ISSUE_ASSIGNEES,
    openSql: (user) => `(select i.project_id from issue_assignees s
      join issues i on i.id = s.issue_id and i.state = 'opened' where s.user_id = ${user})`,
  },
  listed: issueShape,
  listedBytes: issueBytes({}),
  detailed: issueDetailShape,
  attached: [attachedIssueAssignees, attachedIssues],
};

/**
 * Confidential issues are known to those who read them by role, to their author while they have a role, and to
 * assignees. `in` and not `exists`: PostgreSQL would gather everything that a person is assigned to in any project.
 * Source: reference work-tracking 9.1.
 */
function visibleIssueSql({ viewer, isMember, readsConfidential }: ReaderSql): string {
  return `(not i.confidential or ${readsConfidential} or (i.author_id = ${viewer} and ${isMember})
    or ${viewer} in (select seen.user_id from issue_assignees seen where seen.issue_id = i.id))`;
}
