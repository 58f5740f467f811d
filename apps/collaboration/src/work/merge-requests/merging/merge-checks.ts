import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { ObjectId } from '@rookery/git';
import { Conflict, MethodNotAllowed, NotFound, Unauthorized, Unprocessable } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { requireNoteableReader } from '../../../base/noteables/reader';
import { mergeRequestKind } from '../merge-request.kind';
import { AutoMerge } from './auto-merge';
import { isPipelineStatusMergeable, mergeRulesOf } from './merge-rules';
import type { MergeWishes } from './merge-wishes';
import { MergePermissions } from './merge-permissions';
import { Mergeability } from './mergeability';
import { mergingRow } from './merging-rows';
import type { MergingRow } from './merging-rows';

/** Text of a merge that git or a rule refuses. */
export const REFUSED = 'Branch cannot be merged';

/** Statuses of head pipelines after which an automatic merge is refused. */
const HAS_FAILED: readonly (string | null)[] = ['failed', 'canceled'];

/** Checks that come before a merge. Source: reference repositories 8.9. */
@Injectable()
export class MergeChecks {
  constructor(
    private readonly database: Database,
    private readonly mergeability: Mergeability,
    private readonly autoMerge: AutoMerge,
    readonly permissions: MergePermissions,
  ) {}

  /** Returns the request to merge now; null if it is stored for later. Errors: those of `MergeService.merge`. */
  async findMergeable(
    viewer: SignedInViewer,
    project: ProjectScope,
    iid: number,
    wishes: MergeWishes,
  ): Promise<MergingRow | null> {
    const { row, isForLater } = await this.decideMerge(viewer, project, iid, wishes);
    if (isForLater) await this.autoMerge.enable(viewer, row, wishes);
    return isForLater ? null : row;
  }

  /** Decides whether the request is merged now, or is stored for later. Errors: those of `MergeService.merge`. */
  async decideMerge(
    viewer: SignedInViewer,
    project: ProjectScope,
    iid: number,
    wishes: Pick<MergeWishes, 'isAutomatic' | 'sha'>,
  ): Promise<{ readonly row: MergingRow; readonly isForLater: boolean }> {
    requireNoteableReader(viewer, { kind: mergeRequestKind, parent: project });
    await this.mergeability.refresh(project, iid);
    const [row] = await this.database.run(mergingRow, { project: project.id, iid });
    if (!row) throw new NotFound();
    if (!(await this.permissions.mayMergeInto(viewer, project, row.target_branch))) throw new Unauthorized();
    if (row.state !== 'opened' || row.commits_count === 0) throw new MethodNotAllowed();
    const rules = mergeRulesOf(project);
    const isBlocked =
      row.draft ||
      row.is_too_early ||
      row.lacks_approvals ||
      (rules.needsResolvedThreads && row.has_unresolved_threads) ||
      !isPipelineStatusMergeable(rules, row.head_status);
    if (wishes.isAutomatic && (isBlocked || (await this.autoMerge.waitsFor(project, row)))) {
      if (wishes.sha !== null && wishes.sha !== row.head_sha) throw createStaleHeadConflict(row.head_sha);
      return { row, isForLater: true };
    }
    if (wishes.isAutomatic && HAS_FAILED.includes(row.head_status)) throw new MethodNotAllowed();
    if (isBlocked) throw new MethodNotAllowed();
    if (row.merge_status !== 'can_be_merged') throw new Unprocessable(REFUSED);
    if (row.is_behind && rules.method !== 'merge') throw new Unprocessable(REFUSED);
    if (wishes.sha !== null && wishes.sha !== row.head_sha) throw createStaleHeadConflict(row.head_sha);
    return { row, isForLater: false };
  }
}

/** Refusal of a caller who knows another head of the source branch. */
export function createStaleHeadConflict(head: ObjectId | null): Conflict {
  return new Conflict(`SHA does not match HEAD of source branch: ${head ?? ''}`);
}
