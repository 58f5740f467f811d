import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { Database, prepared } from '@rookery/persistence';
import type { Prepared } from '@rookery/persistence';
import { LOGGER } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import { activitySettings } from '../activity/activity.config';
import type { ActivitySettings } from '../activity/activity.config';
import { mailerSettings } from '../mailer/mailer.config';
import type { MailerSettings } from '../mailer/mailer.config';

/** Units: rows. Small enough that no statement nears its time limit and nobody waits for a lock. */
const CHUNK = 2000;
/** Units: milliseconds. */
const EVERY_MS = 6 * 3_600_000;
const BETWEEN_CHUNKS_MS = 50;

/**
 * Oldest first: ids grow with time, so the walk ends at the first chunk without an old row. $1 days. Another process
 * that prunes at the same time is passed by.
 */
function oldest(name: string, table: string, done: string): Prepared {
  return prepared(
    name,
    `with oldest as (select id, created_at from ${table} order by id limit ${CHUNK})
     delete from ${table} t where id in (select o.id from oldest o join ${table} p on p.id = o.id
       where o.created_at < now() - $1::integer * interval '1 day' and ${done} for update of p skip locked) returning 1`,
  );
}

const activity = oldest('pruning_activity', 'activity_events', 'true');
// Old e-mails still in the queue are few: they are given up after two days.
const mails = oldest('pruning_mails', 'mails', `p.state <> 'queued'`);
const accountMails = oldest('pruning_account_mails', 'account_mails', `p.state <> 'queued'`);

/** Drops what is kept for a time only, in chunks, in the worker role. Source: reference work-tracking 7.8; ADR 0081. */
@Injectable()
export class Pruning {
  private readonly stopping = new AbortController();
  private running: Promise<void> | null = null;

  constructor(
    private readonly database: Database,
    @Inject(activitySettings.token) private readonly activity: ActivitySettings,
    @Inject(mailerSettings.token) private readonly mailer: MailerSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  start(): void {
    this.running ??= this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  /** Answers how many rows were dropped. */
  async once(): Promise<number> {
    let count = await this.drop(activity, this.activity.retentionDays);
    for (const queue of [mails, accountMails]) count += await this.drop(queue, this.mailer.retentionDays);
    return count;
  }

  private async run(): Promise<void> {
    // Replicas begin at different times.
    await this.sleep(Math.random() * 60_000);
    while (!this.stopping.signal.aborted) {
      try {
        const count = await this.once();
        if (count > 0) this.logger.info({ count }, 'old rows were dropped');
      } catch (error) {
        this.logger.warn({ err: error }, 'old rows could not be dropped');
      }
      await this.sleep(EVERY_MS);
    }
  }

  private async drop(statement: Prepared, days: number): Promise<number> {
    let total = 0;
    for (;;) {
      const { length } = await this.database.prepared(statement, [days]);
      total += length;
      if (length < CHUNK || this.stopping.signal.aborted) return total;
      await this.sleep(BETWEEN_CHUNKS_MS);
    }
  }

  private async sleep(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }
}
