import { issueClosed, issueReopened, issueUpdated } from '@rookery/contracts';
import type { Tx } from '@rookery/persistence';
import type { AssigneeChange } from '../assignees/assignees';
import type { IssueChange } from './issue-change';
import type { Issue } from './issue.entity';

/** Does anything differ from before? */
export function isChanged(change: IssueChange, people: AssigneeChange): boolean {
  return Object.keys(change.columns).length > 0 || people.added.length > 0 || people.removed.length > 0;
}

/** Announces a change: of fields and of the state apart. */
export function emitChange(
  tx: Tx,
  actorId: number,
  issue: Issue,
  o: { change: IssueChange; people: AssigneeChange; mentionedBefore: number[]; at: Date },
): void {
  const { change, people, at } = o;
  const data = issueFacts({ ...issue, ...change.columns });
  const about = { aggregateId: issue.id, actorId };
  const { state: _, closedAt: __, closedById: ___, ...besides } = change.columns;
  if (isChanged({ ...change, columns: besides }, people)) {
    tx.emit(
      issueUpdated.of({
        ...about,
        data: {
          ...data,
          text_changed: change.textChanged,
          mentioned_before: o.mentionedBefore,
          added_assignee_ids: people.added.map((user) => user.id),
          removed_assignee_ids: people.removed.map((user) => user.id),
          changed_at: at.toISOString(),
        },
      }),
    );
  }
  if (change.state === 'closed') tx.emit(issueClosed.of({ ...about, data: { ...data, closed_at: at.toISOString() } }));
  if (change.state === 'reopened') {
    tx.emit(issueReopened.of({ ...about, data: { ...data, reopened_at: at.toISOString() } }));
  }
}

export type IssueFacts = Pick<Issue, 'id' | 'iid' | 'projectId' | 'authorId' | 'confidential' | 'createdAt'>;

/** What every event on an issue says of it. */
export function issueFacts(issue: IssueFacts) {
  return {
    issue_id: issue.id,
    issue_iid: issue.iid,
    project_id: issue.projectId,
    author_id: issue.authorId,
    confidential: issue.confidential,
    created_at: issue.createdAt.toISOString(),
  };
}
