import { Inject, Injectable } from '@nestjs/common';
import type { DecideAnswer, DecideRequest } from '@rookery/contracts';
import type { Clock, Viewer } from '@rookery/kernel';
import { CLOCK, Forbidden, Unauthorized, Unavailable } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { awaitedByMany, Metrics } from '@rookery/platform';
import { CopyProgress, hasReached } from '../copy/copy-progress';
import type { CopyHead, Position } from '../copy/copy-progress';
import { DecisionCache } from './decision-cache';
import { flatRow } from '../copy/directory-rows';
import type { FlatRow } from '../copy/directory-rows';
import { IdentityClient } from '../copy/identity-client';
import { NO_REFERENCE } from '../sql/scope-statements';
import type { ScopeStatement } from '../sql/scope-statements';
import { SharedQuestion } from '../copy/shared-question';

/** What is to be decided. Shape: `read` makes the answer from a row of the statement, or of identity's decision. */
export interface Question<T> {
  readonly from: ScopeStatement;
  /** What identity is asked instead; null when it cannot be asked. */
  readonly asked: Omit<DecideRequest, 'viewer_id'> | null;
  readonly read: (row: FlatRow) => T;
}

type Row = FlatRow & CopyHead & { readonly viewer_state: string | null };
interface Decision {
  readonly answer: unknown;
  /** Left out by identity, which decides for people of any state. */
  readonly viewerState?: string | null;
}

/**
 * Takes a decision's facts from the copy when it has reached the viewer's version; else waits up to 150 ms; else asks
 * identity besides, and waits for either until the deadline; else refuses. Never from older data, neither to allow nor
 * to deny. An anonymous caller's version proves less, because the gateway may answer for identity while that is away:
 * their facts must be under 60 s old instead.
 * Source: reference reliability 4.2; ADR 0042.
 */
@Injectable()
export class Decisions {
  private readonly cache = new DecisionCache<Decision>();
  private readonly inFlight = new Map<string, Promise<DecideAnswer>>();
  private readonly identityHead = new SharedQuestion<Position>(() => awaitedByMany(() => this.identity.head()));
  private readonly outcomes;

  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(CopyProgress) private readonly progress: CopyProgress,
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

  /** Errors: Unavailable; Unauthorized or Forbidden for people who were deleted or blocked since. */
  async about<T>(viewer: Viewer, question: Question<T>): Promise<T> {
    const { statement, values } = question.from;
    const key = `${viewer.userId} ${statement.name} ${values.join('/')}`;
    const kept = this.cache.has(key) ? await this.kept(key, viewer) : undefined;
    const decision = kept ?? (await this.fromCopy(key, viewer, question)) ?? (await this.late(key, viewer, question));
    if (!decision) throw this.refusal();
    if (decision.viewerState !== undefined) admit(viewer, decision.viewerState);
    return decision.answer as T;
  }

  /** Nothing but that the copy has seen the viewer's version, and that the viewer may act. */
  fresh(viewer: Viewer): Promise<void> {
    return this.about(viewer, { from: NO_REFERENCE, asked: null, read: () => undefined });
  }

  /**
   * Where identity stands now, when that is beyond the viewer's version; null when it is not, and when identity does not
   * say so in time. For what was refused: the gateway of this request may not have heard yet what another answered.
   */
  async newest(viewer: Viewer): Promise<Position | null> {
    const leftMs = viewer.deadline - this.clock.now().getTime();
    const head = await within(
      this.identityHead.ask().catch(() => null),
      leftMs,
    );
    if (!head || head.epoch !== viewer.directory.epoch || head.version <= viewer.directory.version) return null;
    this.outcomes.inc({ outcome: 'judged again' });
    return head;
  }

  private async kept(key: string, viewer: Viewer): Promise<Decision | undefined> {
    const head = await this.progress.head();
    return mayDecide(head, viewer) ? this.cache.get(key, head) : undefined;
  }

  private async fromCopy<T>(
    key: string,
    viewer: Viewer,
    { from, read }: Question<T>,
    outcome: 'waited' | null = null,
  ): Promise<Decision | null> {
    const [row] = await this.database.prepared<Row>(from.statement, [viewer.userId, ...from.values]);
    if (!row || !mayDecide(row, viewer)) return null;
    const decision = { answer: read(row), viewerState: row.viewer_state };
    this.cache.put(key, decision, row);
    if (outcome !== null) this.outcomes.inc({ outcome });
    return decision;
  }

  /** The copy, if it catches up soon; else whichever answers first before the deadline, the copy or identity. */
  private async late<T>(key: string, viewer: Viewer, question: Question<T>): Promise<Decision | null> {
    const leftMs = viewer.deadline - this.clock.now().getTime();
    const soonMs = Math.min(this.progress.patienceMs, leftMs);
    const caughtUp = (ms: number, signal?: AbortSignal): Promise<Decision | null> =>
      this.progress
        .reach(viewer.directory, ms, signal)
        .then((reached) => (reached ? this.fromCopy(key, viewer, question, 'waited') : null));
    const soon = await caughtUp(soonMs);
    if (soon || soonMs === leftMs) return soon;
    const restMs = viewer.deadline - this.clock.now().getTime();
    const found = new AbortController();
    const asked = within(this.fromIdentity(viewer, question), restMs);
    return firstOf([asked, caughtUp(restMs, found.signal)]).finally(() => found.abort());
  }

  /** Null when identity cannot be asked or does not answer. Errors: Unavailable when it says that no wait will help. */
  private async fromIdentity<T>(viewer: Viewer, { asked, read }: Question<T>): Promise<Decision | null> {
    if (!asked) return null;
    const answer = await this.ask({ viewer_id: viewer.userId, ...asked }, viewer.directory).catch(() => null);
    if (!answer) return null;
    // Identity itself is not where the request's version is from: neither will the copy be.
    if (!hasReached(answer, viewer.directory)) throw this.refusal();
    this.outcomes.inc({ outcome: 'asked' });
    const row = {
      ...flatRow('p_', answer.project ?? {}),
      ...flatRow('n_', answer.namespace ?? {}),
      level: answer.access_level,
    };
    return { answer: read(row) };
  }

  private refusal(): Unavailable {
    this.outcomes.inc({ outcome: 'refused' });
    return new Unavailable('directory behind');
  }

  /** Many requests with one question share one call; an answer from before a request's version is asked anew, once. */
  private async ask(question: DecideRequest, target: Position): Promise<DecideAnswer> {
    const key = JSON.stringify(question);
    const shared = await this.inFlight.get(key);
    if (shared && hasReached(shared, target)) return shared;
    return this.inFlight.get(key) ?? this.launch(key, question);
  }

  private launch(key: string, question: DecideRequest): Promise<DecideAnswer> {
    const call = this.identity.decide(question).finally(() => this.inFlight.delete(key));
    this.inFlight.set(key, call);
    return call;
  }
}

function mayDecide(head: CopyHead, viewer: Viewer): boolean {
  return hasReached(head, viewer.directory) && (viewer.userId !== null || head.recent);
}

/** People who were deleted or blocked after the gateway checked their token. */
function admit(viewer: Viewer, state: string | null): void {
  if (viewer.userId === null || state === 'active') return;
  if (state === null) throw new Unauthorized();
  throw new Forbidden(`Your account has been ${state === 'deactivated' ? 'deactivated' : 'blocked'}`);
}

/** Resolves to null when it does not end in time. Units: ms. */
function within<T>(answer: Promise<T | null>, ms: number): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(null), ms);
    answer.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

/** The first that is not null; null when none is. Errors: the first one. */
function firstOf<T>(answers: readonly Promise<T | null>[]): Promise<T | null> {
  return new Promise((resolve, reject) => {
    for (const answer of answers) answer.then((given) => given !== null && resolve(given), reject);
    void Promise.all(answers).then(() => resolve(null), reject);
  });
}
