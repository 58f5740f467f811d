import { Injectable } from '@nestjs/common';
import { isAncestor, readCommits } from '@rookery/git';
import type { ObjectId, Repository } from '@rookery/git';
import { Database, statement } from '@rookery/persistence';
import { PushSettlement } from '../../../code/repositories/ref-updates/settlement';
import { branchRef } from '../versions/measure-version';
import type { MergingRow } from './merging-rows';

/**
 * Unsettled pushes by attempts to merge a request, the oldest first. A push of git may have moved the branch, but not
 * yet its other refs, so that only its own process settles it. `tip` is the result of the attempt.
 */
const unsettledAttempts = statement<
  { id: number; project: number; ref: string },
  { readonly push_id: number; readonly tip: ObjectId }
>(
  'merge_requests_unsettled_attempts',
  `select p.id as push_id, u.new_id as tip
   from pushes p join ref_updates u on u.push_id = p.id and u.ref = :ref join merge_requests i on i.id = :id::bigint
   where p.project_id = :project::bigint and p.settled_at is null and p.source = 'api'
     and (i.merge_intent ->> 'tip' = u.new_id
       or i.merge_intent -> 'earlier' @> jsonb_build_array(jsonb_build_object('tip', u.new_id)))
   order by p.id`,
);

/** Earlier attempts to merge a request, whose process is slow or dead. */
@Injectable()
export class EarlierMergeAttempts {
  constructor(
    private readonly database: Database,
    private readonly settlement: PushSettlement,
  ) {}

  /**
   * Settles an earlier attempt that has moved the target branch, but is not settled because its process is slow or
   * dead. Returns whether there was one. Then the caller must not merge: a second merge would add the commits again.
   * `target` is the commit on which the next merge would build.
   */
  async settleAttempt(repository: Repository, row: MergingRow, target: ObjectId): Promise<boolean> {
    const { id, project_id: project, target_branch: branch } = row;
    const attempts = await this.database.run(unsettledAttempts, { id, project, ref: branchRef(branch) });
    for (const { push_id: push, tip } of attempts) {
      if (!(await containsMergeAttemptResult(repository, tip, target))) continue;
      await this.settlement.settlePush(repository, push, null);
      return true;
    }
    return false;
  }
}

/** Whether the target contains the result of an attempt. An attempt that never moved the branch may have no commits. */
async function containsMergeAttemptResult(
  repository: Repository,
  attemptTip: ObjectId,
  targetTip: ObjectId,
): Promise<boolean> {
  const [commit] = await readCommits(repository, [attemptTip]);
  return commit !== undefined && isAncestor(repository, attemptTip, targetTip);
}
