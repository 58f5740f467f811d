import { Inject, Injectable } from '@nestjs/common';
import type { Readable } from 'node:stream';
import type { ProjectScope } from '@rookery/api-v4';
import { PushHooks, receivePack, removeStaleRefLocks } from '@rookery/git';
import type { Push, PushChecks, Repository } from '@rookery/git';
import { Forbidden, NotFound, Unauthorized, Unavailable } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { LOGGER } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { selectStoredPushOptions } from './push-options';
import { PushLimits } from './push-limits';
import { PushRules } from './push-rules';
import { isImportedMergeRequestHeadRef } from './ref-rules';
import { RefIntents } from './ref-intents';
import { PushSettlement } from './settlement';

/** A push that a client sends. */
export interface IncomingPush {
  readonly project: ProjectScope;
  /** Null for an import, which has the rights of the level of `project`. */
  readonly viewer: SignedInViewer | null;
  readonly input: Readable;
  /** Ends the wait for a process, and the process. */
  readonly signal?: AbortSignal;
  /** Text that git shows after the push, accepted or refused; null for none. */
  readonly notice: string | null;
  /** Rechecks the caller's permissions. Errors: the refusal. */
  recheckRights(): Promise<void>;
}

/** State of the record of a push, which the checks before and after the update share. `id` is null without a row. */
interface PushRecord {
  id: number | null;
  isSettled: boolean;
  /** Text that git shows after an accepted push. */
  warning: string | null;
}

const NOT_ALLOWED = 'You are not allowed to push code to this project.';
const CHANGED = 'Your permissions changed during the push. Please push again.';

/**
 * Receives pushes of git clients. The rules and the caller's permissions are checked before any ref moves, and the
 * intent is recorded; the outcome is settled before the client gets its answer. Source: ADR 0185.
 */
@Injectable()
export class PushReceiver {
  constructor(
    private readonly hooks: PushHooks,
    private readonly limits: PushLimits,
    private readonly intents: RefIntents,
    private readonly settlement: PushSettlement,
    private readonly rules: PushRules,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Starts to receive a push. Returns git's answer to its client. Errors: GitError. */
  async receivePush(repository: Repository, push: IncomingPush): Promise<Readable> {
    const recorded: PushRecord = { id: null, isSettled: false, warning: null };
    const ticket = this.hooks.expectPush(repository, this.createPushChecks(repository, push, recorded));
    try {
      const maxPackBytes = this.limits.maxPackBytes(push.project);
      const running = await receivePack(repository, {
        ...{ input: push.input, ticket, isImport: push.viewer === null, signal: push.signal },
        ...(maxPackBytes === null ? {} : { maxPackBytes }),
      });
      void running.ended
        .catch(() => undefined)
        .then(() => {
          ticket.close();
          return this.settlePush(repository, recorded, null);
        });
      return running.stdout;
    } catch (error) {
      ticket.close();
      throw error;
    }
  }

  /** Builds the callbacks of the git hooks: one decides on the push before refs change, one settles it afterwards. */
  private createPushChecks(repository: Repository, push: IncomingPush, recorded: PushRecord): PushChecks {
    return {
      beforeUpdate: async (sent) => {
        const refusal =
          (await this.findPushRefusal(push, sent, recorded)) ??
          (await this.recordPush(repository, push, sent, recorded));
        if (refusal !== null)
          return joinParagraphs(`Rookery: ${refusal}`, push.notice && `${push.notice} and try again.`);
        return null;
      },
      afterUpdate: async ({ updates }) => {
        const texts = await this.settlePush(repository, recorded, new Set(updates.map(({ ref }) => ref)));
        return joinParagraphs(...texts, recorded.warning, push.notice);
      },
    };
  }

  /** Records the intent. Returns the refusal of a quota, or null. */
  private async recordPush(
    repository: Repository,
    { project, viewer }: IncomingPush,
    { updates: sent, options, storedBytes, signal }: Push,
    recorded: PushRecord,
  ): Promise<string | null> {
    const updates = sent.filter(({ ref }) => !isImportedMergeRequestHeadRef(ref));
    // git refuses to update a ref while the lock of a killed process remains.
    await removeStaleRefLocks(
      repository,
      updates.map(({ ref }) => ref),
    );
    if (updates.length === 0) return null;
    const intent = {
      userId: viewer?.userId ?? null,
      source: 'git',
      options: selectStoredPushOptions(options),
    } as const;
    const outcome = await this.intents.recordWithinQuota(repository, { project, bytes: storedBytes }, intent, updates);
    if ('refusal' in outcome) return outcome.refusal;
    recorded.id = outcome.id;
    // The wait for the locks of quotas may outlast the time limit of the decision: then no ref moves.
    if (signal.aborted) await this.settlePush(repository, recorded, new Set());
    return null;
  }

  /** Checks everything but quotas. Rules and permissions are checked last, since reading the objects may take long. */
  private async findPushRefusal(push: IncomingPush, sent: Push, recorded: PushRecord): Promise<string | null> {
    const { project, viewer } = push;
    const { quarantined, updates, signal } = sent;
    const request = { project, viewer, source: 'git' } as const;
    const early =
      (await this.rules.findRefusal(quarantined, request, updates)) ??
      (await this.limits.refusalOfFiles(quarantined, project, updates, signal));
    if (early !== null) return early;
    // An import has no reader of a warning.
    if (viewer !== null) recorded.warning = await this.limits.warningOfFiles(quarantined, sent, updates);
    const late = this.limits.readsObjects(project, sent)
      ? await this.rules.findRefusal(quarantined, request, updates)
      : null;
    const refusal = late ?? (await this.findRightsRefusal(push));
    // A decision that took too long is refused already, and the push moves no ref.
    signal.throwIfAborted();
    return refusal;
  }

  private async findRightsRefusal({ recheckRights }: IncomingPush): Promise<string | null> {
    try {
      await recheckRights();
      return null;
    } catch (error) {
      if (error instanceof Forbidden) return error.reason ?? NOT_ALLOWED;
      if (error instanceof NotFound || error instanceof Unauthorized) return NOT_ALLOWED;
      if (error instanceof Unavailable && error.reason === 'rights changed') return CHANGED;
      throw error;
    }
  }

  /** A failed settlement does not fail the push: a job repeats it. */
  private async settlePush(
    repository: Repository,
    recorded: PushRecord,
    moved: ReadonlySet<string> | null,
  ): Promise<readonly string[]> {
    if (recorded.id === null || recorded.isSettled) return [];
    try {
      const texts = await this.settlement.settlePush(repository, recorded.id, moved);
      recorded.isSettled = true;
      return texts;
    } catch (error) {
      this.logger.warn({ err: error, pushId: recorded.id }, 'a push is not settled yet');
      return [];
    }
  }
}

function joinParagraphs(...texts: readonly (string | null)[]): string | null {
  const shown = texts.filter((text) => text !== null);
  return shown.length === 0 ? null : shown.join('\n\n');
}
