import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { NotFound, Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { moveIssueLinks } from '../issue-links/issue-link-moves';
import { createIssueCopyPermissionRefusal, IssueCopiesService } from '../issues/copying/issue-copies.service';
import type { CopyRequest } from '../issues/copying/issue-copies.service';
import type { IssueFacts } from '../issues/issue-events';
import { IssuesQueries } from '../issues/issues.queries';
import type { IssueProject } from '../issues/issues.queries';
import { createNoteableReader, canReadFeature } from '../../base/noteables/reader';
import { planningPolicy } from '../../base/noteables/planning.policy';
import type { PlanningSource } from '../../base/noteables/planning.policy';

/** Moves and clones issues. Methods return the new issue as JSON text. Source: reference work-tracking 9.1. */
@Injectable()
export class IssueMovesService {
  constructor(
    private readonly work: Work,
    private readonly directory: Directory,
    private readonly queries: IssuesQueries,
    private readonly copies: IssueCopiesService,
  ) {}

  /**
   * Moves an issue. Errors: NotFound of the issue and of the project; Refused for the same project, or without the
   * permission in both.
   */
  async moveIssue(viewer: SignedInViewer, from: MoveProject, iid: number, toProjectId: number): Promise<string> {
    const to = await this.findMoveTarget(viewer, from, iid, toProjectId);
    const copy = await this.work.run((tx) => this.moveInTransaction(tx, viewer, { from, iid, to }));
    return this.queries.answer(viewer, to, copy.iid);
  }

  /** Clones an issue. Errors: NotFound of the issue and of the project; Refused without the permission in both. */
  async cloneIssue(
    viewer: SignedInViewer,
    from: MoveProject,
    iid: number,
    { toProjectId, withNotes }: { readonly toProjectId: number; readonly withNotes: boolean },
  ): Promise<string> {
    const to = await this.findMoveTarget(viewer, from, iid, toProjectId);
    const copy = await this.work.run((tx) => this.cloneInTransaction(tx, viewer, { from, iid, to }, withNotes));
    return this.queries.answer(viewer, to, copy.iid);
  }

  /** Delays effects of moves of the target project and locks the milestone for the copy, before the issue is locked. */
  async lockTarget(tx: Tx, viewer: SignedInViewer, move: IssueMove): Promise<void> {
    if (mayPlanIssuesInAllProjects(viewer, move.from, move.to)) await this.copies.lockTarget(tx, viewer, move);
  }

  /** Moves an issue inside a transaction. Errors: as `moveIssue`, but NotFound of the project comes from `findDestination`. */
  async moveInTransaction(tx: Tx, viewer: SignedInViewer, move: IssueMove): Promise<IssueFacts> {
    const { from, to } = move;
    if (to.id === from.id) throw new Refused('Cannot move issue to project it originates from!', { verbatim: true });
    if (!mayPlanIssuesInAllProjects(viewer, from, to)) throw createIssueCopyPermissionRefusal('move');
    const moved = await this.copies.moveIssue(tx, viewer, move);
    await moveIssueLinks(tx, moved.from, moved.to.id);
    return moved.to;
  }

  /** Clones an issue inside a transaction. Errors: as `cloneIssue`, but NotFound of the project comes from `findDestination`. */
  async cloneInTransaction(tx: Tx, viewer: SignedInViewer, move: IssueMove, withNotes: boolean): Promise<IssueFacts> {
    if (!mayPlanIssuesInAllProjects(viewer, move.from, move.to)) throw createIssueCopyPermissionRefusal('clone');
    return this.copies.cloneIssue(tx, viewer, move, withNotes);
  }

  /** Finds the project to which an issue is moved or cloned. Errors: NotFound if the viewer cannot see the project. */
  async findDestination(viewer: SignedInViewer, ref: number | string): Promise<MoveProject> {
    const to = await this.directory.findProject(ref, viewer);
    if (!to) throw new NotFound('Project');
    return to;
  }

  private async findMoveTarget(
    viewer: SignedInViewer,
    from: IssueProject,
    iid: number,
    toProjectId: number,
  ): Promise<MoveProject> {
    await this.queries.findIssue(viewer, from, iid);
    return this.findDestination(viewer, toProjectId);
  }
}

export type MoveProject = IssueProject & Extract<PlanningSource, { readonly kind: 'project' }>;

/** A move or clone of one issue between two projects. */
interface IssueMove extends CopyRequest {
  readonly from: MoveProject;
  readonly to: MoveProject;
}

/** Checks that the viewer may plan in all of these projects, and that each has issues. */
function mayPlanIssuesInAllProjects(viewer: SignedInViewer, ...projects: readonly MoveProject[]): boolean {
  return projects.every(
    (place) =>
      planningPolicy.mayManage(viewer, place) && canReadFeature('issues', place, createNoteableReader(viewer, place)),
  );
}
