import { Injectable } from '@nestjs/common';
import { issueClosed, issueCreated, issueMoved } from '@rookery/contracts';
import type { SignedInViewer } from '@rookery/kernel';
import { Refused } from '@rookery/kernel';
import { prepared } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { copyAwards } from '../../../talk/award-emoji/award-copies';
import { namesakesOf, putLabels } from '../../../planning/labels/labelling/labelling';
import { namesakeOf, tellMilestone } from '../../../planning/milestones/assigning/chosen-milestone';
import { placeOf } from '../../../base/noteables/planning-place';
import { readerOf } from '../../../base/noteables/reader';
import { copyNotes, NO_NOTES_COPIED, notesCountedFor, weighNotes } from '../../../talk/notes/note-copies';
import type { CopiedNotes } from '../../../talk/notes/note-copies';
import { NoteLimit } from '../../../talk/notes/note-limit';
import { systemNotes, writeSystemNotes } from '../../../talk/notes/system-notes';
import { copyStatesAndWeights } from '../../../base/resource-events/resource-event-copies';
import { tellState } from '../../../base/resource-events/states-and-weights';
import { copySubscriptions } from '../../../following/subscriptions/subscription-copies';
import { Assignees } from '../assignees/assignees';
import { issueFacts } from '../issue-events';
import type { IssueFacts } from '../issue-events';
import { Issue } from '../issue.entity';
import { issueKind } from '../issue.kind';
import { issuePolicy } from '../issue.policy';
import type { IssueProject } from '../issues.queries';
import { IssuesService } from '../issues.service';
import { insertIssue } from '../new-issue';

/** An issue that a path names, and where it is to be too. */
export interface CopyWish {
  readonly from: IssueProject;
  readonly iid: number;
  readonly to: IssueProject;
}

const planned = prepared(
  'issues_planned',
  'select milestone_id from issues where project_id = $1::bigint and iid = $2::bigint',
);
/**
 * $1 original, $2 its copy, $3-$5 notes that were copied, $6 whether the times go along. The text stays that of whoever
 * wrote it: others who copy it name nobody by it.
 */
const carry = prepared(
  'issues_carry',
  `update issues i set title_edited_by_id = coalesce(o.title_edited_by_id, o.author_id),
     edited_by_id = coalesce(o.edited_by_id, o.author_id),
     public_notes_count = $3::integer, internal_notes_count = $4::integer,
     system_notes_count = $5::integer, upvotes_count = o.upvotes_count, downvotes_count = o.downvotes_count,
     time_estimate = o.time_estimate, total_time_spent = case when $6::boolean then o.total_time_spent else 0 end
   from issues o where i.id = $2::bigint and o.id = $1::bigint`,
);

/**
 * Issues that become issues of other projects. What is copied, and what is found anew by its name there, is that of
 * reference work-tracking 9.1.
 */
@Injectable()
export class IssueCopiesService {
  constructor(
    private readonly issues: IssuesService,
    private readonly assignees: Assignees,
    private readonly noteLimit: NoteLimit,
  ) {}

  /** Leaves the issue closed where it was. Errors: NotFound of the issue; Refused when it was moved before. */
  async move(
    tx: Tx,
    viewer: SignedInViewer,
    wish: CopyWish,
  ): Promise<{ readonly from: number; readonly to: IssueFacts }> {
    const { original, at, copy } = await this.copy(tx, viewer, wish, { isMove: true, withNotes: true });
    const isOpen = original.state === 'opened';
    const closed = isOpen ? ({ state: 'closed', closedAt: at, closedById: viewer.userId } as const) : {};
    await tx.manager.update(Issue, original.id, { ...closed, movedToId: copy.id, updatedAt: at });
    const about = { aggregateId: original.id, actorId: viewer.userId, seen: viewer.directory };
    if (isOpen) {
      const { id, projectId } = original;
      await tellState(tx, { type: issueKind.type, id, projectId }, 'closed', { actorId: viewer.userId, at });
      const data = { ...issueFacts(original), closed_at: at.toISOString(), moved: true };
      tx.emit(issueClosed.of({ ...about, data }));
    }
    return { from: original.id, to: copy };
  }

  /** Errors: NotFound of the issue. */
  async clone(tx: Tx, viewer: SignedInViewer, wish: CopyWish, withNotes: boolean): Promise<IssueFacts> {
    return (await this.copy(tx, viewer, wish, { isMove: false, withNotes })).copy;
  }

  /** Where a copy is to be and the milestone that it is to have, held before the issue is. */
  async place(
    tx: Tx,
    viewer: SignedInViewer,
    { from, iid, to }: CopyWish,
  ): Promise<{ readonly there: IssueProject; readonly milestoneId: number | null }> {
    const there = await placeOf(tx, viewer, to);
    const [plan] = await tx.prepared<{ milestone_id: number | null }>(planned, [from.id, iid]);
    return { there, milestoneId: await namesakeOf(tx, plan?.milestone_id ?? null, there) };
  }

  private async copy(
    tx: Tx,
    viewer: SignedInViewer,
    { from, iid, to }: CopyWish,
    { isMove, withNotes }: { readonly isMove: boolean; readonly withNotes: boolean },
  ): Promise<{ original: Issue; at: Date; copy: IssueFacts }> {
    await this.noteLimit.begin(tx, viewer);
    const { there, milestoneId } = await this.place(tx, viewer, { from, iid, to });
    const { issue: original, at } = await this.issues.locked(tx, viewer, from, iid);
    if (isMove && original.movedToId !== null) throw insufficient('move');
    // Internal notes are for reporters: a planner takes none along to where they may be read by others.
    const withInternal = readerOf(viewer, from).readsInternal;
    const copied = { from: original.id, withNotes, withInternal };
    await this.countCopied(tx, viewer, original, copied);
    const users = await this.assignees.eligible(viewer, there, await this.assignees.of(tx, original.id), tx);
    const labels = await namesakesOf(tx, { kind: issueKind, id: original.id }, there);
    const mayWeigh = issuePolicy.permits(viewer, there).weigh;
    const copy = await insertIssue(tx, {
      ...original,
      projectId: there.id,
      authorId: isMove ? original.authorId : viewer.userId,
      assigneeIds: [],
      labels: undefined,
      milestoneId,
      weight: mayWeigh ? original.weight : null,
      createdAt: isMove ? original.createdAt : null,
      // That of the author, who did not make the clone.
      ...(isMove ? {} : { userAgent: null, ipAddress: null }),
      iid: null,
    });
    const by = { actorId: viewer.userId, at };
    const thing = { type: issueKind.type, id: copy.id, projectId: there.id };
    await this.assignees.assign(tx, copy.id, [], users);
    const { added } = await putLabels(tx, { kind: issueKind, id: copy.id, projectId: there.id }, labels, by);
    await tellMilestone(tx, thing, { from: null, to: milestoneId }, by);
    await this.carry(tx, { ...copied, to: copy.id, projectId: there.id, isMove });
    await this.tell(tx, by, { original, from, copy, to: there, isMove });
    const about = { actorId: viewer.userId, seen: viewer.directory };
    const shared = { assignee_ids: users.map((user) => user.id), label_ids: [...added] };
    tx.emit(issueCreated.of({ ...about, aggregateId: copy.id, data: { ...issueFacts(copy), ...shared } }));
    const went = { became_id: copy.id, is_clone: !isMove, moved_at: at.toISOString() };
    tx.emit(issueMoved.of({ ...about, aggregateId: original.id, data: { ...issueFacts(original), ...went } }));
    return { original, at, copy };
  }

  /** Before anything is written. Errors: Refused when the notes hold too much; TooManyRequests. */
  private async countCopied(
    tx: Tx,
    viewer: SignedInViewer,
    { title, description }: Issue,
    o: { readonly from: number; readonly withNotes: boolean; readonly withInternal: boolean },
  ): Promise<void> {
    const notes = o.withNotes ? await weighNotes(tx, issueKind, o) : { bytes: 0, rows: 0 };
    const bytes = notes.bytes + Buffer.byteLength(title) + Buffer.byteLength(description ?? '');
    await this.noteLimit.begin(tx, viewer, notesCountedFor({ ...notes, bytes }));
  }

  /** What was said of it, and who follows it. A clone begins its own history and has no followers. */
  private async carry(
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
      await copyStatesAndWeights(tx, issueKind, o);
    }
    await tx.prepared(carry, [o.from, o.to, notes.publicCount, notes.internalCount, notes.systemCount, o.isMove]);
  }

  private async tell(
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
    const there = { noteableId: original.id, projectId: original.projectId, actorId, at };
    await writeSystemNotes(tx, issueKind, { ...there, bodies: closed });
    await writeSystemNotes(tx, issueKind, {
      ...there,
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

/** In the words that clients know. Source: reference work-tracking 9.1. */
export function insufficient(verb: 'move' | 'clone'): Refused {
  return new Refused(`Cannot ${verb} issue due to insufficient permissions!`, { verbatim: true });
}
