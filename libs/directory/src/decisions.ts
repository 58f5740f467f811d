import { Inject, Injectable } from '@nestjs/common';
import type { DecideAnswer, DecideRequest } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { CLOCK, Forbidden, Unauthorized, Unavailable } from '@rookery/kernel';
import type { Clock } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { Metrics } from '@rookery/platform';
import type { Prepared } from '@rookery/persistence';
import { CopyProgress, hasReached } from './copy-progress';
import type { Position } from './copy-progress';
import { flatRow } from './directory-rows';
import type { FlatRow } from './directory-rows';
import { IdentityClient } from './identity-client';
import { HEAD_ONLY } from './scope-statements';
import type { ScopeStatement } from './scope-statements';

/** How long a request waits for the copy before it asks identity. Units: ms. Source: reliability-and-security 4.2, 5. */
export const WAIT_MS = 150;

interface HeadRow extends Position {
  readonly recent: boolean;
  readonly viewer_state: string | null;
}

type Decided = FlatRow & HeadRow;

/**
 * Takes a decision's facts from the copy when it has reached the viewer's version; else waits up to 150 ms; else asks
 * identity; else refuses. Never from older data, neither to allow nor to deny. An anonymous caller's version proves
 * less, because the gateway may answer for identity while that is away: his facts must be under 60 s old instead.
 */
@Injectable()
export class Decisions {
  private readonly inFlight = new Map<string, Promise<DecideAnswer>>();
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

  /** Shape: a row with the prefixed columns of the statement, of which `p_id` or `n_id` may be null, and `level`. */
  async about(viewer: Viewer, asked: ScopeStatement, request: Omit<DecideRequest, 'viewer_id'>): Promise<FlatRow> {
    const read = (): Promise<Decided> => this.read(asked.statement, [viewer.userId, ...asked.values]);
    const row = (await this.current(viewer, read)) ?? (await this.ask(viewer, request));
    if ('viewer_state' in row) admit(viewer, row['viewer_state'] as string | null);
    return row;
  }

  async fresh(viewer: Viewer): Promise<void> {
    const row = await this.current(viewer, () => this.read(HEAD_ONLY, [viewer.userId]));
    if (!row) throw this.refusal();
    admit(viewer, row.viewer_state);
  }

  private async read(statement: Prepared, values: readonly unknown[]): Promise<Decided> {
    const [row] = await this.database.prepared<Decided>(statement, values);
    if (!row) throw new Unavailable('directory');
    return row;
  }

  private async current(viewer: Viewer, read: () => Promise<Decided>): Promise<Decided | null> {
    const row = await read();
    if (mayDecide(row, viewer)) return row;
    if (viewer.userId === null && hasReached(row, viewer.directory)) return null;
    const patience = Math.min(WAIT_MS, viewer.deadline - this.clock.now().getTime());
    if (!(await this.progress.reach(viewer.directory, patience))) return null;
    const later = await read();
    if (!mayDecide(later, viewer)) return null;
    this.outcomes.inc({ outcome: 'waited' });
    return later;
  }

  private async ask(viewer: Viewer, request: Omit<DecideRequest, 'viewer_id'>): Promise<FlatRow> {
    const question: DecideRequest = { viewer_id: viewer.userId, ...request };
    const answer = await this.fromIdentity(question, viewer.directory).catch(() => null);
    if (!answer) throw this.refusal();
    this.outcomes.inc({ outcome: 'asked' });
    return {
      ...(answer.project ? flatRow('p_', answer.project) : {}),
      ...(answer.namespace ? flatRow('n_', answer.namespace) : {}),
      level: answer.access_level,
    };
  }

  /** Many requests with one question share one call; an answer from before a request's version is asked anew, once. */
  private async fromIdentity(question: DecideRequest, target: Position): Promise<DecideAnswer | null> {
    const key = JSON.stringify(question);
    const shared = this.inFlight.get(key);
    if (shared) {
      const answer = await shared;
      if (hasReached(answer, target)) return answer;
    }
    const own = this.inFlight.get(key) ?? this.launch(key, question);
    const answer = await own;
    return hasReached(answer, target) ? answer : null;
  }

  private launch(key: string, question: DecideRequest): Promise<DecideAnswer> {
    const call = this.identity.decide(question).finally(() => this.inFlight.delete(key));
    this.inFlight.set(key, call);
    return call;
  }

  private refusal(): Unavailable {
    this.outcomes.inc({ outcome: 'refused' });
    return new Unavailable('directory');
  }
}

function mayDecide(row: Decided, viewer: Viewer): boolean {
  return hasReached(row, viewer.directory) && (viewer.userId !== null || row.recent);
}

/** People who were deleted or blocked after the gateway checked their token. */
function admit(viewer: Viewer, state: string | null): void {
  if (viewer.userId === null || state === 'active') return;
  if (state === null) throw new Unauthorized();
  throw new Forbidden(`Your account has been ${state === 'deactivated' ? 'deactivated' : 'blocked'}`);
}
