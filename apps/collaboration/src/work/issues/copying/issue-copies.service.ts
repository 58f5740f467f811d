import { Injectable } from '@nestjs/common';
import { issueClosed, issueCreated, issueMoved } from '@rookery/contracts';
import type { SignedInViewer } from '@rookery/kernel';
import { Refused } from '@rookery/kernel';
import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { copyAwards } from '../../../talk/award-emoji/award-copies';
import { findSameNamedLabels, setLabels } from '../../../planning/labels/labelling/labelling';
import { lockSameTitledMilestone, recordMilestoneEvent } from '../../../planning/milestones/assigning/milestone-choice';
import { withCurrentAncestors } from '../../../base/noteables/planning-place';
import { createNoteableReader } from '../../../base/noteables/reader';
import { copyNotes, NO_NOTES_COPIED, noteLimitCostOfCopy, measureNotesToCopy } from '../../../talk/notes/note-copies';
import type { CopiedNotes } from '../../../talk/notes/note-copies';
import { NoteLimit } from '../../../talk/notes/note-limit';
import { systemNotes, writeSystemNotes } from '../../../talk/notes/system-notes';
import { copyStateAndWeightEvents } from '../../../base/resource-events/resource-event-copies';
import { recordStateEvent } from '../../../base/resource-events/states-and-weights';
import { copySubscriptions } from '../../../following/subscriptions/subscription-copies';
import { AssignedPeopleService } from '../../../planning/people/people';
import { issueAssignees } from '../assignees/issue-assignees';
import { issueEventData } from '../issue-events';
import type { IssueFacts } from '../issue-events';
import { Issue } from '../issue.entity';
import { issueKind } from '../issue.kind';
import { issuePolicy } from '../issue.policy';
import type { IssueProject } from '../issues.queries';
import { IssuesService } from '../issues.service';
import { insertIssue } from '../new-issue';

/** The issue to copy and the target project. */
export interface CopyRequest {
  readonly from: IssueProject;
  readonly iid: number;
  readonly to: IssueProject;
}

const milestoneOf = prepareStatement(
  'issues_planned',
  'select milestone_id from issues where project_id = $1::bigint and iid = $2::bigint',
);
/**
 * $1 original, $2 copy, $3-$5 counts of copied notes, $6 whether spent time is copied. The original editors stay, so
 * that a user who copies the text mentions no one by it.
 */
const copyCounters = prepareStatement(
  'issues_carry',
  `update issues i set title_edited_by_id = coalesce(o.title_edited_by_id, o.author_id),
     edited_by_id = coalesce(o.edited_by_id, o.author_id),
     public_notes_count = $3::integer, internal_notes_count = $4::integer,
     system_notes_count = $5::integer, upvotes_count = o.upvotes_count, downvotes_count = o.downvotes_count,
     time_estimate = o.time_estimate, total_time_spent = case when $6::boolean then o.total_time_spent else 0 end
   from issues o where i.id = $2::bigint and o.id = $1::bigint`,
);

/**
 * Moves and clones issues between projects. Reference work-tracking 9.1 lists the fields that are copied and those that
 * are matched by name.
 */
@Injectable()
export class IssueCopiesService {
  constructor(
    private readonly issues: IssuesService,
    private readonly people: AssignedPeopleService,
    private readonly noteLimit: NoteLimit,
  ) {}

  /** Moves an issue and closes the original. Errors: NotFound of the issue; Refused if it was moved before. */
  async moveIssue(
    tx: Tx,
    viewer: SignedInViewer,
    request: CopyRequest,
  ): Promise<{ readonly from: number; readonly to: IssueFacts }> {
    const { original, at, copy } = await this.copyIssue(tx, viewer, request, { isMove: true, withNotes: true });
    const isOpen = original.state === 'opened';
    const closed = isOpen ? ({ state: 'closed', closedAt: at, closedById: viewer.userId } as const) : {};
    await tx.manager.update(Issue, original.id, { ...closed, movedToId: copy.id, updatedAt: at });
    const about = { aggregateId: original.id, actorId: viewer.userId, seen: viewer.directory };
    if (isOpen) {
      const { id, projectId } = original;
      await recordStateEvent(tx, { type: issueKind.type, id, projectId }, 'closed', { actorId: viewer.userId, at });
      const data = { ...issueEventData(original), closed_at: at.toISOString(), moved: true };
      tx.emit(issueClosed.of({ ...about, data }));
    }
    return { from: original.id, to: copy };
  }

  /** Clones an issue. Errors: NotFound of the issue. */
  async cloneIssue(tx: Tx, viewer: SignedInViewer, request: CopyRequest, withNotes: boolean): Promise<IssueFacts> {
    return (await this.copyIssue(tx, viewer, request, { isMove: false, withNotes })).copy;
  }

  /** Delays effects of moves of the target project and finds the milestone for the copy, before the issue is locked. */
  async lockTarget(
    tx: Tx,
    viewer: SignedInViewer,
    { from, iid, to }: CopyRequest,
  ): Promise<{ readonly targetProject: IssueProject; readonly milestoneId: number | null }> {
    const targetProject = await withCurrentAncestors(tx, viewer, to);
    const [plan] = await tx.prepared<{ milestone_id: number | null }>(milestoneOf, [from.id, iid]);
    return { targetProject, milestoneId: await lockSameTitledMilestone(tx, plan?.milestone_id ?? null, targetProject) };
  }

  private async copyIssue(
    tx: Tx,
    viewer: SignedInViewer,
    { from, iid, to }: CopyRequest,
    { isMove, withNotes }: { readonly isMove: boolean; readonly withNotes: boolean },
  ): Promise<{ original: Issue; at: Date; copy: IssueFacts }> {
    await this.noteLimit.begin(tx, viewer);
    const { targetProject, milestoneId } = await this.lockTarget(tx, viewer, { from, iid, to });
    const { issue: original, at } = await this.issues.lockIssue(tx, viewer, from, iid);
    if (isMove && original.movedToId !== null) throw createIssueCopyPermissionRefusal('move');
    // Internal notes are for reporters: a caller who may not read them cannot copy them into another project.
    const withInternal = createNoteableReader(viewer, from).readsInternal;
    const copied = { from: original.id, withNotes, withInternal };
    await this.countCopyAgainstNoteLimit(tx, viewer, original, copied);
    const users = await this.people.filterEligible(
      viewer,
      targetProject,
      await issueAssignees.userIds(tx, original.id),
      tx,
    );
    const labels = await findSameNamedLabels(tx, { kind: issueKind, id: original.id }, targetProject);
    const mayWeigh = issuePolicy.fieldPermissions(viewer, targetProject).weigh;
    const copy = await insertIssue(tx, {
      ...original,
      projectId: targetProject.id,
      authorId: isMove ? original.authorId : viewer.userId,
      assigneeIds: [],
      labels: undefined,
      milestoneId,
      weight: mayWeigh ? original.weight : null,
      createdAt: isMove ? original.createdAt : null,
      // The origin is that of the author, who did not create the clone.
      ...(isMove ? {} : { userAgent: null, ipAddress: null }),
      iid: null,
    });
    const by = { actorId: viewer.userId, at };
    const target = { type: issueKind.type, id: copy.id, projectId: targetProject.id };
    await this.people.assignUsers(tx, issueAssignees, copy.id, [], users);
    const { added } = await setLabels(tx, { kind: issueKind, id: copy.id, projectId: targetProject.id }, labels, by);
    await recordMilestoneEvent(tx, target, { from: null, to: milestoneId }, by);
    await this.copyRelatedRows(tx, { ...copied, to: copy.id, projectId: targetProject.id, isMove });
    await this.writeCopyNotes(tx, by, { original, from, copy, to: targetProject, isMove });
    const about = { actorId: viewer.userId, seen: viewer.directory };
    const shared = { assignee_ids: users.map((user) => user.id), label_ids: [...added] };
    tx.emit(issueCreated.of({ ...about, aggregateId: copy.id, data: { ...issueEventData(copy), ...shared } }));
    const moveData = { became_id: copy.id, is_clone: !isMove, moved_at: at.toISOString() };
    tx.emit(issueMoved.of({ ...about, aggregateId: original.id, data: { ...issueEventData(original), ...moveData } }));
    return { original, at, copy };
  }

  /**
   * Counts the copy against the note limit before any write. Errors: Refused if the notes are too large;
   * TooManyRequests.
   */
  private async countCopyAgainstNoteLimit(
    tx: Tx,
    viewer: SignedInViewer,
    { title, description }: Issue,
    o: { readonly from: number; readonly withNotes: boolean; readonly withInternal: boolean },
  ): Promise<void> {
    const notes = o.withNotes ? await measureNotesToCopy(tx, issueKind, o) : { bytes: 0, rows: 0 };
    const bytes = notes.bytes + Buffer.byteLength(title) + Buffer.byteLength(description ?? '');
    await this.noteLimit.begin(tx, viewer, noteLimitCostOfCopy({ ...notes, bytes }));
  }

  /** Copies notes, awards and subscriptions. A clone has no history and no subscribers. */
  private async copyRelatedRows(
    tx: Tx,
    o: {
      readonly from: number;
      readonly to: number;
      readonly projectId: number;
      readonly isMove: boolean;
      readonly withNotes: boolean;
      readonly withInternal: boolean;
    },
  ): Promise<void> {
    const notes: CopiedNotes = o.withNotes ? await copyNotes(tx, issueKind, o) : NO_NOTES_COPIED;
    await copyAwards(tx, issueKind, { ...o, notes });
    if (o.isMove) {
      await copySubscriptions(tx, issueKind, o);
      await copyStateAndWeightEvents(tx, issueKind, o);
    }
    await tx.prepared(copyCounters, [
      o.from,
      o.to,
      notes.publicCount,
      notes.internalCount,
      notes.systemCount,
      o.isMove,
    ]);
  }

  private async writeCopyNotes(
    tx: Tx,
    { actorId, at }: { readonly actorId: number; readonly at: Date },
    o: {
      readonly original: Issue;
      readonly from: IssueProject;
      readonly copy: IssueFacts;
      readonly to: IssueProject;
      readonly isMove: boolean;
    },
  ): Promise<void> {
    const { original, copy } = o;
    const text = o.isMove ? systemNotes.moved : systemNotes.cloned;
    const isHere = o.from.id === o.to.id;
    const referenceTo = (project: IssueProject, iid: number): string => `${isHere ? '' : project.fullPath}#${iid}`;
    const closed = o.isMove && original.state === 'opened' ? [systemNotes.closed] : [];
    const onOriginal = { noteableId: original.id, projectId: original.projectId, actorId, at };
    await writeSystemNotes(tx, issueKind, { ...onOriginal, bodies: closed });
    await writeSystemNotes(tx, issueKind, {
      ...onOriginal,
      bodies: [text('to', referenceTo(o.to, copy.iid))],
      referenced: { type: issueKind.type, id: copy.id },
    });
    await writeSystemNotes(tx, issueKind, {
      noteableId: copy.id,
      projectId: copy.projectId,
      actorId,
      at,
      bodies: [text('from', referenceTo(o.from, original.iid))],
      referenced: { type: issueKind.type, id: original.id },
    });
  }
}

/** Refusal without permission, in the wording that clients expect. Source: reference work-tracking 9.1. */
export function createIssueCopyPermissionRefusal(verb: 'move' | 'clone'): Refused {
  return new Refused(`Cannot ${verb} issue due to insufficient permissions!`, { verbatim: true });
}
