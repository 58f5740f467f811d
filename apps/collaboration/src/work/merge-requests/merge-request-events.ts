import {
  mergeRequestApprovalRequested,
  mergeRequestApproved,
  mergeRequestClosed,
  mergeRequestCreated,
  mergeRequestEvents,
  mergeRequestMerged,
  mergeRequestReopened,
  mergeRequestUnapproved,
  mergeRequestUpdated,
} from '@rookery/contracts';
import type { DirectoryPosition, NoteableProgress } from '@rookery/contracts';
import type { Tx } from '@rookery/persistence';
import type { LabelChange } from '../../planning/labels/labelling/labelling';
import type { PeopleChange } from '../../planning/people/people';
import type { MergeRequestChange } from './merge-request-change';
import type { MergeRequest } from './merge-request.entity';

/** Changes of a merge request that are not columns of its row. */
export interface RelatedChanges {
  readonly assignees: PeopleChange;
  readonly reviewers: PeopleChange;
  readonly labels: LabelChange;
}

/** Actor of an event. `seen` is absent for acts of git clients. */
export interface EventActor {
  readonly actorId: number;
  readonly seen?: DirectoryPosition | undefined;
}

export type MergeRequestFacts = Pick<MergeRequest, 'id' | 'iid' | 'projectId' | 'authorId' | 'createdAt'>;

/** Checks whether an update changes the merge request. */
export function isMergeRequestChanged(
  columns: Partial<MergeRequest>,
  { assignees, reviewers, labels }: RelatedChanges,
): boolean {
  const sets = [assignees, reviewers, labels].flatMap(({ added, removed }) => [added.length, removed.length]);
  return Object.keys(columns).length > 0 || sets.some((count) => count > 0);
}

/** Emits the event of a new merge request. */
export function emitMergeRequestCreated(
  tx: Tx,
  by: EventActor,
  mergeRequest: MergeRequestFacts,
  { assignees, reviewers, labels }: RelatedChanges,
): void {
  tx.emit(
    mergeRequestCreated.of({
      ...eventEnvelopeFields(by, mergeRequest),
      data: {
        ...mergeRequestEventData(mergeRequest),
        assignee_ids: userIdsOf(assignees.added),
        reviewer_ids: userIdsOf(reviewers.added),
        label_ids: [...labels.added],
      },
    }),
  );
}

/** Emits a change: one event for fields, people and labels, one for the state. */
export function emitMergeRequestChange(
  tx: Tx,
  by: EventActor,
  mergeRequest: MergeRequest,
  o: { change: MergeRequestChange; related: RelatedChanges; mentionedBefore: number[]; at: Date },
): void {
  const { change, related, at } = o;
  const { assignees, reviewers, labels } = related;
  const {
    state: _,
    closedAt: __,
    closedById: ___,
    mergeStatus: ____,
    autoMergeUserId: _____,
    ...fields
  } = change.columns;
  if (isMergeRequestChanged(fields, related)) {
    tx.emit(
      mergeRequestUpdated.of({
        ...eventEnvelopeFields(by, mergeRequest),
        data: {
          ...mergeRequestEventData(mergeRequest),
          text_changed: change.textChanged,
          mentioned_before: o.mentionedBefore,
          added_assignee_ids: userIdsOf(assignees.added),
          removed_assignee_ids: userIdsOf(assignees.removed),
          added_reviewer_ids: userIdsOf(reviewers.added),
          removed_reviewer_ids: userIdsOf(reviewers.removed),
          added_label_ids: [...labels.added],
          removed_label_ids: [...labels.removed],
          ...(fields.milestoneId === undefined ? {} : { milestone_id: fields.milestoneId }),
          changed_at: at.toISOString(),
        },
      }),
    );
  }
  if (mergeRequest.draft && fields.draft === false)
    emitMergeRequestProgress(tx, mergeRequest, { ...by, step: 'ready', at });
  if (change.state !== null) emitMergeRequestStateChange(tx, by, mergeRequest, change.state, { at });
}

/** Emits a step of a merge request that changes none of its fields. */
export function emitMergeRequestProgress(
  tx: Tx,
  { id, iid, projectId, authorId, createdAt }: MergeRequestFacts,
  progress: NoteableProgress,
): void {
  const facts = { id, iid, project_id: projectId, author_id: authorId, created_at: createdAt };
  tx.emit(mergeRequestEvents.progressedOf(facts, progress));
}

/** Emits that a merge request was closed, reopened or merged. `isAutomatic` is true if its automatic merge did it. */
export function emitMergeRequestStateChange(
  tx: Tx,
  by: EventActor,
  mergeRequest: MergeRequestFacts,
  state: 'closed' | 'reopened' | 'merged',
  { at, isAutomatic = false }: { readonly at: Date; readonly isAutomatic?: boolean },
): void {
  const about = eventEnvelopeFields(by, mergeRequest);
  const data = mergeRequestEventData(mergeRequest);
  if (state === 'closed') tx.emit(mergeRequestClosed.of({ ...about, data: { ...data, closed_at: at.toISOString() } }));
  if (state === 'merged') {
    const merged = { ...data, merged_at: at.toISOString(), ...(isAutomatic && { automatic: true }) };
    tx.emit(mergeRequestMerged.of({ ...about, data: merged }));
  }
  if (state === 'reopened')
    tx.emit(mergeRequestReopened.of({ ...about, data: { ...data, reopened_at: at.toISOString() } }));
}

/** Emits that a user approved a merge request or withdrew that. */
export function emitMergeRequestApproval(
  tx: Tx,
  by: EventActor,
  mergeRequest: MergeRequestFacts,
  verb: 'approved' | 'unapproved',
  at: Date,
): void {
  const about = eventEnvelopeFields(by, mergeRequest);
  const data = mergeRequestEventData(mergeRequest);
  if (verb === 'approved')
    tx.emit(mergeRequestApproved.of({ ...about, data: { ...data, approved_at: at.toISOString() } }));
  else tx.emit(mergeRequestUnapproved.of({ ...about, data: { ...data, unapproved_at: at.toISOString() } }));
}

/** Emits that rules name users as approvers of a merge request. */
export function emitMergeRequestApprovalRequested(
  tx: Tx,
  by: EventActor,
  mergeRequest: MergeRequestFacts,
  approverIds: readonly number[],
  at: Date,
): void {
  if (approverIds.length === 0) return;
  const data = {
    ...mergeRequestEventData(mergeRequest),
    approver_ids: [...approverIds],
    requested_at: at.toISOString(),
  };
  tx.emit(mergeRequestApprovalRequested.of({ ...eventEnvelopeFields(by, mergeRequest), data }));
}

function eventEnvelopeFields({ actorId, seen }: EventActor, { id }: MergeRequestFacts) {
  return { aggregateId: id, actorId, ...(seen && { seen }) };
}

/** Data that every event on a merge request has. */
function mergeRequestEventData({ id, iid, projectId, authorId, createdAt }: MergeRequestFacts) {
  return {
    merge_request_id: id,
    merge_request_iid: iid,
    project_id: projectId,
    author_id: authorId,
    confidential: false,
    created_at: createdAt.toISOString(),
  };
}

const userIdsOf = (users: PeopleChange['added']): number[] => users.map((user) => user.id);
