import { issueClosed, issueReopened, issueUpdated } from '@rookery/contracts';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import type { LabelChange } from '../../planning/labels/labelling/labelling';
import type { PeopleChange } from '../../planning/people/people';
import type { IssueChange } from './issue-change';
import type { Issue } from './issue.entity';

/** Changes of an issue that are not columns of its row. */
export interface RelatedChanges {
  readonly people: PeopleChange;
  readonly labels: LabelChange;
}

/** Checks whether an update changes the issue. */
export function isIssueChanged(columns: Partial<Issue>, { people, labels }: RelatedChanges): boolean {
  const sets = [people.added, people.removed, labels.added, labels.removed];
  return Object.keys(columns).length > 0 || sets.some((set) => set.length > 0);
}

/** Emits a change: one event for fields, assignees and labels, one for the state. */
export function emitIssueChange(
  tx: Tx,
  viewer: SignedInViewer,
  issue: Issue,
  o: { change: IssueChange; related: RelatedChanges; mentionedBefore: number[]; at: Date },
): void {
  const { change, related, at } = o;
  const { people, labels } = related;
  const data = issueEventData({ ...issue, ...change.columns });
  const about = { aggregateId: issue.id, actorId: viewer.userId, seen: viewer.directory };
  const { state: _, closedAt: __, closedById: ___, ...otherColumns } = change.columns;
  if (isIssueChanged(otherColumns, related)) {
    tx.emit(
      issueUpdated.of({
        ...about,
        data: {
          ...data,
          text_changed: change.textChanged,
          mentioned_before: o.mentionedBefore,
          added_assignee_ids: people.added.map((user) => user.id),
          removed_assignee_ids: people.removed.map((user) => user.id),
          added_label_ids: [...labels.added],
          removed_label_ids: [...labels.removed],
          ...(otherColumns.milestoneId === undefined ? {} : { milestone_id: otherColumns.milestoneId }),
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

/** Data that every event on an issue has. */
export function issueEventData(issue: IssueFacts) {
  return {
    issue_id: issue.id,
    issue_iid: issue.iid,
    project_id: issue.projectId,
    author_id: issue.authorId,
    confidential: issue.confidential,
    created_at: issue.createdAt.toISOString(),
  };
}
