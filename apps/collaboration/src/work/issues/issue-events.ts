import { issueClosed, issueReopened, issueUpdated } from '@rookery/contracts';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import type { LabelChange } from '../../planning/labels/labelling/labelling';
import type { AssigneeChange } from './assignees/assignees';
import type { IssueChange } from './issue-change';
import type { Issue } from './issue.entity';

/** What changes around an issue besides its own row. */
export interface ChangeAround {
  readonly people: AssigneeChange;
  readonly labels: LabelChange;
}

/** Does anything differ from before? */
export function isChanged(columns: Partial<Issue>, { people, labels }: ChangeAround): boolean {
  const sets = [people.added, people.removed, labels.added, labels.removed];
  return Object.keys(columns).length > 0 || sets.some((set) => set.length > 0);
}

/** Announces a change: of fields and of the state apart. */
export function emitChange(
  tx: Tx,
  viewer: SignedInViewer,
  issue: Issue,
  o: { change: IssueChange; around: ChangeAround; mentionedBefore: number[]; at: Date },
): void {
  const { change, around, at } = o;
  const { people, labels } = around;
  const data = issueFacts({ ...issue, ...change.columns });
  const about = { aggregateId: issue.id, actorId: viewer.userId, seen: viewer.directory };
  const { state: _, closedAt: __, closedById: ___, ...besides } = change.columns;
  if (isChanged(besides, around)) {
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
