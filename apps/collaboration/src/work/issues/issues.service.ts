import { Injectable } from '@nestjs/common';
import { issueCreated, issueEvents } from '@rookery/contracts';
import type { SignedInViewer } from '@rookery/kernel';
import { Forbidden, NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { prepareStatement, Work } from '@rookery/persistence';
import { setLabels, resolveOrCreateLabels } from '../../planning/labels/labelling/labelling';
import type { LabelledNoteable } from '../../planning/labels/labelling/labelling';
import {
  lockMilestone,
  checkMilestoneId,
  recordMilestoneEvent,
} from '../../planning/milestones/assigning/milestone-choice';
import { findMentions } from '../../talk/mentions/mentions';
import { publishTextWritten, joinTitleAndDescription } from '../../talk/mentions/text-events';
import type { WrittenText } from '../../talk/mentions/text-events';
import { UserMentions } from '../../talk/mentions/user-mentions';
import { withCurrentAncestorsForPlanning } from '../../base/noteables/planning-place';
import { lockNoteables } from '../../base/noteables/noteable-locks';
import { requireNoteableReader } from '../../base/noteables/reader';
import type { ParentFacts } from '../../base/noteables/reader';
import { NoteLimit } from '../../talk/notes/note-limit';
import { removeNotesOfNoteables } from '../../talk/notes/note-removal';
import { recordStateEvent, recordWeightEvent } from '../../base/resource-events/states-and-weights';
import type { ChangedNoteable, ChangedBy } from '../../base/resource-events/states-and-weights';
import { systemNotes, writeSystemNotes } from '../../talk/notes/system-notes';
import { AssignedPeopleService } from '../../planning/people/people';
import { issueAssignees } from './assignees/issue-assignees';
import { assertEpicNotConfidential } from './confidential-epics';
import { computeIssueChange, keepPermittedIssueChanges, changesMoreThanState } from './issue-change';
import type { IssueChange, IssueUpdate, DeferredIssueUpdate } from './issue-change';
import { emitIssueChange, isIssueChanged, issueEventData } from './issue-events';
import type { RelatedChanges } from './issue-events';
import { checkTitleAndDescription, Issue, countDescriptionTasks } from './issue.entity';
import { issueKind } from './issue.kind';
import { issuePolicy } from './issue.policy';
import { IssuesQueries } from './issues.queries';
import type { IssueProject } from './issues.queries';
import { findVisibleIssueIds, VISIBLE_ISSUE } from './visible-issues';
import type { EpicAssignment } from './epic/epic-assignment';
import { insertIssue, keepPermittedIssueFields } from './new-issue';
import type { NewIssue } from './new-issue';

/**
 * Steps that belong to the same transaction as a new issue. `lock` runs before the issue is inserted, `finish` after
 * it, with its number.
 */
interface CreationSteps {
  readonly epicAssignment?: EpicAssignment | undefined;
  readonly lock?: (tx: Tx) => Promise<void>;
  readonly finish?: (tx: Tx, iid: number) => Promise<void>;
}

const lockVisible = prepareStatement('issues_lock_visible', `${VISIBLE_ISSUE} for no key update`);
/** $1 issue. Its id, and the ids of issues that were moved to it or duplicate it. */
const namedBy = prepareStatement(
  'issues_named_by',
  `select $1::bigint as id where $1::bigint is not null
   union select id from issues where moved_to_id = $1::bigint union select id from issues where duplicated_to_id = $1::bigint`,
);

/**
 * Creates, changes and deletes issues. Methods return the issue as JSON text. Times are the database's. Source:
 * reference work-tracking 9.1.
 */
@Injectable()
export class IssuesService {
  constructor(
    private readonly work: Work,
    private readonly queries: IssuesQueries,
    private readonly people: AssignedPeopleService,
    private readonly mentions: UserMentions,
    private readonly noteLimit: NoteLimit,
  ) {}

  /** Creates an issue. Errors: Invalid by field; Conflict for a number in use; TooManyRequests. */
  async create(
    viewer: SignedInViewer,
    project: IssueProject,
    input: NewIssue,
    { epicAssignment, lock, finish }: CreationSteps = {},
  ): Promise<string> {
    const allowed = keepPermittedIssueFields(
      checkTitleAndDescription(input),
      issuePolicy.fieldPermissions(viewer, project),
    );
    const users = await this.people.filterEligible(viewer, project, allowed.assigneeIds);
    const counts = countDescriptionTasks(input.description);
    const isNotifying = users.length > 0 || findMentions(joinTitleAndDescription(input)).all.length > 0;
    const number = await this.work.run(async (tx) => {
      if (finish) await this.noteLimit.begin(tx, viewer);
      else if (isNotifying) this.noteLimit.countNotes(tx, viewer);
      const place = await withCurrentAncestorsForPlanning(tx, viewer, project, allowed);
      const milestoneId = checkMilestoneId(await lockMilestone(tx, place, allowed.milestoneId)) ?? null;
      await lock?.(tx);
      const setEpic = await epicAssignment?.(tx);
      const newLabels = await resolveOrCreateLabels(tx, place, allowed.labels);
      const row = { ...allowed, ...counts, milestoneId, projectId: project.id };
      const issue = await insertIssue(tx, { ...row, authorId: viewer.userId });
      await this.people.assignUsers(tx, issueAssignees, issue.id, [], users);
      const by = { actorId: viewer.userId, at: issue.createdAt };
      const labels = this.noteLimit.countLabels(
        tx,
        viewer,
        await setLabels(tx, toLabelledIssue(issue.id, project), newLabels, by),
      );
      await recordMilestoneEvent(tx, toChangedIssue(issue), { from: null, to: milestoneId }, by);
      if (allowed.weight !== null) await recordWeightEvent(tx, toChangedIssue(issue), allowed.weight, by);
      tx.emit(
        issueCreated.of({
          aggregateId: issue.id,
          actorId: viewer.userId,
          seen: viewer.directory,
          data: { ...issueEventData(issue), assignee_ids: users.map((user) => user.id), label_ids: [...labels.added] },
        }),
      );
      publishTextWritten(tx, viewer, {
        ...toTextSourceOfIssue(issue.id),
        text: joinTitleAndDescription(allowed),
        at: issue.createdAt,
      });
      await setEpic?.(issue.id);
      await finish?.(tx, issue.iid);
      return issue.iid;
    });
    // Reads after the commit, so that the counter of numbers is locked no longer than the writes take.
    return this.queries.answer(viewer, project, number);
  }

  async update(viewer: SignedInViewer, project: IssueProject, iid: number, update: IssueUpdate): Promise<string> {
    await this.work.run((tx) => this.change(tx, viewer, project, iid, { ...update, resolve: () => update }));
    return this.queries.answer(viewer, project, iid);
  }

  /**
   * Updates an issue inside a given transaction. An update without fields changes nothing. Errors: NotFound, Forbidden,
   * Invalid;
   * TooManyRequests.
   */
  async change(
    tx: Tx,
    viewer: SignedInViewer,
    project: IssueProject,
    iid: number,
    { labels, milestoneId, epicAssignment, resolve }: DeferredIssueUpdate,
  ): Promise<void> {
    const permits = issuePolicy.fieldPermissions(viewer, project);
    const planning = permits.plan ? { labels, milestoneId } : {};
    const place = await withCurrentAncestorsForPlanning(tx, viewer, project, planning);
    const choice = await lockMilestone(tx, place, planning.milestoneId);
    const setEpic = await epicAssignment?.(tx);
    const { issue, at } = await this.lockIssue(tx, viewer, project, iid);
    const before = await issueAssignees.userIds(tx, issue.id);
    const update: IssueUpdate = { ...resolve({ issue, assigneeIds: before, at }), labels, milestoneId, epicAssignment };
    if (Object.values(update).every((value) => value === undefined)) return;
    const subject = { authorId: issue.authorId, assigneeIds: before };
    const isAllowed = changesMoreThanState(update) ? issuePolicy.mayEdit : issuePolicy.mayChangeState;
    if (!isAllowed(viewer, project, subject)) throw new Forbidden();
    const allowed = {
      ...keepPermittedIssueChanges(checkTitleAndDescription(update), permits),
      milestoneId: checkMilestoneId(choice),
    };
    const change = computeIssueChange(issue, allowed, { actorId: viewer.userId, at });
    const context = { viewer, project };
    const assigned = { id: issue.id, before };
    const people = await this.people.reassignUsers(tx, context, issueAssignees, assigned, allowed.assigneeIds);
    const newLabels = await resolveOrCreateLabels(tx, place, allowed.labels);
    const by = { actorId: viewer.userId, at };
    await setEpic?.(issue.id, change.columns.confidential === true);
    if (change.columns.confidential === false) await assertEpicNotConfidential(tx, issue.id);
    const relabelled = await setLabels(tx, toLabelledIssue(issue.id, project), newLabels, by);
    const related = { people, labels: this.noteLimit.countLabels(tx, viewer, relabelled) };
    await this.writeResourceEvents(tx, issue, change, by);
    const mentionedBefore = change.textChanged ? await this.mentions.listMentionedIds(tx, issue) : [];
    await this.storeIssueChange(tx, viewer, issue, { change, related, at, backdatedAt: allowed.updatedAt });
    emitIssueChange(tx, viewer, issue, { change, related, mentionedBefore, at });
    if (!change.textChanged) return;
    publishTextWritten(tx, viewer, {
      ...toTextSourceOfIssue(issue.id),
      text: joinTitleAndDescription({ ...issue, ...change.columns }),
      at,
    });
  }

  /** Deletes an issue. `check` receives its last change and may refuse. */
  async remove(
    viewer: SignedInViewer,
    project: ParentFacts,
    iid: number,
    check: (updatedAt: Date) => void,
  ): Promise<void> {
    await this.work.run(async (tx) => {
      // Locks the issues that refer to it too, since the deletion changes their rows.
      const [visibleId = null] = await findVisibleIssueIds(tx, viewer, [{ project, iid }]);
      const referring = await tx.prepared<{ id: number }>(namedBy, [visibleId]);
      await lockNoteables(
        tx,
        issueKind,
        referring.map(({ id }) => id),
      );
      const { issue } = await this.lockIssue(tx, viewer, project, iid);
      if (!issuePolicy.mayDelete(viewer, project)) throw new Forbidden();
      check(issue.updatedAt);
      await removeNotesOfNoteables(tx, issueKind, [issue.id]);
      await tx.manager.delete(Issue, issue.id);
      const { id, iid: number, projectId: project_id, state } = issue;
      tx.emit(issueEvents.deletedOf({ id, iid: number, project_id, state }, viewer.userId, viewer.directory));
    });
  }

  /** Locks the issue that a path names until the transaction ends. Errors: NotFound of the issue. */
  async lockIssue(
    tx: Tx,
    viewer: SignedInViewer,
    project: ParentFacts,
    iid: number,
  ): Promise<{ issue: Issue; at: Date }> {
    const { viewerId, isMember, readsConfidential } = requireNoteableReader(viewer, {
      kind: issueKind,
      parent: project,
    });
    const values = [project.id, viewerId, isMember, readsConfidential, iid];
    const [row] = await tx.prepared<{ id: number; at: Date }>(lockVisible, values);
    if (!row) throw new NotFound('Issue');
    return { issue: await tx.manager.findOneByOrFail(Issue, { id: row.id }), at: row.at };
  }

  /** Writes the resource events of milestone, weight and state. */
  private async writeResourceEvents(
    tx: Tx,
    issue: Issue,
    { columns, state }: IssueChange,
    by: ChangedBy,
  ): Promise<void> {
    const milestones = { from: issue.milestoneId, to: columns.milestoneId ?? null };
    if (columns.milestoneId !== undefined) await recordMilestoneEvent(tx, toChangedIssue(issue), milestones, by);
    if (columns.weight !== undefined) await recordWeightEvent(tx, toChangedIssue(issue), columns.weight, by);
    if (state !== null) await recordStateEvent(tx, toChangedIssue(issue), state, by);
  }

  private async storeIssueChange(
    tx: Tx,
    viewer: SignedInViewer,
    issue: Issue,
    o: { change: IssueChange; related: RelatedChanges; at: Date; backdatedAt: Date | undefined },
  ): Promise<void> {
    const assigneeNote = systemNotes.assignees(
      o.related.people.added.map((user) => user.username),
      o.related.people.removed.map((user) => user.username),
    );
    const bodies = assigneeNote ? [assigneeNote, ...o.change.notes] : o.change.notes;
    if (!isIssueChanged(o.change.columns, o.related) && o.backdatedAt === undefined) return;
    // A milestone writes no note, but is announced by e-mail as a note is.
    if (bodies.length > 0 || o.change.columns.milestoneId !== undefined) this.noteLimit.countNotes(tx, viewer);
    await tx.manager.update(Issue, issue.id, { ...o.change.columns, updatedAt: o.backdatedAt ?? o.at });
    const { id: noteableId, projectId } = issue;
    await writeSystemNotes(tx, issueKind, { noteableId, projectId, actorId: viewer.userId, bodies, at: o.at });
  }
}

function toTextSourceOfIssue(id: number): Pick<WrittenText, 'about' | 'noteId'> {
  return { about: { type: issueKind.type, id }, noteId: null };
}

function toChangedIssue({ id, projectId }: Pick<Issue, 'id' | 'projectId'>): ChangedNoteable {
  return { type: issueKind.type, id, projectId };
}

function toLabelledIssue(id: number, project: IssueProject): LabelledNoteable {
  return { kind: issueKind, id, projectId: project.id };
}
