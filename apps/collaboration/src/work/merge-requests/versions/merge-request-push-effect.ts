import { Injectable } from '@nestjs/common';
import { fetchCommit, mergeBase, readRef } from '@rookery/git';
import type { ObjectId, RefUpdate, Repository } from '@rookery/git';
import { Database } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { RefUpdateEffects } from '../../../code/repositories/ref-updates/ref-update-effects';
import type {
  PreparedEffect,
  RefUpdateEffect,
  SettledUpdates,
} from '../../../code/repositories/ref-updates/ref-update-effects';
import { findMergeAttempt } from '../merge-request.entity';
import { MergeRequestClosingService } from '../merging/merge-request-closing.service';
import type { PushActor } from '../merging/merge-request-closing.service';
import { DiffThreadFollower } from '../reviews/followed-threads';
import type { FollowedThreads } from '../reviews/followed-threads';
import {
  affectedBy,
  mapBranchUpdatesByName,
  dropOldAttempts,
  isDeletion,
  lockAffected,
  overtaken,
  uncheck,
} from './affected-merge-requests';
import type { AffectedRow } from './affected-merge-requests';
import { branchRef, measureDiffVersion } from './measure-version';
import type { MeasuredVersion } from './measure-version';
import { MergeRequestVersions } from './merge-request-versions';
import { readNewCommits } from './push-note';
import type { NewCommits } from './push-note';
import { readTargetPush } from './retraced-targets';
import type { TargetPush } from './retraced-targets';

/** Consequence of a push for one merge request. */
type PushConsequence =
  | { readonly kind: 'source deleted' }
  | {
      readonly kind: 'source moved';
      readonly update: RefUpdate;
      readonly version: MeasuredVersion;
      readonly commits: NewCommits;
    }
  | {
      readonly kind: 'merged';
      readonly tip: ObjectId;
      /** Whether the push still merges the row, which may have changed meanwhile. */
      applies(row: AffectedRow): boolean;
    }
  | { readonly kind: 'retraced'; readonly version: MeasuredVersion };

/** A consequence with the new places of the diff threads; null if none moves. */
type ConsequenceWithThreads = PlannedConsequence & { readonly threads: FollowedThreads | null };

interface PlannedConsequence {
  readonly row: AffectedRow;
  /** Repository of the target, which has all commits of the merge request. */
  readonly repository: Repository;
  readonly ref: string;
  readonly consequence: PushConsequence;
}

/**
 * Consequences of pushes for merge requests: new versions, closing with the source branch, merging by push, and merge
 * checks that are to be repeated. They are written with the settlement of the push. Source: reference repositories 8.5.
 */
@Injectable()
export class MergeRequestPushEffect implements RefUpdateEffect {
  constructor(
    effects: RefUpdateEffects,
    private readonly database: Database,
    private readonly versions: MergeRequestVersions,
    private readonly closing: MergeRequestClosingService,
    private readonly follower: DiffThreadFollower,
  ) {
    effects.declare(this);
  }

  async prepare(settled: SettledUpdates): Promise<PreparedEffect | null> {
    const moved = mapBranchUpdatesByName(settled.updates);
    if (moved.size === 0) return null;
    const rows = await this.database.run(affectedBy, { project: settled.projectId, branches: [...moved.keys()] });
    if (rows.length === 0) return null;
    const planned = await this.addThreadMoves(await this.planConsequences(settled, moved, rows));
    const targeting = rows.filter((row) => row.is_target).map(({ id }) => id);
    const closed = rows.filter(({ state }) => state === 'closed').map(({ id }) => id);
    return {
      write: async (tx) => {
        await this.writeConsequences(tx, settled, planned, targeting);
        if (closed.length > 0) await tx.run(dropOldAttempts, { ids: closed });
      },
      finish: async () => {
        for (const { row, repository } of planned) await this.versions.publishHead(repository, row.id);
        // Threads that were started meanwhile.
        for (const { row, repository, threads } of planned)
          if (threads) await this.follower.catchUp(repository, row.id, settled.userId);
      },
    };
  }

  private async addThreadMoves(planned: readonly PlannedConsequence[]): Promise<ConsequenceWithThreads[]> {
    const all: ConsequenceWithThreads[] = [];
    for (const one of planned) {
      const { row, repository, consequence } = one;
      const version = 'version' in consequence ? consequence.version : null;
      all.push({ ...one, threads: version && (await this.follower.prepare(repository, row.id, version)) });
    }
    return all;
  }

  private async planConsequences(
    settled: SettledUpdates,
    moved: ReadonlyMap<string, RefUpdate>,
    rows: readonly AffectedRow[],
  ): Promise<PlannedConsequence[]> {
    const { repository } = settled;
    const targets = new Map<string, TargetPush>();
    for (const [branch, update] of moved) {
      const into = rows.filter((row) => row.is_target && row.target_branch === branch);
      const iids = into.filter(({ state }) => state === 'opened').map(({ iid }) => iid);
      targets.set(branch, await readTargetPush(repository, update, iids));
    }
    const planned: PlannedConsequence[] = [];
    for (const row of rows) {
      const target = row.is_target ? moved.get(row.target_branch) : undefined;
      const source = row.is_source ? moved.get(row.source_branch) : undefined;
      const merged =
        target && findMergeCompletedByPush(row, target, { settled, push: targets.get(row.target_branch)! });
      if (merged) planned.push({ row, repository, ref: target.ref, consequence: merged });
      else if (row.state === 'closed') continue;
      else if (source) planned.push(...(await this.planSourcePush(settled, row, source)));
      else if (target) planned.push(...(await planTargetPush(settled, row, target, targets.get(row.target_branch)!)));
    }
    return planned;
  }

  /** A push to a fork copies its commits into the repository of the target. */
  private async planSourcePush(
    settled: SettledUpdates,
    row: AffectedRow,
    update: RefUpdate,
  ): Promise<PlannedConsequence[]> {
    const { ref, oldId, newId } = update;
    const isOwn = row.project_id === settled.projectId;
    const repository = isOwn ? settled.repository : await this.versions.sources.openTarget(row.project_id);
    if (!repository) return [];
    if (isDeletion(update)) return [{ row, repository, ref, consequence: { kind: 'source deleted' } }];
    if (!isOwn) await fetchCommit(repository, settled.repository, newId);
    // Without the target branch, the version is compared with the target of the version before.
    const target = (await readRef(repository, branchRef(row.target_branch))) ?? row.start_sha;
    if (target === null) return [];
    const version = await measureDiffVersion(repository, { source: newId, target });
    const before = row.head_sha ?? oldId;
    const commits = await readNewCommits(repository, { oldId: before, newId, target });
    const moved = { ref, oldId: before, newId };
    return [{ row, repository, ref, consequence: { kind: 'source moved', update: moved, version, commits } }];
  }

  private async writeConsequences(
    tx: Tx,
    settled: SettledUpdates,
    planned: readonly ConsequenceWithThreads[],
    targeting: readonly number[],
  ): Promise<void> {
    const ids = planned.map(({ row }) => row.id);
    const locked = new Map((await tx.run(lockAffected, { ids })).map((row) => [row.id, row]));
    const refs = [...new Set(planned.map(({ ref }) => ref))];
    const late = new Set((await tx.run(overtaken, { push: settled.pushId, refs })).map(({ ref }) => ref));
    if (targeting.length > 0) await tx.run(uncheck, { ids: targeting });
    for (const { row: before, ref, consequence, threads } of planned) {
      const row = locked.get(before.id);
      if (!row || !(consequence.kind === 'merged' ? consequence.applies(row) : row.state === 'opened')) continue;
      const { pushedAt, defaultBranch } = settled;
      const by = { actorId: settled.userId ?? row.author_id, at: row.at, pushedAt, defaultBranch };
      const isLate = late.has(ref);
      await this.applyConsequence(tx, row, consequence, { by, isLate });
      if (isLate) continue;
      const { id, iid, project_id: projectId } = row;
      await this.follower.writeThreads(tx, { id, iid, projectId, actorId: by.actorId, at: row.at }, threads);
    }
  }

  private async applyConsequence(
    tx: Tx,
    row: AffectedRow,
    consequence: PushConsequence,
    { by, isLate }: { readonly by: PushActor; readonly isLate: boolean },
  ): Promise<void> {
    switch (consequence.kind) {
      case 'source deleted':
        return isLate ? undefined : this.closing.closeMergeRequest(tx, row, by);
      case 'merged':
        return this.closing.markMerged(tx, row, consequence.tip, by);
      case 'source moved':
        if (row.head_sha === consequence.version.headSha) return;
        return this.versions.addVersion(tx, row, { ...consequence, by, isLate });
      case 'retraced':
        // A later push to the target has given the merge request its present base.
        if (isLate || row.head_sha !== consequence.version.headSha) return;
        return this.versions.recordTargetPush(tx, row.id, consequence.version, by.pushedAt);
    }
  }
}

/** Returns the merge that a push completes, or null. Only an attempt from before the closing merges a closed request. */
function findMergeCompletedByPush(
  row: AffectedRow,
  { newId }: RefUpdate,
  { settled, push: { pushed } }: { readonly settled: SettledUpdates; readonly push: TargetPush },
): PushConsequence | null {
  const applies = (now: AffectedRow): boolean => {
    const hasHead = now.state === 'opened' && now.head_sha !== null && pushed.has(now.head_sha);
    return hasHead || isPushOfMergeAttempt(now, newId, settled);
  };
  return applies(row) ? { kind: 'merged', tip: newId, applies } : null;
}

/** Longest time between an attempt to merge and its push: the attempt belongs to a request. Units: milliseconds. */
const ATTEMPT_MS = 60_000;

/**
 * Whether a push has the result of an attempt to merge. Other pushes may have that of a fast-forward too, since it is the
 * head itself. So it counts for the present head only, and for a closed request only if the same user merges, at about the
 * time of the closing or before: a later merge of another request with the same head does not.
 */
function isPushOfMergeAttempt(row: AffectedRow, tip: ObjectId, { source, userId, pushedAt }: SettledUpdates): boolean {
  const attempt = findMergeAttempt(row.merge_intent, tip);
  if (attempt === null || attempt.head !== tip) return attempt !== null;
  if (row.head_sha !== tip || row.state === 'opened') return row.head_sha === tip;
  const isInTime = row.closed_at !== null && pushedAt.getTime() <= row.closed_at.getTime() + ATTEMPT_MS;
  return isInTime && source === 'api' && userId === attempt.userId;
}

async function planTargetPush(
  { repository }: SettledUpdates,
  row: AffectedRow,
  update: RefUpdate,
  push: TargetPush,
): Promise<PlannedConsequence[]> {
  if (row.head_sha === null || !push.mayMove(row.iid)) return [];
  const base = await mergeBase(repository, [update.newId, row.head_sha]);
  if (base === row.base_sha && !push.isForced) return [];
  const version = await measureDiffVersion(repository, { source: row.head_sha, target: update.newId });
  return [{ row, repository, ref: update.ref, consequence: { kind: 'retraced', version } }];
}
