import { Injectable } from '@nestjs/common';
import type { ObjectId } from '@rookery/git';
import type { Tx } from '@rookery/persistence';
import { recordStateEvent } from '../../../base/resource-events/states-and-weights';
import { systemNotes, writeSystemNotes } from '../../../talk/notes/system-notes';
import { closeIssuesOfMergedRequest } from '../closing/close-merged';
import { emitMergeRequestStateChange } from '../merge-request-events';
import { findMergeAttempt, MergeRequest } from '../merge-request.entity';
import { mergeRequestKind } from '../merge-request.kind';
import type { AffectedRow } from '../versions/affected-merge-requests';

/** The pusher, the time of the settlement, that of the push, and the default branch; null while there is none. */
export interface PushActor {
  readonly actorId: number;
  readonly at: Date;
  readonly pushedAt: Date;
  readonly defaultBranch: string | null;
}

/** Closes and merges merge requests whose branches a push deleted or merged. Source: reference repositories 8.5, 8.9. */
@Injectable()
export class MergeRequestClosingService {
  /** Closes a merge request whose source branch is gone. */
  async closeMergeRequest(tx: Tx, row: AffectedRow, by: PushActor): Promise<void> {
    const { actorId: closedById, at } = by;
    const columns = { state: 'closed', closedAt: at, closedById, autoMergeUserId: null, updatedAt: at } as const;
    await tx.manager.update(MergeRequest, row.id, columns);
    const notes = [systemNotes.sourceBranch('deleted', row.source_branch), systemNotes.closed];
    await this.announceStateChange(tx, row, 'closed', notes, by);
  }

  /**
   * Marks a merge request as merged. `tip` is the new value of the target branch. If it is the result of a merge by the
   * API, the intent has the commits of that merge.
   */
  async markMerged(tx: Tx, row: AffectedRow, tip: ObjectId, by: PushActor): Promise<void> {
    const intent = findMergeAttempt(row.merge_intent, tip);
    const byPush = { mergeCommitSha: tip === row.head_sha ? null : tip, squashCommitSha: null };
    const { mergeCommitSha, squashCommitSha } = intent ?? byPush;
    await tx.manager.update(MergeRequest, row.id, {
      ...{ state: 'merged', mergedAt: by.at, mergedById: by.actorId, mergeStatus: 'can_be_merged', updatedAt: by.at },
      ...{ closedAt: null, closedById: null },
      ...{ mergeCommitSha, squashCommitSha, mergeIntent: null, mergeError: null, autoMergeUserId: null },
    });
    const isAutomatic = intent?.isAutomatic ?? false;
    await this.announceStateChange(tx, row, 'merged', [intent ? systemNotes.merged : systemNotes.mergedByPush], {
      ...by,
      isAutomatic,
    });
    const { id, iid, project_id: projectId } = row;
    if (row.target_branch === by.defaultBranch)
      await closeIssuesOfMergedRequest(tx, { id, iid, projectId }, by.actorId);
  }

  private async announceStateChange(
    tx: Tx,
    row: AffectedRow,
    state: 'closed' | 'merged',
    bodies: readonly string[],
    { actorId, at, isAutomatic }: PushActor & { readonly isAutomatic?: boolean },
  ): Promise<void> {
    const { id, iid, project_id: projectId, author_id: authorId, created_at: createdAt } = row;
    await recordStateEvent(tx, { type: mergeRequestKind.type, id, projectId }, state, { actorId, at });
    await writeSystemNotes(tx, mergeRequestKind, { noteableId: id, projectId, actorId, bodies, at });
    emitMergeRequestStateChange(tx, { actorId }, { id, iid, projectId, authorId, createdAt }, state, {
      at,
      ...(isAutomatic && { isAutomatic }),
    });
  }
}
