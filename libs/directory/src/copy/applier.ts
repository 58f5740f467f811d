import { Inject, Injectable } from '@nestjs/common';
import type { DirectoryChangesAnswer } from '@rookery/contracts';
import { Unavailable } from '@rookery/kernel';
import { Database, runHedged, prepareStatement, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { runWithoutDeadline, LOGGER, Metrics } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { applyChanges, emptyDirectoryCopy, FIELDS } from './apply-changes';
import { DirectoryCopyProgress } from './copy-progress';
import type { Position } from './copy-progress';
import { IdentityClient } from './identity-client';
import { confirmLostDirectoryRecords, markDirectoryRecordsMaybeLost } from '../lost-records';

/**
 * Time for which identity may hold an idle poll. `busy` is under half of the 5 s within which effects need a current
 * copy. `calm` applies when no effect has needed one for ten seconds; the first effect that does ends the poll. It is
 * under a quarter of the 60 s within which anonymous callers are served. Units: ms.
 */
const POLL_MS = { busy: 1500, calm: 10_000 };
/** Entries of a batch. A version is never split between batches. */
const BATCH = 2000;

/**
 * Pause after a batch while no request waits for the copy. It collects changes into one batch, so that a thousand new
 * users need only some dozens of batches. Units: ms.
 */
const GATHER_MS = 100;

const POSITION = prepareStatement('directory_place', 'select version, epoch, life, seen from directory_state');
const LOCK = prepareStatement(
  'directory_copy_lock',
  'select version, epoch, life, seen, fields from directory_state for update skip locked',
);
const STORE = prepareStatement(
  'directory_copy_store',
  `update directory_state set version = $1, epoch = $2, fields = $5, life = $6, seen = $7, refreshed_at =
  case when $3 then greatest(refreshed_at, clock_timestamp() - $4::double precision * interval '1 millisecond') else refreshed_at end`,
);
/** Records that the copy was current when it was polled. $1 version, $2 epoch, $3 life, $4 ms since the poll. */
const CONFIRM = prepareStatement(
  'directory_copy_confirm',
  `update directory_state
  set refreshed_at = greatest(refreshed_at, clock_timestamp() - $4::double precision * interval '1 millisecond')
  where ctid = (select ctid from directory_state where version = $1 and epoch = $2 and life = $3 for update skip locked)
  returning version, epoch`,
);
const RESET = `update directory_state set version = 0, epoch = '', life = '', refreshed_at = '-infinity'`;

/**
 * Position of the copy, the life of identity's log in which it was reached, and the highest id of each kind ever seen.
 */
interface StoredPosition extends Position {
  readonly life: string;
  readonly seen: Readonly<Record<string, number>>;
}

/**
 * Applies identity's changes to the service's copy of the directory. Every replica does so. The row lock on
 * `directory_state` lets one replica store a batch and shows the others that it is stored, so that no leader is needed.
 *
 * Another epoch means another history: the copy loses its epoch at once, so that it decides nothing, and is loaded
 * again in one transaction. A copy never stops at a version below the one up to which the log was compacted, because
 * its contents there were never true at one time. A copy without a field that this process reads is loaded again when
 * the process starts. Users, groups and projects that are missing in another history are listed for an operator,
 * because this service still has data for them. Source: ADR 0041, 0042.
 */
@Injectable()
export class DirectoryApplier {
  private readonly lag;
  private currentAt = performance.now();
  /**
   * Whether the copy has the fields of this release. Checked only once, so that two releases at a time do not reload it
   * in turn.
   */
  private hasOwnFields = false;
  private hasMoved = false;

  constructor(
    @Inject(Work) private readonly work: Work,
    @Inject(Database) private readonly database: Database,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(IdentityClient) private readonly identity: IdentityClient,
    @Inject(DirectoryCopyProgress) private readonly progress: DirectoryCopyProgress,
    @Inject(Metrics) metrics: Metrics,
  ) {
    this.lag = metrics.gauge('rookery_directory_lag_versions', 'Versions that identity is ahead of the copy.');
    metrics.gauge('rookery_directory_lag_seconds', 'Time since the copy was last known to be current.', [], (gauge) =>
      gauge.set((performance.now() - this.currentAt) / 1000),
    );
  }

  /**
   * Polls identity once and stores the answer. Returns whether this process moved the copy: false when nothing is new
   * or another replica was storing. Errors: Unavailable when identity or the database is.
   */
  async pollOnce(signal: AbortSignal): Promise<boolean> {
    if (this.hasMoved) await this.progress.waitForDemand(GATHER_MS, signal);
    this.hasMoved = false;
    const position = await this.readStoredPosition();
    this.progress.reportPosition(position);
    const poll = await this.pollUntilChange(position, signal);
    if (!poll) return true;
    // Requests wait for the copy, so this has precedence over effects.
    const reached = await runWithoutDeadline(() =>
      this.hasNothingNew(position, poll)
        ? this.confirmPosition(poll)
        : this.work.run((tx) => this.storeChanges(tx, position, poll, signal)),
    );
    this.progress.settleRenewals();
    if (!reached) return false;
    this.hasOwnFields = true;
    this.lag.set(Math.max(0, poll.answer.head - reached.version));
    if (reached.version >= poll.answer.head) this.currentAt = poll.askedAt;
    this.progress.reportPosition(reached);
    this.hasMoved = reached.version !== position.version || reached.epoch !== position.epoch;
    return this.hasMoved;
  }

  private async readStoredPosition(): Promise<StoredPosition> {
    const [position] = await runWithoutDeadline(() =>
      runHedged(() => this.database.prepared<StoredPosition>(POSITION, [])),
    );
    if (!position) throw new Unavailable('directory behind');
    return position;
  }

  /**
   * Whether nothing is new. One statement replaces the transaction then, because a quiet estate does this all the time.
   */
  private hasNothingNew({ version, epoch, life }: StoredPosition, { answer }: PollAnswer): boolean {
    const isAtHead = answer.epoch === epoch && answer.life === life && answer.head === version;
    return this.hasOwnFields && isAtHead && answer.changes.length === 0;
  }

  private async confirmPosition({ answer, askedAt }: PollAnswer): Promise<Position | null> {
    const { head, epoch, life } = answer;
    const sinceMs = performance.now() - askedAt;
    const [confirmed] = await this.database.prepared<Position>(CONFIRM, [head, epoch, life, sinceMs]);
    return confirmed ?? null;
  }

  private async storeChanges(
    tx: Tx,
    from: StoredPosition,
    poll: PollAnswer,
    signal: AbortSignal,
  ): Promise<Position | null> {
    const [state] = await tx.prepared<StoredPosition & { readonly fields: string }>(LOCK, []);
    if (!state || state.version !== from.version || state.epoch !== from.epoch) return null;
    const isOtherHistory = poll.answer.epoch !== from.epoch;
    const hasOtherFields = !this.hasOwnFields && state.fields !== FIELDS;
    if ((isOtherHistory || hasOtherFields) && from.epoch !== '') {
      await tx.query(RESET);
      return { version: 0, epoch: '' };
    }
    if (isOtherHistory) {
      await tx.allowLongStatements();
      await markDirectoryRecordsMaybeLost(tx);
      await emptyDirectoryCopy(tx);
    }
    const seen = new Map(Object.entries(state.seen));
    const last = await this.storeUntilConsistent(tx, poll, isOtherHistory ? poll.answer.head : 0, seen, signal);
    const { answer, askedAt } = last;
    const isCurrent = answer.upTo >= answer.head;
    const rest = [FIELDS, answer.life ?? '', JSON.stringify(Object.fromEntries(seen))];
    await tx.prepared(STORE, [answer.upTo, answer.epoch, isCurrent, performance.now() - askedAt, ...rest]);
    const lost = isOtherHistory ? await confirmLostDirectoryRecords(tx) : 0;
    if (lost > 0)
      this.logger.warn({ lost }, 'resources with data in this service are unknown to identity after a restore');
    return { version: answer.upTo, epoch: answer.epoch };
  }

  /** Stores this batch, and further ones until the copy reaches a version with a consistent state. */
  private async storeUntilConsistent(
    tx: Tx,
    first: PollAnswer,
    minVersion: number,
    seen: Map<string, number>,
    signal: AbortSignal,
  ): Promise<PollAnswer> {
    let poll = first;
    recordHighestIds(seen, poll.answer.changes);
    await applyChanges(tx, poll.answer.changes);
    while (poll.answer.upTo < Math.max(minVersion, poll.answer.compactedTo)) {
      const { epoch, upTo, life = '' } = poll.answer;
      poll = await this.pollIdentity({ epoch, version: upTo, life, seen: Object.fromEntries(seen) }, 0, signal);
      if (poll.answer.epoch !== epoch || poll.answer.upTo <= upTo) throw new Unavailable('identity away');
      recordHighestIds(seen, poll.answer.changes);
      await applyChanges(tx, poll.answer.changes);
    }
    return poll;
  }

  /**
   * Polls identity, which may hold the answer. Returns null when a request cannot wait for that; the next poll asks at
   * once.
   */
  private async pollUntilChange(position: StoredPosition, signal: AbortSignal): Promise<PollAnswer | null> {
    const { urgency, isCalm } = this.progress;
    if (urgency.aborted || !this.hasOwnFields) {
      this.progress.resetUrgency();
      return this.pollIdentity(position, 0, signal);
    }
    if (!isCalm) return this.pollIdentity(position, POLL_MS.busy, signal);
    try {
      return await this.pollIdentity(position, POLL_MS.calm, AbortSignal.any([signal, urgency]));
    } catch (error) {
      if (urgency.aborted && !signal.aborted) return null;
      throw error;
    }
  }

  private async pollIdentity(position: StoredPosition, waitMs: number, signal: AbortSignal): Promise<PollAnswer> {
    const askedAt = performance.now();
    return { askedAt, answer: await this.identity.fetchChanges(position, { waitMs, limit: BATCH, signal }) };
  }
}

/**
 * An answer of identity. Units: `askedAt` by `performance.now()`; the answer includes everything committed before it.
 */
interface PollAnswer {
  readonly askedAt: number;
  readonly answer: DirectoryChangesAnswer;
}

/** Records the highest ids, also of deleted rows, because ids are never reused. */
function recordHighestIds(seen: Map<string, number>, changes: DirectoryChangesAnswer['changes']): void {
  for (const { kind, id } of changes) if (id > (seen.get(kind) ?? 0)) seen.set(kind, id);
}
