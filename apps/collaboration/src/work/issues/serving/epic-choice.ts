import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import type { ParentFacts } from '../../../base/noteables/reader';

/**
 * What a write of an issue says of the epic that it serves. Called first, to hold the issue and then the epics;
 * what it gives is called with the id of the issue once that is made, or known to be the writer's to change.
 */
export type Serving = (tx: Tx) => Promise<(issueId: number) => Promise<void>>;

/** Puts issues into epics and takes them out. */
export interface ServesEpics {
  /**
   * Shape: `epicId` null takes it out of the epic that it serves, as far as the viewer knows of that one; `iid` null for
   * an issue that is not made yet.
   * Errors: NotFound of the epic; Forbidden; Conflict.
   */
  serving(
    viewer: SignedInViewer,
    on: { readonly project: ParentFacts; readonly iid: number | null },
    epicId: number | null,
  ): Promise<Serving>;
}

/** Epics stand above issues and use them: their wing says here how an issue comes to serve one. */
@Injectable()
export class EpicChoice {
  private serves: ServesEpics | undefined;

  declare(serves: ServesEpics): void {
    this.serves = serves;
  }

  /** Shape: `epicId` undefined leaves it as it is, 0 and null take it away. Errors: as above. */
  async wished(
    viewer: SignedInViewer,
    on: { readonly project: ParentFacts; readonly iid: number | null },
    epicId: number | null | undefined,
  ): Promise<Serving | undefined> {
    if (epicId === undefined || (on.iid === null && !epicId)) return undefined;
    return this.serves?.serving(viewer, on, epicId || null);
  }
}
