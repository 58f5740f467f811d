import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { mergeRequestEvents } from '@rookery/contracts';
import type { DirectoryUserRow } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import { Conflict, Forbidden, NotFound } from '@rookery/kernel';
import { statement, violatesConstraint, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { withCurrentAncestorsForPlanning } from '../../base/noteables/planning-place';
import { requireNoteableReader } from '../../base/noteables/reader';
import type { ParentFacts } from '../../base/noteables/reader';
import { recordStateEvent } from '../../base/resource-events/states-and-weights';
import type { ChangedNoteable } from '../../base/resource-events/states-and-weights';
import { resolveOrCreateLabels, setLabels } from '../../planning/labels/labelling/labelling';
import type { LabelledNoteable } from '../../planning/labels/labelling/labelling';
import { lockMilestone, recordMilestoneEvent } from '../../planning/milestones/assigning/milestone-choice';
import type { MilestoneChoice } from '../../planning/milestones/assigning/milestone-choice';
import { AssignedPeopleService } from '../../planning/people/people';
import { findMentions } from '../../talk/mentions/mentions';
import { joinTitleAndDescription } from '../../talk/mentions/text-events';
import { UserMentions } from '../../talk/mentions/user-mentions';
import { NoteLimit } from '../../talk/notes/note-limit';
import { removeNotesOfNoteables } from '../../talk/notes/note-removal';
import { systemNotes, writeSystemNotes } from '../../talk/notes/system-notes';
import { checkTitleAndDescription } from '../issues/issue.entity';
import { doApprovalsCover, resetApprovals } from './approvals/reset-approvals';
import { MergeRequestRecorder } from './closing/merge-request-recorder';
import { computeMergeRequestChange, keepPermittedMergeRequestChanges } from './merge-request-change';
import type { MergeRequestChange, MergeRequestUpdate } from './merge-request-change';
import { emitMergeRequestChange, emitMergeRequestCreated, isMergeRequestChanged } from './merge-request-events';
import type { RelatedChanges } from './merge-request-events';
import { MergeRequest } from './merge-request.entity';
import { mergeRequestKind } from './merge-request.kind';
import { mergeRequestPolicy } from './merge-request.policy';
import { insertMergeRequest, keepPermittedMergeRequestFields } from './new-merge-request';
import type { NewMergeRequest } from './new-merge-request';
import { mergeRequestAssignees, mergeRequestReviewers } from './people/merge-request-people';
import type { BranchPair, DeferredUpdate, PreparedBranches } from './versions/branches';
import { assertSameBranches } from './versions/merge-request-versions';
import type { MeasuredVersion } from './versions/measure-version';

/** Steps that belong to the transaction that creates or updates a merge request. */
export interface WriteSteps {
  readonly lock?: (tx: Tx) => Promise<void>;
  readonly finish?: (tx: Tx, iid: number) => Promise<void>;
}

/** Steps of an update. `resolve` is that of `DeferredUpdate`. */
export interface UpdateSteps extends WriteSteps {
  readonly resolve?: (tx: Tx, mergeRequest: MergeRequest) => Promise<MergeRequestUpdate>;
}

interface OpenBranchPairParams {
  readonly project: number;
  readonly origin: number | null;
  readonly source: string;
  readonly target: string;
}

const lockMergeRequestRow = statement<{ project: number; iid: number }, { readonly id: number; readonly at: Date }>(
  'merge_requests_lock',
  `select i.id, now() as at from merge_requests i
   where i.project_id = :project::bigint and i.iid = :iid::bigint for no key update`,
);
const openPair = statement<OpenBranchPairParams, { readonly iid: number }>(
  'merge_requests_open_pair',
  `select i.iid from merge_requests i where i.source_project_id = :origin::bigint and i.source_branch = :source
     and i.project_id = :project::bigint and i.target_branch = :target and i.state = 'opened'`,
);

/** Creates, changes and deletes merge requests. Times are the database's. Source: reference repositories 8.4, 8.6. */
@Injectable()
export class MergeRequestsService {
  constructor(
    private readonly work: Work,
    private readonly people: AssignedPeopleService,
    private readonly mentions: UserMentions,
    private readonly noteLimit: NoteLimit,
    private readonly records: MergeRequestRecorder,
  ) {}

  /** Creates a merge request. Returns its number and id. Errors: Conflict if the branches have an open one. */
  async create(
    viewer: SignedInViewer,
    project: ProjectScope,
    asked: NewMergeRequest,
    version: MeasuredVersion,
    steps: WriteSteps = {},
  ): Promise<{ readonly id: number; readonly iid: number }> {
    const input = keepPermittedMergeRequestFields(
      checkTitleAndDescription(asked),
      mergeRequestPolicy.mayPlan(viewer, project),
    );
    const [assignees, reviewers] = await this.findEligiblePeople(viewer, project, input);
    const isNotifying =
      assignees.length + reviewers.length > 0 || findMentions(joinTitleAndDescription(input)).all.length > 0;
    return this.mapOpenPairViolation(project.id, input, () =>
      this.work.run(async (tx) => {
        if (steps.finish) await this.noteLimit.begin(tx, viewer);
        else if (isNotifying) this.noteLimit.countNotes(tx, viewer);
        await steps.lock?.(tx);
        return this.insertMergeRequest(tx, viewer, project, {
          input,
          version,
          assignees,
          reviewers,
          finish: steps.finish,
        });
      }),
    );
  }

  private async insertMergeRequest(
    tx: Tx,
    viewer: SignedInViewer,
    project: ProjectScope,
    o: {
      readonly input: NewMergeRequest;
      readonly version: MeasuredVersion;
      readonly assignees: readonly DirectoryUserRow[];
      readonly reviewers: readonly DirectoryUserRow[];
      readonly finish: WriteSteps['finish'];
    },
  ): Promise<{ readonly id: number; readonly iid: number }> {
    const { input, version } = o;
    const place = await withCurrentAncestorsForPlanning(tx, viewer, project, input);
    const milestoneId = toReachableMilestoneId(await lockMilestone(tx, place, input.milestoneId)) ?? null;
    const newLabels = await resolveOrCreateLabels(tx, place, input.labels);
    const at = { projectId: project.id, authorId: viewer.userId, milestoneId };
    const made = await insertMergeRequest(tx, at, input, version);
    const by = { actorId: viewer.userId, at: made.createdAt };
    await this.records.recordVersion(tx, made.id, version);
    const assignees = await this.people.assignUsers(tx, mergeRequestAssignees, made.id, [], o.assignees);
    const reviewers = await this.people.assignUsers(tx, mergeRequestReviewers, made.id, [], o.reviewers);
    const relabelled = await setLabels(tx, toLabelledMergeRequest(made.id, project), newLabels, by);
    const labels = this.noteLimit.countLabels(tx, viewer, relabelled);
    await recordMilestoneEvent(tx, toChangedMergeRequest(made), { from: null, to: milestoneId }, by);
    emitMergeRequestCreated(tx, { ...by, seen: viewer.directory }, made, { assignees, reviewers, labels });
    await this.records.recordText(tx, viewer, { ...input, id: made.id }, made.createdAt);
    await o.finish?.(tx, made.iid);
    return { id: made.id, iid: made.iid };
  }

  /**
   * Updates a merge request. `branches` are the branches that the update needs, with their present version. Errors:
   * NotFound, Forbidden, Invalid, Conflict, TooManyRequests.
   */
  async update(
    viewer: SignedInViewer,
    project: ProjectScope,
    iid: number,
    asked: MergeRequestUpdate,
    branches: PreparedBranches | null,
    { lock, resolve, finish }: UpdateSteps = {},
  ): Promise<{ readonly id: number }> {
    const update = checkTitleAndDescription(asked);
    const pair = branches ?? { sourceProjectId: null, sourceBranch: '', targetBranch: '' };
    return this.mapOpenPairViolation(project.id, pair, () =>
      this.work.run(async (tx) => {
        await lock?.(tx);
        const resolved = resolve && { resolve: (locked: MergeRequest) => resolve(tx, locked) };
        const changed = await this.change(tx, viewer, project, iid, { update, branches, ...resolved });
        await finish?.(tx, iid);
        return changed;
      }),
    );
  }

  /** Updates a merge request in a given transaction. Errors: those of `update`. */
  async change(
    tx: Tx,
    viewer: SignedInViewer,
    project: ProjectScope,
    iid: number,
    { update, branches, resolve }: DeferredUpdate,
  ): Promise<{ readonly id: number }> {
    const allowed = keepPermittedMergeRequestChanges(update, mergeRequestPolicy.mayPlan(viewer, project));
    const place = await withCurrentAncestorsForPlanning(tx, viewer, project, allowed);
    const milestoneId = toReachableMilestoneId(await lockMilestone(tx, place, allowed.milestoneId));
    const { mergeRequest, at } = await this.lockMergeRequest(tx, viewer, project, iid);
    if (!mergeRequestPolicy.mayEdit(viewer, project, mergeRequest)) throw new Forbidden();
    if (branches) assertSameBranches(branches.before, mergeRequest);
    const by = { actorId: viewer.userId, at };
    const version = chooseNewVersion(mergeRequest, branches);
    const context = { ...by, version, hasSource: branches?.version !== null };
    const resolved = { ...allowed, ...(await resolve?.(mergeRequest)) };
    const change = computeMergeRequestChange(mergeRequest, { ...resolved, milestoneId }, context);
    const newLabels = await resolveOrCreateLabels(tx, place, allowed.labels);
    const related = await this.changePeopleAndLabels(tx, viewer, project, mergeRequest.id, {
      allowed: resolved,
      newLabels,
      by,
    });
    const milestones = { from: mergeRequest.milestoneId, to: change.columns.milestoneId ?? null };
    if (change.columns.milestoneId !== undefined)
      await recordMilestoneEvent(tx, toChangedMergeRequest(mergeRequest), milestones, by);
    if (change.state !== null) await recordStateEvent(tx, toChangedMergeRequest(mergeRequest), change.state, by);
    if (version) {
      const isApproved = await doApprovalsCover(tx, mergeRequest, version);
      await this.records.recordVersion(tx, mergeRequest.id, version);
      if (!isApproved) await tx.run(resetApprovals, { id: mergeRequest.id, only_if_set: true });
    }
    const mentionedBefore = change.textChanged ? await this.mentions.listMentionedIds(tx, mergeRequest) : [];
    await this.storeMergeRequestChange(tx, viewer, mergeRequest, { change, related, at });
    emitMergeRequestChange(tx, { ...by, seen: viewer.directory }, mergeRequest, {
      change,
      related,
      mentionedBefore,
      at,
    });
    if (change.textChanged) await this.records.recordText(tx, viewer, { ...mergeRequest, ...change.columns }, at);
    return { id: mergeRequest.id };
  }

  /** Deletes a merge request. Returns its facts. `check` receives its last change and may refuse. */
  async remove(
    viewer: SignedInViewer,
    project: ParentFacts,
    iid: number,
    check: (updatedAt: Date) => void,
  ): Promise<void> {
    await this.work.run(async (tx) => {
      const { mergeRequest } = await this.lockMergeRequest(tx, viewer, project, iid);
      if (!mergeRequestPolicy.mayDelete(viewer, project)) throw new Forbidden();
      check(mergeRequest.updatedAt);
      const { id, iid: number, projectId: project_id, state } = mergeRequest;
      await removeNotesOfNoteables(tx, mergeRequestKind, [id]);
      await tx.manager.delete(MergeRequest, id);
      tx.emit(mergeRequestEvents.deletedOf({ id, iid: number, project_id, state }, viewer.userId, viewer.directory));
    });
  }

  /** Locks the merge request that a path names until the transaction ends. Errors: NotFound, Forbidden. */
  async lockMergeRequest(
    tx: Tx,
    viewer: SignedInViewer,
    project: ParentFacts,
    iid: number,
  ): Promise<{ readonly mergeRequest: MergeRequest; readonly at: Date }> {
    requireNoteableReader(viewer, { kind: mergeRequestKind, parent: project });
    const [row] = await tx.run(lockMergeRequestRow, { project: project.id, iid });
    if (!row) throw new NotFound();
    return { mergeRequest: await tx.manager.findOneByOrFail(MergeRequest, { id: row.id }), at: row.at };
  }

  private async findEligiblePeople(
    viewer: SignedInViewer,
    project: ProjectScope,
    { assigneeIds, reviewerIds }: NewMergeRequest,
  ): Promise<[DirectoryUserRow[], DirectoryUserRow[]]> {
    return Promise.all([
      this.people.filterEligible(viewer, project, assigneeIds),
      this.people.filterEligible(viewer, project, reviewerIds),
    ]);
  }

  /** Sets people and labels. */
  private async changePeopleAndLabels(
    tx: Tx,
    viewer: SignedInViewer,
    project: ProjectScope,
    id: number,
    o: {
      readonly allowed: MergeRequestUpdate;
      readonly newLabels: Awaited<ReturnType<typeof resolveOrCreateLabels>>;
      readonly by: { readonly actorId: number; readonly at: Date };
    },
  ): Promise<RelatedChanges> {
    const context = { viewer, project };
    const people = async (list: typeof mergeRequestAssignees, requested: readonly number[] | undefined) => {
      if (requested === undefined) return { added: [], removed: [] };
      return this.people.reassignUsers(tx, context, list, { id, before: await list.userIds(tx, id) }, requested);
    };
    const assignees = await people(mergeRequestAssignees, o.allowed.assigneeIds);
    const reviewers = await people(mergeRequestReviewers, o.allowed.reviewerIds);
    const relabelled = await setLabels(tx, toLabelledMergeRequest(id, project), o.newLabels, o.by);
    return { assignees, reviewers, labels: this.noteLimit.countLabels(tx, viewer, relabelled) };
  }

  private async storeMergeRequestChange(
    tx: Tx,
    viewer: SignedInViewer,
    mergeRequest: MergeRequest,
    o: { readonly change: MergeRequestChange; readonly related: RelatedChanges; readonly at: Date },
  ): Promise<void> {
    if (!isMergeRequestChanged(o.change.columns, o.related)) return;
    const names = (users: readonly DirectoryUserRow[]): string[] => users.map((user) => user.username);
    const { assignees, reviewers } = o.related;
    const notes = [
      systemNotes.assignees(names(assignees.added), names(assignees.removed)),
      systemNotes.reviewers(names(reviewers.added), names(reviewers.removed)),
    ];
    const bodies = [...notes.filter((note) => note !== null), ...o.change.notes];
    // A milestone writes no note, but is announced by e-mail as a note is.
    if (bodies.length > 0 || o.change.columns.milestoneId !== undefined) this.noteLimit.countNotes(tx, viewer);
    await tx.manager.update(MergeRequest, mergeRequest.id, { ...o.change.columns, updatedAt: o.at });
    const { id: noteableId, projectId } = mergeRequest;
    await writeSystemNotes(tx, mergeRequestKind, { noteableId, projectId, actorId: viewer.userId, bodies, at: o.at });
  }

  /** Runs a write. Errors: Conflict if it would give the branches a second open merge request. */
  private async mapOpenPairViolation<T>(
    projectId: number,
    { sourceProjectId: origin, sourceBranch: source, targetBranch: target }: BranchPair,
    write: () => Promise<T>,
  ): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (!violatesConstraint(error, 'uq_merge_requests_open_pair')) throw error;
      const [other] = await this.work.run((tx) => tx.run(openPair, { project: projectId, origin, source, target }));
      const named = other ? `: !${other.iid}` : '';
      throw new Conflict([`Another open merge request already exists for this source branch${named}`]);
    }
  }
}

/** Version that an update brings. Returns null if the commits stay the same. */
function chooseNewVersion({ headSha, state }: MergeRequest, branches: PreparedBranches | null): MeasuredVersion | null {
  if (!branches?.version || state === 'merged') return null;
  return branches.isRetargeted || branches.version.headSha !== headSha ? branches.version : null;
}

/**
 * Returns the id of a requested milestone, or null if the project cannot use it. Source: reference repositories 8.4.
 */
function toReachableMilestoneId(choice: MilestoneChoice): number | null | undefined {
  return choice && !choice.isReached ? null : choice?.id;
}

function toChangedMergeRequest({ id, projectId }: Pick<MergeRequest, 'id' | 'projectId'>): ChangedNoteable {
  return { type: mergeRequestKind.type, id, projectId };
}

function toLabelledMergeRequest(id: number, project: ProjectScope): LabelledNoteable {
  return { kind: mergeRequestKind, id, projectId: project.id };
}
