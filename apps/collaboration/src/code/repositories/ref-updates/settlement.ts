import { Inject, Injectable } from '@nestjs/common';
import { pushCompleted } from '@rookery/contracts';
import { NO_OBJECT, readRefs } from '@rookery/git';
import type { ObjectId, RefUpdate, Repository } from '@rookery/git';
import { Jobs } from '@rookery/jobs';
import { Database, statement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { ProtectedBranches } from '../../protected-refs/protected-branches';
import { LOGGER } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { measureRepository } from '../measure-repository';
import { pointHeadToExistingBranch } from './first-branch';
import type { DefaultBranch } from './first-branch';
import { isPartOfBulkPush } from './push-groups';
import type { PushSource, RefUpdateState } from './push.entity';
import { summarizePushedCommits } from './pushed-commits';
import type { PushedCommits } from './pushed-commits';
import { RefUpdateEffects } from './ref-update-effects';
import type { PreparedEffect } from './ref-update-effects';
import { appliedPushIds } from './settled-states';

interface RefUpdateRow {
  readonly ref: string;
  readonly old_id: ObjectId;
  readonly new_id: ObjectId;
}
type IntendedUpdateRow = RefUpdateRow & PushRow & { readonly source: PushSource; readonly options: readonly string[] };
type LaterUpdateRow = RefUpdateRow & { readonly push_id: number; readonly state: RefUpdateState };
interface PushRow {
  readonly project_id: number;
  readonly user_id: number | null;
  readonly created_at: Date;
  readonly stored_bytes: number;
}
interface SettleUpdatesParams {
  readonly id: number;
  readonly refs: readonly string[];
  readonly counts: readonly number[];
  readonly titles: readonly (string | null)[];
  readonly bulk: readonly boolean[];
}

const selectIntendedUpdates = statement<{ id: number }, IntendedUpdateRow>(
  'pushes_intended',
  `select u.ref, u.old_id, u.new_id, p.project_id, p.user_id, p.created_at, p.stored_bytes, p.source, p.options
   from ref_updates u join pushes p on p.id = u.push_id
   where u.push_id = :id::bigint and p.settled_at is null order by u.ref`,
);
/** Updates of the same refs from this push on, the newest first. */
const selectLaterUpdates = statement<{ id: number }, LaterUpdateRow>(
  'pushes_later_updates',
  `select u.push_id, u.ref, u.old_id, u.new_id, u.state
   from pushes own join pushes p on p.project_id = own.project_id and p.id >= own.id join ref_updates u on u.push_id = p.id
   where own.id = :id::bigint and u.ref in (select ref from ref_updates where push_id = :id::bigint)
   order by u.push_id desc`,
);
/** Closes a push. It returns no row if the push is settled already, so consequences happen once. */
const closePush = statement<{ id: number }, PushRow>(
  'pushes_close',
  `update pushes set settled_at = now() where id = :id::bigint and settled_at is null
   returning project_id, user_id, created_at, stored_bytes`,
);
const settleUpdates = statement<SettleUpdatesParams, never>(
  'pushes_settle_updates',
  `update ref_updates u set state = case when d.ref is null then 'refused' else 'done' end,
     commit_count = d.commit_count, commit_title = d.commit_title, is_bulk = coalesce(d.is_bulk, false)
   from ref_updates own
     left join unnest(:refs::text[], :counts::integer[], :titles::text[], :bulk::boolean[])
         as d (ref, commit_count, commit_title, is_bulk)
       on d.ref = own.ref
   where own.push_id = :id::bigint and u.push_id = own.push_id and u.ref = own.ref`,
);

/** Adds the bytes of a settled push to the size of its repository. The next measurement replaces the sum. */
const addRepositorySize = statement<{ projectId: number; bytes: number }, never>(
  'repositories_add_size',
  'update repositories set size = coalesce(size, 0) + :bytes::bigint where project_id = :projectId::bigint',
);
/** Returns a row for the first push that leaves a default branch behind. */
const markDefaultProtected = statement<{ projectId: number }, { project_id: number }>(
  'repositories_note_default',
  `update repositories set is_default_protected = true where project_id = :projectId::bigint and not is_default_protected
   returning project_id`,
);

/**
 * Settles pushes: records which refs moved, together with the consequences, in one transaction. A second settlement of
 * the same push has no effect. Source: ADR 0185.
 */
@Injectable()
export class PushSettlement {
  constructor(
    private readonly database: Database,
    private readonly work: Work,
    private readonly jobs: Jobs,
    private readonly protectedBranches: ProtectedBranches,
    private readonly effects: RefUpdateEffects,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Settles a push. Returns texts that git shows after it. `moved` are the refs that git reported as moved; null if its
   * report was lost.
   */
  async settlePush(repository: Repository, id: number, moved: ReadonlySet<string> | null): Promise<readonly string[]> {
    const rows = await this.database.run(selectIntendedUpdates, { id });
    if (rows.length === 0) return [];
    const happened = moved ?? (await this.findMovedRefs(repository, id));
    const done = rows
      .filter(({ ref }) => happened.has(ref))
      .map(({ ref, old_id: oldId, new_id: newId }) => ({ ref, oldId, newId }));
    const defaultBranch = await pointHeadToExistingBranch(repository);
    const commits = await this.listPushedCommits(repository, done, defaultBranch.name);
    const { project_id: projectId, user_id: userId, created_at: pushedAt, source, options } = rows[0]!;
    const push = { pushId: id, projectId, userId, pushedAt, source, options };
    const settled = { ...push, repository, updates: done, defaultBranch: defaultBranch.name };
    const effects = await this.effects.prepare(settled);
    await this.work.run((tx) => this.closeIntents(tx, id, { done, commits, defaultBranch, effects }));
    const texts: string[] = [];
    for (const effect of effects) texts.push(...(await this.finishEffect(id, effect)));
    return texts;
  }

  private async finishEffect(pushId: number, effect: PreparedEffect): Promise<readonly string[]> {
    try {
      return (await effect.finish?.()) ?? [];
    } catch (error) {
      this.logger.warn({ err: error, pushId }, 'an effect of a push is not finished yet');
      return [];
    }
  }

  private async closeIntents(
    tx: Tx,
    pushId: number,
    facts: {
      readonly done: readonly RefUpdate[];
      readonly commits: readonly PushedCommits[];
      readonly defaultBranch: DefaultBranch;
      readonly effects: readonly PreparedEffect[];
    },
  ): Promise<void> {
    const [push] = await tx.run(closePush, { id: pushId });
    if (!push) return;
    const { done, commits, defaultBranch, effects } = facts;
    await tx.run(settleUpdates, {
      id: pushId,
      refs: done.map(({ ref }) => ref),
      counts: commits.map(({ commitCount }) => commitCount),
      titles: commits.map(({ commitTitle }) => commitTitle),
      bulk: done.map((update) => isPartOfBulkPush(update, done)),
    });
    if (done.length === 0) return;
    if (push.stored_bytes > 0)
      await tx.run(addRepositorySize, { projectId: push.project_id, bytes: push.stored_bytes });
    await this.protectFirstDefaultBranch(tx, push.project_id, defaultBranch.name);
    const data = {
      push_id: pushId,
      project_id: push.project_id,
      user_id: push.user_id,
      default_branch: defaultBranch.name,
      default_branch_changed: defaultBranch.hasChanged,
      pushed_at: push.created_at.toISOString(),
    };
    tx.emit(pushCompleted.of({ aggregateId: pushId, actorId: push.user_id, data }));
    for (const effect of effects) await effect.write(tx);
    await this.jobs.enqueue(tx, measureRepository, { project_id: push.project_id });
  }

  private async protectFirstDefaultBranch(tx: Tx, projectId: number, name: string | null): Promise<void> {
    if (name === null) return;
    const [first] = await tx.run(markDefaultProtected, { projectId });
    if (first) await this.protectedBranches.protectDefault(tx, projectId, name);
  }

  private async findMovedRefs(repository: Repository, id: number): Promise<ReadonlySet<string>> {
    const rows = await this.database.run(selectLaterUpdates, { id });
    const refs = [...new Set(rows.map(({ ref }) => ref))];
    const now = await readRefs(repository, refs);
    return new Set(
      refs.filter((ref) => {
        const updates = rows
          .filter((row) => row.ref === ref)
          .map(({ push_id: pushId, old_id: oldId, new_id: newId, state }) => ({ pushId, oldId, newId, state }));
        return appliedPushIds(updates, now.get(ref) ?? NO_OBJECT).has(id);
      }),
    );
  }

  /** Updates that feeds show as one bulk event need no facts about commits. */
  private async listPushedCommits(
    repository: Repository,
    done: readonly RefUpdate[],
    defaultBranch: string | null,
  ): Promise<PushedCommits[]> {
    const commits: PushedCommits[] = [];
    for (const update of done)
      commits.push(
        isPartOfBulkPush(update, done)
          ? { commitCount: 0, commitTitle: null }
          : await summarizePushedCommits(repository, update, defaultBranch),
      );
    return commits;
  }
}
