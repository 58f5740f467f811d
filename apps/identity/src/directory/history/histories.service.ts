import { Inject, Injectable } from '@nestjs/common';
import { HeadWatch, Work } from '@rookery/persistence';
import type { Head, Tx } from '@rookery/persistence';
import { LOGGER } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { REWRITE_LOG } from '../change-states';
import { ADOPT, BEGIN_LIFE, LOCKED_HEAD, NEXT_EPOCH, NOTE_READER, RAISE, TOLD } from './histories.queries';

const HOUR_MS = 3_600_000;
/** Copies that asked within this time of the latest belong to the estate. Units: ms. */
const READERS_WITHIN_MS = 24 * HOUR_MS;

interface Kept extends Head {
  readonly history: string;
  readonly now: string;
}

/**
 * Notices that the database is another than the one the log was kept in, and begins another history: versions and ids that
 * were given away may otherwise be given again. The log is written anew from the tables under a random epoch; every
 * copy refuses to decide until it has loaded all of it. Nothing gets an id until every copy has said which it has seen.
 *
 * Each process begins a life of the log. A copy says in which life it got where it stands, so one that stands where no
 * life ended is known for a copy of what was lost, also after the database was put back in place.
 * Source: docs/reference/reliability.md 4.5; reference reliability 3, 4.2; ADR 0041.
 */
@Injectable()
export class HistoriesService {
  private readonly notedAt = new Map<string, number>();

  constructor(
    @Inject(Work) private readonly work: Work,
    @Inject(HeadWatch) private readonly watch: HeadWatch,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Compares the log with its database. Shape: `isBoot` begins a life in any case. */
  async look(isBoot: boolean): Promise<void> {
    const head = await this.work.run(async (tx) => {
      const kept = await keptHead(tx);
      const isOther = kept.history !== kept.now;
      const next = isOther && kept.history !== '' ? await this.rewrite(tx, kept.version) : null;
      if (isOther && !next) await tx.query(ADOPT);
      if (isOther || isBoot) await tx.query(BEGIN_LIFE);
      return next;
    });
    this.begun(head, 'the database is another');
  }

  /** A reader has what this log never told. Shape: `said` is what the reader said of itself, in the epoch of the log. */
  async doubted(said: Head): Promise<void> {
    const head = await this.work.run(async (tx) => {
      const kept = await keptHead(tx);
      if (kept.epoch !== said.epoch) return null;
      const next = await this.rewrite(tx, Math.max(kept.version, said.version));
      await tx.query(BEGIN_LIFE);
      return next;
    });
    this.begun(head, 'a reader is ahead of the log');
  }

  /** Begins another history by an operator's word. */
  async begin(): Promise<Head> {
    const head = await this.work.run(async (tx) => this.rewrite(tx, (await keptHead(tx)).version));
    this.begun(head, 'an operator said so');
    return head;
  }

  /** A copy of another history says which ids it has seen: none of them is given again. */
  async heard(service: string, seen: Readonly<Record<string, number>>): Promise<void> {
    const outcome = await this.work.run(async (tx) => {
      await keptHead(tx);
      const raised = await tx.query<{ kind: string; id: number }>(RAISE, [JSON.stringify(seen)]);
      const [told] = await tx.query<{ is_last: boolean }>(TOLD, [service]);
      return { raised, isLast: told?.is_last === true };
    });
    if (outcome.raised.length > 0) this.logger.warn({ copy: service, raised: outcome.raised }, 'ids were given before');
    if (outcome.isLast) this.logger.info('every copy has said which ids it has seen');
  }

  /** A copy reads the log; it will be waited for when a history begins. */
  async noted(service: string): Promise<void> {
    if (Date.now() - (this.notedAt.get(service) ?? 0) < HOUR_MS) return;
    await this.work.run((tx) => tx.query(NOTE_READER, [service]));
    this.notedAt.set(service, Date.now());
  }

  private async rewrite(tx: Tx, after: number): Promise<Head> {
    await tx.takeTime();
    // More than this process has told of: what a write was answered with must not stand above the log.
    const first = Math.max(after, this.watch.latest ?? 0) + 1;
    await tx.query('delete from directory_changes');
    const [written] = await tx.query<{ last: number }>(REWRITE_LOG, [first]);
    const [next] = await tx.query<Head>(NEXT_EPOCH, [written?.last ?? first, READERS_WITHIN_MS]);
    return next as Head;
  }

  private begun(head: Head | null, why: string): void {
    if (!head) return;
    this.watch.moved(head);
    this.logger.warn({ ...head, why }, 'another history of the directory begins');
  }
}

async function keptHead(tx: Tx): Promise<Kept> {
  const [kept] = await tx.query<Kept>(LOCKED_HEAD);
  if (!kept) throw new Error('directory_head has no row');
  return kept;
}
