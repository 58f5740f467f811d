import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { statement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { TodoRecorder } from '../../../following/todos/todo-recorder';
import { emitMergeRequestProgress } from '../merge-request-events';
import type { StoredMergeStatus } from '../merge-request.entity';

/** Result of a merge check. */
interface MergeCheckResult {
  readonly id: number;
  /** Compared commits; null for a missing branch. */
  readonly source: string | null;
  readonly target: string | null;
  readonly status: StoredMergeStatus;
  readonly behind: boolean;
  /** Null if the branches cannot be compared. */
  readonly conflicts: boolean | null;
}

interface CheckedMergeRequestRow {
  readonly id: number;
  readonly iid: number;
  readonly project_id: number;
  readonly author_id: number;
  readonly created_at: Date;
  readonly auto_merge_user_id: number | null;
  readonly was_conflicting: boolean;
  readonly is_conflicting: boolean;
  readonly at: Date;
}

/** The result counts only if no push has changed the source meanwhile. `updated_at` stays: clients sort by it. */
const storeCheckResult = statement<MergeCheckResult, CheckedMergeRequestRow>(
  'merge_requests_checked',
  `with before as (
     select id, is_conflicting from merge_requests
     where id = :id::bigint and state = 'opened' and merge_status in ('unchecked', 'cannot_be_merged_recheck')
       and (:source::text is null or head_sha = :source) for no key update
   )
   update merge_requests i set merge_status = :status, checked_source_sha = :source, checked_target_sha = :target,
     is_behind = :behind::boolean, is_conflicting = coalesce(:conflicts::boolean, i.is_conflicting)
   from before where i.id = before.id
   returning i.id, i.iid, i.project_id, i.author_id, i.created_at, i.auto_merge_user_id, before.is_conflicting as was_conflicting,
     i.is_conflicting, now() as at`,
);

const targetType = 'MergeRequest';

/** Stores results of merge checks, with to-dos and events about conflicts. Source: reference work-tracking 6.3, 6.4, 8.4. */
@Injectable()
export class MergeCheckResultStore {
  constructor(
    private readonly work: Work,
    private readonly todos: TodoRecorder,
  ) {}

  /** Stores a result, unless another check was faster. */
  async storeResult(result: MergeCheckResult): Promise<void> {
    await this.work.run(async (tx) => {
      const [row] = await tx.run(storeCheckResult, result);
      if (!row || row.is_conflicting === row.was_conflicting) return;
      if (row.is_conflicting) await this.raiseConflictTodos(tx, row);
      else await this.settleConflictTodos(tx, row);
    });
  }

  /** Raises to-dos for the author and the user of the automatic merge, and announces the conflicts to both. */
  private async raiseConflictTodos(tx: Tx, row: CheckedMergeRequestRow) {
    const { id: targetId, author_id: author, auto_merge_user_id: merger, at } = row;
    const cause = { eventId: randomUUID(), action: 'unmergeable', noteId: null, at: at.toISOString() } as const;
    const users = [...new Set([author, ...(merger === null ? [] : [merger])])];
    const candidates = users.map((userId) => ({ ...cause, targetType, targetId, userId, authorId: userId }));
    await this.todos.raiseTodos(tx, candidates);
    const facts = {
      id: targetId,
      iid: row.iid,
      projectId: row.project_id,
      authorId: author,
      createdAt: row.created_at,
    };
    emitMergeRequestProgress(tx, facts, { step: 'conflicting', actorId: author, userIds: users, at });
  }

  private async settleConflictTodos(
    tx: Tx,
    { id: targetId, project_id: projectId, at }: CheckedMergeRequestRow,
  ): Promise<void> {
    await this.todos.settleForAll(tx, 'unmergeable', [{ projectId, targetType, targetId, at: at.toISOString() }]);
  }
}
