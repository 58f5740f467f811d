import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { NotFound, Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import { moveLinks } from '../issue-links/issue-link-moves';
import { insufficient, IssueCopiesService } from '../issues/copying/issue-copies.service';
import { IssuesQueries } from '../issues/issues.queries';
import type { IssueProject } from '../issues/issues.queries';
import { readerOf, reads } from '../noteables/reader';
import { planningPolicy } from '../noteables/planning.policy';
import type { PlanningSource } from '../noteables/planning.policy';

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
    if (to.id === from.id) throw new Refused('Cannot move issue to project it originates from!', { verbatim: true });
    if (!isMutual(viewer, from, to)) throw insufficient('move');
    const copy = await this.work.run(async (tx) => {
      const moved = await this.copies.move(tx, viewer, { from, iid, to });
      await moveLinks(tx, moved.from, moved.to.id);
      return moved.to;
    });
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
    if (!isMutual(viewer, from, to)) throw insufficient('clone');
    const copy = await this.work.run((tx) => this.copies.clone(tx, viewer, { from, iid, to }, withNotes));
    return this.queries.answer(viewer, to, copy.iid);
  }

  private async target(viewer: SignedInViewer, from: IssueProject, iid: number, toProjectId: number): Promise<Place> {
    await this.queries.find(viewer, from, iid);
    const to = await this.directory.project(toProjectId, viewer);
    if (!to) throw new NotFound('Project');
    return to;
  }
}

type Place = IssueProject & Extract<PlanningSource, { readonly kind: 'project' }>;

/** Planners of both, where issues are written. */
function isMutual(viewer: SignedInViewer, ...places: readonly Place[]): boolean {
  return places.every(
    (place) => planningPolicy.mayManage(viewer, place) && reads('issues', place, readerOf(viewer, place)),
  );
}
