import { Inject, Injectable } from '@nestjs/common';
import { HeadWatch, Work } from '@rookery/persistence';
import type { LogHead, Tx } from '@rookery/persistence';
import { LOGGER } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { REWRITE_LOG } from '../change-states';
import {
  ADOPT,
  BEGIN_LIFE,
  LOCKED_HEAD,
  NEXT_EPOCH,
  NOTE_READER,
  RAISE_SEQUENCES,
  MARK_REPORTED,
} from './histories.queries';

const HOUR_MS = 3_600_000;
/** A copy belongs to the estate if it has read the log within this period before the most recent reader. Units: ms. */
const READERS_WITHIN_MS = 24 * HOUR_MS;

interface LockedHead extends LogHead {
  readonly history: string;
  readonly now: string;
}

/**
 * Detects that the database is not the one in which the log was kept (it was restored), and starts another history,
 * because otherwise versions and ids could be issued twice. The log is rewritten from the tables under a random epoch;
 * copies refuse to decide until they have loaded all of it. No new id is issued until every copy has reported the ids
 * it has seen.
 *
 * Each process starts a life of the log. A copy reports the life in which it reached its version. A version beyond the
 * end of its life shows that the copy has read changes that were lost, also when the same database was restored in
 * place. Source: docs/reference/reliability.md 4.5; reference reliability 3, 4.2; ADR 0041.
 */
@Injectable()
export class ChangeLogHistoriesService {
  private readonly recordedAt = new Map<string, number>();

  constructor(
    @Inject(Work) private readonly work: Work,
    @Inject(HeadWatch) private readonly watch: HeadWatch,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Compares the log with its database. `isBoot` starts a life in any case. */
  async compareHistory(isBoot: boolean): Promise<void> {
    const head = await this.work.run(async (tx) => {
      const kept = await lockDirectoryHead(tx);
      const isOther = kept.history !== kept.now;
      const next = isOther && kept.history !== '' ? await this.rewriteLog(tx, kept.version) : null;
      if (isOther && !next) await tx.query(ADOPT);
      if (isOther || isBoot) await tx.query(BEGIN_LIFE);
      return next;
    });
    this.recordNewHistory(head, 'the database was replaced');
  }

  /**
   * Starts another history, because a reader reports a version that this log never had. `reader` is the position of
   * that reader. It has an effect only in the epoch of the log.
   */
  async startAfter(reader: LogHead): Promise<void> {
    const head = await this.work.run(async (tx) => {
      const kept = await lockDirectoryHead(tx);
      if (kept.epoch !== reader.epoch) return null;
      const next = await this.rewriteLog(tx, Math.max(kept.version, reader.version));
      await tx.query(BEGIN_LIFE);
      return next;
    });
    this.recordNewHistory(head, 'a reader is ahead of the log');
  }

  /** Starts another history at the request of an operator. */
  async startHistory(): Promise<LogHead> {
    const head = await this.work.run(async (tx) => this.rewriteLog(tx, (await lockDirectoryHead(tx)).version));
    this.recordNewHistory(head, 'an operator requested it');
    return head;
  }

  /** Raises sequences above the ids that a copy of another history has seen, so that none is issued again. */
  async recordSeenIds(service: string, seen: Readonly<Record<string, number>>): Promise<void> {
    const outcome = await this.work.run(async (tx) => {
      await lockDirectoryHead(tx);
      const raised = await tx.query<{ kind: string; id: number }>(RAISE_SEQUENCES, [JSON.stringify(seen)]);
      const [marked] = await tx.query<{ is_last: boolean }>(MARK_REPORTED, [service]);
      return { raised, isLast: marked?.is_last === true };
    });
    if (outcome.raised.length > 0)
      this.logger.warn({ copy: service, raised: outcome.raised }, 'raised sequences above ids that were issued before');
    if (outcome.isLast) this.logger.info('every copy has reported the ids it has seen');
  }

  /** Records that a copy reads the log. A new history waits for the reports of recorded copies. */
  async recordReader(service: string): Promise<void> {
    if (Date.now() - (this.recordedAt.get(service) ?? 0) < HOUR_MS) return;
    await this.work.run((tx) => tx.query(NOTE_READER, [service]));
    this.recordedAt.set(service, Date.now());
  }

  private async rewriteLog(tx: Tx, after: number): Promise<LogHead> {
    await tx.allowLongStatements();
    // Above any version this process has sent: the answer of a write must not contain a version above the log.
    const first = Math.max(after, this.watch.newestHead ?? 0) + 1;
    await tx.query('delete from directory_changes');
    const [written] = await tx.query<{ last: number }>(REWRITE_LOG, [first]);
    const [next] = await tx.query<LogHead>(NEXT_EPOCH, [written?.last ?? first, READERS_WITHIN_MS]);
    return next as LogHead;
  }

  private recordNewHistory(head: LogHead | null, why: string): void {
    if (!head) return;
    this.watch.recordMove(head);
    this.logger.warn({ ...head, why }, 'started another history of the directory');
  }
}

async function lockDirectoryHead(tx: Tx): Promise<LockedHead> {
  const [kept] = await tx.query<LockedHead>(LOCKED_HEAD);
  if (!kept) throw new Error('directory_head has no row');
  return kept;
}
