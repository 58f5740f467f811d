import { Inject, Injectable } from '@nestjs/common';
import type { DecideAnswer, DecideRequest } from '@rookery/contracts';
import type { Clock, Viewer } from '@rookery/kernel';
import { CLOCK, Forbidden, Unauthorized, Unavailable } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { runWithoutDeadline, Metrics } from '@rookery/platform';
import { DirectoryCopyProgress, hasReached } from '../copy/copy-progress';
import type { CopyHead, Position } from '../copy/copy-progress';
import { DecisionCache } from './decision-cache';
import { toFlatDirectoryRow } from '../copy/directory-rows';
import type { FlatRow } from '../copy/directory-rows';
import { IdentityClient } from '../copy/identity-client';
import { NO_REFERENCE } from '../sql/scope-statements';
import type { ScopeStatement } from '../sql/scope-statements';
import { CoalescedCall } from '../copy/coalesced-call';

/** A question to decide. `read` builds the answer from a row of the statement, or from identity's decision. */
export interface DirectoryQuestion<T> {
  readonly from: ScopeStatement;
  /** The question in the form that identity decides; null if identity cannot decide it. */
  readonly asked: Omit<DecideRequest, 'viewer_id'> | null;
  readonly read: (row: FlatRow) => T;
}

type DecisionRow = FlatRow & CopyHead & { readonly viewer_state: string | null };
interface Decision {
  readonly answer: unknown;
  /** Missing in identity's decisions, which ignore the state of the user. */
  readonly viewerState?: string | null;
}

/**
 * Decides from the copy when it has reached the viewer's version. Otherwise waits up to 150 ms, then also asks identity
 * and waits for either until the deadline, and then refuses. Older data is never used, neither to allow nor to deny.
 * For anonymous callers the copy must also have been current less than 60 s ago, because the gateway may assign their
 * version while identity is unavailable. Source: reference reliability 4.2; ADR 0042.
 */
@Injectable()
export class DirectoryDecisions {
  private readonly cache = new DecisionCache<Decision>();
  private readonly inFlight = new Map<string, Promise<DecideAnswer>>();
  private readonly identityHead = new CoalescedCall<Position>(() =>
    runWithoutDeadline(() => this.identity.fetchHead()),
  );
  private readonly outcomes;

  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(DirectoryCopyProgress) private readonly progress: DirectoryCopyProgress,
    @Inject(IdentityClient) private readonly identity: IdentityClient,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(Metrics) metrics: Metrics,
  ) {
    this.outcomes = metrics.counter(
      'rookery_directory_late_decisions_total',
      'Decisions for which the copy of the directory was too old at first, by what came of it.',
      ['outcome'],
    );
  }

  /**
   * Returns the decision. Errors: Unavailable; Unauthorized or Forbidden for viewers who were deleted or blocked since.
   */
  async decideQuestion<T>(viewer: Viewer, question: DirectoryQuestion<T>): Promise<T> {
    const { statement, values } = question.from;
    const key = `${viewer.userId} ${statement.name} ${values.join('/')}`;
    const cached = this.cache.hasDecision(key) ? await this.decideFromCache(key, viewer) : undefined;
    const decision =
      cached ??
      (await this.decideFromCopy(key, viewer, question)) ??
      (await this.decideWhileCopyLags(key, viewer, question));
    if (!decision) throw this.createLagRefusal();
    if (decision.viewerState !== undefined) refuseInactiveViewer(viewer, decision.viewerState);
    return decision.answer as T;
  }

  /** Waits until the copy has seen the viewer's version, and checks that the viewer is active. Errors: as `decideQuestion`. */
  requireFresh(viewer: Viewer): Promise<void> {
    return this.decideQuestion(viewer, { from: NO_REFERENCE, asked: null, read: () => undefined });
  }

  /**
   * Returns identity's current position if it is newer than the viewer's; null if it is not, or without an answer in
   * time. Used after a refusal, because the gateway of the request may not have heard of a write through another
   * gateway.
   */
  async newestPosition(viewer: Viewer): Promise<Position | null> {
    const leftMs = viewer.deadline - this.clock.now().getTime();
    const head = await nullAfterTimeout(
      this.identityHead.askOnce().catch(() => null),
      leftMs,
    );
    if (!head || head.epoch !== viewer.directory.epoch || head.version <= viewer.directory.version) return null;
    this.outcomes.inc({ outcome: 'judged again' });
    return head;
  }

  private async decideFromCache(key: string, viewer: Viewer): Promise<Decision | undefined> {
    const head = await this.progress.readHead();
    return canDecideFromCopy(head, viewer) ? this.cache.findDecision(key, head) : undefined;
  }

  private async decideFromCopy<T>(
    key: string,
    viewer: Viewer,
    { from, read }: DirectoryQuestion<T>,
    outcome: 'waited' | null = null,
  ): Promise<Decision | null> {
    const [row] = await this.database.prepared<DecisionRow>(from.statement, [viewer.userId, ...from.values]);
    if (!row || !canDecideFromCopy(row, viewer)) return null;
    const decision = { answer: read(row), viewerState: row.viewer_state };
    this.cache.storeDecision(key, decision, row);
    if (outcome !== null) this.outcomes.inc({ outcome });
    return decision;
  }

  /**
   * Decides when the copy of the directory lags behind the caller. Waits for the copy a short time, then for the copy
   * or the identity service, whichever is first, until the deadline. Returns null without a decision in time.
   */
  private async decideWhileCopyLags<T>(
    key: string,
    viewer: Viewer,
    question: DirectoryQuestion<T>,
  ): Promise<Decision | null> {
    const leftMs = viewer.deadline - this.clock.now().getTime();
    const soonMs = Math.min(this.progress.waitMs, leftMs);
    const caughtUp = (ms: number, signal?: AbortSignal): Promise<Decision | null> =>
      this.progress
        .waitForPosition(viewer.directory, ms, signal)
        .then((reached) => (reached ? this.decideFromCopy(key, viewer, question, 'waited') : null));
    const soon = await caughtUp(soonMs);
    if (soon || soonMs === leftMs) return soon;
    const restMs = viewer.deadline - this.clock.now().getTime();
    const found = new AbortController();
    const asked = nullAfterTimeout(this.decideByIdentity(viewer, question), restMs);
    return firstNonNull([asked, caughtUp(restMs, found.signal)]).finally(() => found.abort());
  }

  /**
   * Asks identity. Null when it cannot be asked or does not answer. Errors: Unavailable when its position shows that
   * waiting is useless.
   */
  private async decideByIdentity<T>(viewer: Viewer, { asked, read }: DirectoryQuestion<T>): Promise<Decision | null> {
    if (!asked) return null;
    const answer = await this.askIdentityShared({ viewer_id: viewer.userId, ...asked }, viewer.directory).catch(
      () => null,
    );
    if (!answer) return null;
    // Identity itself has not reached the request's version, so the copy will not reach it either.
    if (!hasReached(answer, viewer.directory)) throw this.createLagRefusal();
    this.outcomes.inc({ outcome: 'asked' });
    const row = {
      ...toFlatDirectoryRow('p_', answer.project ?? {}),
      ...toFlatDirectoryRow('n_', answer.namespace ?? {}),
      level: answer.access_level,
    };
    return { answer: read(row) };
  }

  private createLagRefusal(): Unavailable {
    this.outcomes.inc({ outcome: 'refused' });
    return new Unavailable('directory behind');
  }

  /**
   * Shares one call among requests with the same question. An answer from before the request's version is requested
   * again, once.
   */
  private async askIdentityShared(question: DecideRequest, target: Position): Promise<DecideAnswer> {
    const key = JSON.stringify(question);
    const shared = await this.inFlight.get(key);
    if (shared && hasReached(shared, target)) return shared;
    return this.inFlight.get(key) ?? this.sendQuestion(key, question);
  }

  private sendQuestion(key: string, question: DecideRequest): Promise<DecideAnswer> {
    const call = this.identity.decide(question).finally(() => this.inFlight.delete(key));
    this.inFlight.set(key, call);
    return call;
  }
}

function canDecideFromCopy(head: CopyHead, viewer: Viewer): boolean {
  return hasReached(head, viewer.directory) && (viewer.userId !== null || head.recent);
}

/** Refuses users who were deleted or blocked after the gateway checked their token. */
function refuseInactiveViewer(viewer: Viewer, state: string | null): void {
  if (viewer.userId === null || state === 'active') return;
  if (state === null) throw new Unauthorized();
  throw new Forbidden(`Your account has been ${state === 'deactivated' ? 'deactivated' : 'blocked'}`);
}

/** Resolves to null when the answer does not arrive in time. Units: ms. */
function nullAfterTimeout<T>(answer: Promise<T | null>, ms: number): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(null), ms);
    answer.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

/** Resolves to the first answer that is not null; null if all are. Errors: the first one. */
function firstNonNull<T>(answers: readonly Promise<T | null>[]): Promise<T | null> {
  return new Promise((resolve, reject) => {
    for (const answer of answers) answer.then((given) => given !== null && resolve(given), reject);
    void Promise.all(answers).then(() => resolve(null), reject);
  });
}
