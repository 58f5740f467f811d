import { Inject, Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { inQuarantine, quarantinedBytes, updateRefs } from '@rookery/git';
import type { ObjectWrite, RefFailure, RefUpdate, Repository } from '@rookery/git';
import type { SignedInViewer } from '@rookery/kernel';
import { runForWaiter, currentWaiter, LOGGER } from '@rookery/platform';
import type { Logger, Waiter } from '@rookery/platform';
import { PushLimits } from './push-limits';
import { PushRules } from './push-rules';
import { RefIntents } from './ref-intents';
import { PushSettlement } from './settlement';

const BACKGROUND: Waiter = { kind: 'process', deadline: Infinity };

/** Change of refs that a user requests through the API. */
export interface RefChange {
  readonly project: ProjectScope;
  /** Null for an import, which has the rights of the level of `project`. */
  readonly viewer: SignedInViewer | null;
  /** The change merges a request: for protected branches the right to merge suffices. */
  readonly isMerge?: true;
  /** Push options that are recorded as those of a push by git. */
  readonly options?: readonly string[];
  /**
   * Writes the new objects into `view`, if there are any, and returns the updates of refs. The objects become part of
   * the repository only if the rules allow the updates. Without an update, nothing changes.
   */
  write(view: Repository): Promise<readonly RefUpdate[]>;
}

/** Outcome of a change. `refusal` is a sentence for the user; `why` is null if a rule of the project refused. */
export type RefChangeOutcome =
  | { readonly moved: true }
  | { readonly moved: false; readonly why: null; readonly refusal: string }
  | { readonly moved: false; readonly why: RefFailure; readonly refusal: string };

/**
 * Changes refs for the API in the same order as a push: objects, rules, intent, refs, settlement. All refs move or none.
 * The push event is written before the answer. Source: ADR 0185.
 */
@Injectable()
export class RefChanges {
  constructor(
    private readonly intents: RefIntents,
    private readonly settlement: PushSettlement,
    private readonly rules: PushRules,
    private readonly limits: PushLimits,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Changes refs. Errors: GitError; those of `write`; the refusal of a caller whose permissions have changed. */
  async changeRefs(repository: Repository, change: RefChange): Promise<RefChangeOutcome> {
    return inQuarantine(repository, async (written) => {
      const updates = await change.write(written.repository);
      const refusal =
        (await this.rules.findRefusal(written.repository, { ...change, source: 'api' }, updates)) ??
        (await this.limits.refusalOfFiles(written.repository, change.project, updates));
      if (refusal !== null) return { moved: false, why: null, refusal };
      return updates.length === 0 ? { moved: true } : this.moveRefs(repository, change, written, updates);
    });
  }

  private async moveRefs(
    repository: Repository,
    { project, viewer, isMerge, options = [] }: RefChange,
    { repository: view, keep }: ObjectWrite,
    updates: readonly RefUpdate[],
  ): Promise<RefChangeOutcome> {
    // The transaction of the intent rechecks the permissions of the caller.
    const intent = { userId: viewer?.userId ?? null, source: 'api', options } as const;
    const bytes = await quarantinedBytes(view);
    const recorded = await this.intents.recordWithinQuota(repository, { project, bytes }, intent, updates);
    if ('refusal' in recorded) return { moved: false, why: null, refusal: recorded.refusal };
    const { id } = recorded;
    let moved: ReadonlySet<string> | null = new Set();
    try {
      // Objects may take long, and the recheck of permissions knows neither the branch nor its rules.
      const refusal = await this.rules.findRefusal(view, { project, viewer, isMerge, source: 'api' }, updates);
      if (refusal !== null) return { moved: false, why: null, refusal };
      await keep();
      moved = null;
      const outcomes = await updateRefs(repository, updates, { atomic: true });
      moved = new Set(outcomes.filter((one) => one.moved).map(({ ref }) => ref));
      const failed = outcomes.find((one) => !one.moved);
      if (!failed || failed.moved) return { moved: true };
      const [first] = outcomes.filter((one) => !one.moved && one.why !== 'failed');
      const { ref, why } = first && !first.moved ? first : failed;
      return { moved: false, why, refusal: `Could not update ${ref}. Please refresh and try again.` };
    } finally {
      await this.settleRefChange(repository, id, moved);
    }
  }

  /**
   * Settles a change whose refs have moved. It cannot be undone, so the rights and the deadline of the request no longer
   * matter. A failed settlement does not fail the change: a job repeats it.
   */
  private async settleRefChange(
    repository: Repository,
    pushId: number,
    moved: ReadonlySet<string> | null,
  ): Promise<void> {
    const { rights: _, ...waiter } = currentWaiter() ?? BACKGROUND;
    try {
      await runForWaiter({ ...waiter, deadline: Infinity }, () =>
        this.settlement.settlePush(repository, pushId, moved),
      );
    } catch (error) {
      this.logger.warn({ err: error, pushId }, 'a change of refs is not settled yet');
    }
  }
}
