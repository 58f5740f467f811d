import { Inject, Injectable } from '@nestjs/common';
import type { DirectoryChangesAnswer } from '@rookery/contracts';
import { Unavailable } from '@rookery/kernel';
import { Database, hedged, prepared, Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { awaitedByMany, LOGGER, Metrics } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { applyChanges, dropCopy, FIELDS } from './apply-changes';
import { CopyProgress } from './copy-progress';
import type { Position } from './copy-progress';
import { IdentityClient } from './identity-client';
import { settleSuspects, suspectAll } from '../lost-things';

/**
 * How long identity may hold an idle poll: under half of the 5 s within which effects need a current copy. When nobody asked
 * for one in ten seconds it may be long, since the first that asks ends it; still under a quarter of the 60 s within which
 * strangers are served. Units: ms.
 */
const POLL_MS = { busy: 1500, calm: 10_000 };
/** Entries a batch; a version is never split. */
const BATCH = 2000;

/**
 * After a batch, while nobody waits for the copy: what changes in the meantime comes together, so that a thousand new
 * people cost each service some dozens of turns. Units: ms.
 */
const GATHER_MS = 100;

const PLACE = prepared('directory_place', 'select version, epoch, life, seen from directory_state');
const LOCK = prepared(
  'directory_copy_lock',
  'select version, epoch, life, seen, fields from directory_state for update skip locked',
);
const STORE = prepared(
  'directory_copy_store',
  `update directory_state set version = $1, epoch = $2, fields = $5, life = $6, seen = $7, refreshed_at =
  case when $3 then greatest(refreshed_at, clock_timestamp() - $4::double precision * interval '1 millisecond') else refreshed_at end`,
);
/** $1 version, $2 epoch, $3 life, $4 ms since it was asked. The copy stands where it stood, and was current then. */
const CONFIRM = prepared(
  'directory_copy_confirm',
  `update directory_state
  set refreshed_at = greatest(refreshed_at, clock_timestamp() - $4::double precision * interval '1 millisecond')
  where ctid = (select ctid from directory_state where version = $1 and epoch = $2 and life = $3 for update skip locked)
  returning version, epoch`,
);
const FORGET = `update directory_state set version = 0, epoch = '', life = '', refreshed_at = '-infinity'`;

/** Where the copy stands, in which life of identity's log it got there, and the highest id of each kind it ever held. */
interface Place extends Position {
  readonly life: string;
  readonly seen: Readonly<Record<string, number>>;
}

/**
 * Brings the service's copy of the directory from one version to the next. Every replica does so; the row lock on
 * `directory_state` lets one of them store a batch and shows the others that it was done, so that no leader has to
 * be elected or replaced.
 *
 * Another epoch means another history: from that moment the copy has no epoch, hence decides nothing, and is loaded
 * anew in one transaction. Likewise a copy never stops at a version below the one up to which the log was compacted,
 * for what it would hold there was never true at one time. A copy that was made without a field that this process reads
 * is loaded anew when the process begins, for what it holds of it is nothing. What another history does not know is
 * listed for an operator, with all that this service holds for it. Source: ADR 0041, 0042.
 */
@Injectable()
export class Applier {
  private readonly lag;
  private currentAt = performance.now();
  /** Of the copy, at the first look. Not asked again, so that two releases that run together leave each other alone. */
  private areFieldsOurs = false;
  private hasMoved = false;

  constructor(
    @Inject(Work) private readonly work: Work,
    @Inject(Database) private readonly database: Database,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(IdentityClient) private readonly identity: IdentityClient,
    @Inject(CopyProgress) private readonly progress: CopyProgress,
    @Inject(Metrics) metrics: Metrics,
  ) {
    this.lag = metrics.gauge('rookery_directory_lag_versions', 'Versions that identity is ahead of the copy.');
    metrics.gauge('rookery_directory_lag_seconds', 'Time since the copy was last known to be current.', [], (gauge) =>
      gauge.set((performance.now() - this.currentAt) / 1000),
    );
  }

  /**
   * One poll and what follows from it. Shape: whether the copy moved by this process; false when nothing is new and
   * when another replica was at it. Errors: Unavailable when identity or the database is.
   */
  async turn(signal: AbortSignal): Promise<boolean> {
    if (this.hasMoved) await this.progress.calm(GATHER_MS, signal);
    this.hasMoved = false;
    const position = await this.place();
    this.progress.moved(position);
    const poll = await this.heldPoll(position, signal);
    if (!poll) return true;
    // Requests wait for it, so it does not stand behind effects.
    const reached = await awaitedByMany(() =>
      this.isConfirmed(position, poll)
        ? this.confirm(poll)
        : this.work.run((tx) => this.store(tx, position, poll, signal)),
    );
    this.progress.looked();
    if (!reached) return false;
    this.areFieldsOurs = true;
    this.lag.set(Math.max(0, poll.answer.head - reached.version));
    if (reached.version >= poll.answer.head) this.currentAt = poll.askedAt;
    this.progress.moved(reached);
    this.hasMoved = reached.version !== position.version || reached.epoch !== position.epoch;
    return this.hasMoved;
  }

  private async place(): Promise<Place> {
    const [place] = await awaitedByMany(() => hedged(() => this.database.prepared<Place>(PLACE, [])));
    if (!place) throw new Unavailable('directory behind');
    return place;
  }

  /** Nothing is new: one statement in place of a transaction, for it is what a quiet estate does all the time. */
  private isConfirmed({ version, epoch, life }: Place, { answer }: Poll): boolean {
    const isThere = answer.epoch === epoch && answer.life === life && answer.head === version;
    return this.areFieldsOurs && isThere && answer.changes.length === 0;
  }

  private async confirm({ answer, askedAt }: Poll): Promise<Position | null> {
    const { head, epoch, life } = answer;
    const sinceMs = performance.now() - askedAt;
    const [confirmed] = await this.database.prepared<Position>(CONFIRM, [head, epoch, life, sinceMs]);
    return confirmed ?? null;
  }

  private async store(tx: Tx, from: Place, poll: Poll, signal: AbortSignal): Promise<Position | null> {
    const [state] = await tx.prepared<Place & { readonly fields: string }>(LOCK, []);
    if (!state || state.version !== from.version || state.epoch !== from.epoch) return null;
    const isOtherHistory = poll.answer.epoch !== from.epoch;
    const isOfOtherFields = !this.areFieldsOurs && state.fields !== FIELDS;
    if ((isOtherHistory || isOfOtherFields) && from.epoch !== '') {
      await tx.query(FORGET);
      return { version: 0, epoch: '' };
    }
    if (isOtherHistory) {
      await tx.takeTime();
      await suspectAll(tx);
      await dropCopy(tx);
    }
    const seen = new Map(Object.entries(state.seen));
    const last = await this.storeUntilTrue(tx, poll, isOtherHistory ? poll.answer.head : 0, seen, signal);
    const { answer, askedAt } = last;
    const isCurrent = answer.upTo >= answer.head;
    const rest = [FIELDS, answer.life ?? '', JSON.stringify(Object.fromEntries(seen))];
    await tx.prepared(STORE, [answer.upTo, answer.epoch, isCurrent, performance.now() - askedAt, ...rest]);
    const lost = isOtherHistory ? await settleSuspects(tx) : 0;
    if (lost > 0) this.logger.warn({ lost }, 'identity does not know any more what this service holds something for');
    return { version: answer.upTo, epoch: answer.epoch };
  }

  /** Stores this batch, and further ones while the copy would stop at a version at which it holds no true state. */
  private async storeUntilTrue(
    tx: Tx,
    first: Poll,
    least: number,
    seen: Map<string, number>,
    signal: AbortSignal,
  ): Promise<Poll> {
    let poll = first;
    noteSeen(seen, poll.answer.changes);
    await applyChanges(tx, poll.answer.changes);
    while (poll.answer.upTo < Math.max(least, poll.answer.compactedTo)) {
      const { epoch, upTo, life = '' } = poll.answer;
      poll = await this.poll({ epoch, version: upTo, life, seen: Object.fromEntries(seen) }, 0, signal);
      if (poll.answer.epoch !== epoch || poll.answer.upTo <= upTo) throw new Unavailable('identity away');
      noteSeen(seen, poll.answer.changes);
      await applyChanges(tx, poll.answer.changes);
    }
    return poll;
  }

  /** Shape: null when somebody cannot wait for what identity holds; then the next turn asks at once. */
  private async heldPoll(position: Place, signal: AbortSignal): Promise<Poll | null> {
    const { haste, isCalm } = this.progress;
    if (haste.aborted || !this.areFieldsOurs) {
      this.progress.hasten();
      return this.poll(position, 0, signal);
    }
    if (!isCalm) return this.poll(position, POLL_MS.busy, signal);
    try {
      return await this.poll(position, POLL_MS.calm, AbortSignal.any([signal, haste]));
    } catch (error) {
      if (haste.aborted && !signal.aborted) return null;
      throw error;
    }
  }

  private async poll(position: Place, waitMs: number, signal: AbortSignal): Promise<Poll> {
    const askedAt = performance.now();
    return { askedAt, answer: await this.identity.changes(position, { waitMs, limit: BATCH, signal }) };
  }
}

/** Units: `askedAt` by `performance.now()`; what was committed before it is in the answer. */
interface Poll {
  readonly askedAt: number;
  readonly answer: DirectoryChangesAnswer;
}

/** Also of what is gone: its id is never given again. */
function noteSeen(seen: Map<string, number>, changes: DirectoryChangesAnswer['changes']): void {
  for (const { kind, id } of changes) if (id > (seen.get(kind) ?? 0)) seen.set(kind, id);
}
