import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { NotFound, Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { moveLinks } from '../issue-links/issue-link-moves';
import { insufficient, IssueCopiesService } from '../issues/copying/issue-copies.service';
import type { CopyWish } from '../issues/copying/issue-copies.service';
import type { IssueFacts } from '../issues/issue-events';
import { IssuesQueries } from '../issues/issues.queries';
import type { IssueProject } from '../issues/issues.queries';
import { readerOf, reads } from '../../base/noteables/reader';
import { planningPolicy } from '../../base/noteables/planning.policy';
import type { PlanningSource } from '../../base/noteables/planning.policy';

/** Issues that go to other projects; answers are the new issue as JSON text. Source: reference work-tracking 9.1. */
@Injectable()
export class IssueMovesService {
  constructor(
    private readonly work: Work,
    private readonly directory: Directory,
    private readonly queries: IssuesQueries,
    private readonly copies: IssueCopiesService,
  ) {}

  /** Errors: NotFound of the issue and of the project; Refused where it is the same one, and without the right in both. */
  async move(viewer: SignedInViewer, from: Place, iid: number, toProjectId: number): Promise<string> {
    const to = await this.target(viewer, from, iid, toProjectId);
    const copy = await this.work.run((tx) => this.moveIn(tx, viewer, { from, iid, to }));
    return this.queries.answer(viewer, to, copy.iid);
  }

  /** Errors: NotFound of the issue and of the project; Refused without the right in both. */
  async clone(
    viewer: SignedInViewer,
    from: Place,
    iid: number,
    { toProjectId, withNotes }: { readonly toProjectId: number; readonly withNotes: boolean },
  ): Promise<string> {
    const to = await this.target(viewer, from, iid, toProjectId);
    const copy = await this.work.run((tx) => this.cloneIn(tx, viewer, { from, iid, to }, withNotes));
    return this.queries.answer(viewer, to, copy.iid);
  }

  /** Before the issue is held: where it goes, and what it is to have there. */
  async holdPlace(tx: Tx, viewer: SignedInViewer, wish: Going): Promise<void> {
    if (isMutual(viewer, wish.from, wish.to)) await this.copies.place(tx, viewer, wish);
  }

  /** Moves inside a transaction. Errors: as `move`, but of the project, which `destination` finds. */
  async moveIn(tx: Tx, viewer: SignedInViewer, wish: Going): Promise<IssueFacts> {
    const { from, to } = wish;
    if (to.id === from.id) throw new Refused('Cannot move issue to project it originates from!', { verbatim: true });
    if (!isMutual(viewer, from, to)) throw insufficient('move');
    const moved = await this.copies.move(tx, viewer, wish);
    await moveLinks(tx, moved.from, moved.to.id);
    return moved.to;
  }

  /** Clones inside a transaction. Errors: as `clone`, but of the project. */
  async cloneIn(tx: Tx, viewer: SignedInViewer, wish: Going, withNotes: boolean): Promise<IssueFacts> {
    if (!isMutual(viewer, wish.from, wish.to)) throw insufficient('clone');
    return this.copies.clone(tx, viewer, wish, withNotes);
  }

  /** Where an issue is to be. Errors: NotFound of the project. */
  async destination(viewer: SignedInViewer, ref: number | string): Promise<Place> {
    const to = await this.directory.project(ref, viewer);
    if (!to) throw new NotFound('Project');
    return to;
  }

  private async target(viewer: SignedInViewer, from: IssueProject, iid: number, toProjectId: number): Promise<Place> {
    await this.queries.find(viewer, from, iid);
    return this.destination(viewer, toProjectId);
  }
}

export type Place = IssueProject & Extract<PlanningSource, { readonly kind: 'project' }>;

/** An issue and where it is to be. */
interface Going extends CopyWish {
  readonly from: Place;
  readonly to: Place;
}

/** Planners of both, where issues are written. */
function isMutual(viewer: SignedInViewer, ...places: readonly Place[]): boolean {
  return places.every(
    (place) => planningPolicy.mayManage(viewer, place) && reads('issues', place, readerOf(viewer, place)),
  );
}
