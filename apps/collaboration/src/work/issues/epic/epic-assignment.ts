import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import type { ParentFacts } from '../../../base/noteables/reader';

/**
 * Sets the epic of an issue in two steps. The first call locks the issue and then the epics. The function that it
 * returns is called with the issue's id, once the issue is created or the caller may change it. `becomesConfidential`: the
 * same change makes the issue confidential, so that a confidential epic takes it.
 */
export type EpicAssignment = (tx: Tx) => Promise<(issueId: number, becomesConfidential?: boolean) => Promise<void>>;

/** Parameters that name the epic of an issue: its id, or its number in the group of the project. */
export interface EpicParams {
  readonly epic_id?: number | null | undefined;
  readonly epic_iid?: number | null | undefined;
}

/** Adds issues to epics and removes them. */
export interface EpicAssigner {
  /**
   * Returns the id of the epic with this number in the group of the project, whether the viewer may see it or not.
   * Errors: NotFound of the epic.
   */
  find(projectId: number, iid: number): Promise<number>;
  /**
   * Prepares a change. A null `epicId` removes the issue from its epic, if the viewer sees that epic. `iid` is null for
   * an issue that does not exist yet.
   * Errors: NotFound of the epic; Forbidden; Conflict.
   */
  prepare(
    viewer: SignedInViewer,
    on: { readonly project: ParentFacts; readonly iid: number | null },
    epicId: number | null,
  ): Promise<EpicAssignment>;
}

/**
 * Lets issues set their epic without an import of the epics wing. The epics wing imports this one and registers its
 * assigner.
 */
@Injectable()
export class EpicAssignments {
  private assigner: EpicAssigner | undefined;

  declare(assigner: EpicAssigner): void {
    this.assigner = assigner;
  }

  /**
   * Returns the id that the parameters name. Returns undefined if they name none, 0 and null for no epic. Errors:
   * NotFound of the epic.
   */
  async findEpicId(project: ParentFacts, { epic_id, epic_iid }: EpicParams): Promise<number | null | undefined> {
    if (epic_iid) return this.assigner?.find(project.id, epic_iid);
    return epic_id === undefined ? epic_iid : epic_id;
  }

  /**
   * Prepares a change of the epic. An undefined `epicId` keeps the epic; 0 and null remove it. Errors: those of
   * EpicAssigner.
   */
  async prepare(
    viewer: SignedInViewer,
    on: { readonly project: ParentFacts; readonly iid: number | null },
    epicId: number | null | undefined,
  ): Promise<EpicAssignment | undefined> {
    if (epicId === undefined || (on.iid === null && !epicId)) return undefined;
    return this.assigner?.prepare(viewer, on, epicId || null);
  }
}
