import { setTimeout as pause } from 'node:timers/promises';
import type { ServiceName } from '@rookery/contracts';
import { backoffMs } from '@rookery/kernel';
import type { Database, Work } from '@rookery/persistence';
import { Pace } from '@rookery/platform';
import type { Logger, Metrics } from '@rookery/platform';
import { NatsError } from 'nats';
import type { Broker } from '../bus/broker';
import type { OutboxRow } from '../consuming/envelope';
import type { FaultPoints } from '../bus/fault-points';
import type { MessagingSettings } from '../bus/messaging.config';
import { OutboxReader } from './outbox-reader';
import { Publisher } from './publisher';
import { DatabaseRestoreRecovery } from './database-restore-recovery';
import type { Effect } from '../consuming/effects';
import type { Streams } from '../bus/streams';
import { Wake } from '../bus/wake';

const IN_FLIGHT = 64;
/**
 * Minimum time between the starts of two batches. Events that arrive faster are read, published and marked together; a
 * single event waits for nothing. Units: milliseconds.
 */
const BATCH_INTERVAL_MS = 10;
/** Units: milliseconds. */
const BACKOFF_MS = { first: 100, most: 5000 };
const LEADERSHIP_POLL_MS = 1000;
/** Poll interval after a while without events; far below the lease of leadership. */
const CALM_POLL_MS = 3000;
/**
 * Interval at which a lost stream is recreated when there is nothing to publish. A failed publication, and a new link to
 * the bus, cause the check at once.
 */
const STREAM_CHECK_MS = { busy: 2000, calm: 30_000 };
const PRUNE_EVERY_MS = 10 * 60 * 1000;

export interface RelayParts {
  readonly service: ServiceName;
  readonly database: Database;
  readonly work: Work;
  readonly broker: Broker;
  readonly streams: Streams;
  readonly settings: MessagingSettings;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly faults: FaultPoints;
}

/**
 * Carries events from the outbox to the bus. Committed events are published at least once, in the order of ids, by one
 * process of the service at a time.
 *
 * Commits of this process wake it. A poll finds commits of other processes. Its interval is short, or 3 s after 10 s
 * without events. The relay never keeps a cursor over ids, which would lose rows that commit late.
 * Source: reference reliability 2.2; ADR 0026.
 */
export class Relay {
  private readonly wake = new Wake();
  private readonly pace;
  private readonly stopping = new AbortController();
  private readonly counters;
  private running: Promise<void> | null = null;
  private reader: OutboxReader | null = null;
  private published: number[] = [];
  private streamCheckedAt = 0;
  private checkedLink = 0;
  private isHistoryChecked = false;
  private readonly restoration: DatabaseRestoreRecovery;
  private effects: readonly Effect[] = [];
  private failuresInRow = 0;
  private nextPruneAt = Date.now() + 60_000;
  private batchBegunAt = -Infinity;

  constructor(private readonly parts: RelayParts) {
    const { metrics, work } = parts;
    this.restoration = new DatabaseRestoreRecovery(parts);
    this.pace = new Pace(parts.settings.outboxPollMs, CALM_POLL_MS);
    this.counters = {
      published: metrics.counter('rookery_outbox_published_total', 'Events that the bus has taken.'),
      duplicates: metrics.counter('rookery_outbox_duplicates_total', 'Events that the bus said to have had already.'),
      failed: metrics.counter('rookery_outbox_failed_total', 'Failed tries to publish an event.', ['reason']),
    };
    metrics.gauge('rookery_relay_leads', 'Whether the relay of this process leads: 1 or 0.', [], (gauge) =>
      gauge.set(this.reader?.isLeader ? 1 : 0),
    );
    metrics.gauge('rookery_outbox_depth', 'Events that wait for the bus; counted up to 10,000.', [], (gauge) =>
      this.setGaugeFromOutbox(gauge, 'count(*)'),
    );
    metrics.gauge('rookery_outbox_oldest_seconds', 'Age of the oldest event that waits for the bus.', [], (gauge) =>
      this.setGaugeFromOutbox(gauge, 'greatest(0, coalesce(extract(epoch from now() - min(occurred_at)), 0))'),
    );
    work.onEmitted(() => {
      this.pace.recordWork();
      this.wake.nudge();
    });
  }

  /** `effects` are those of this service. After a restore of its database, they read again from an earlier moment. */
  start(effects: readonly Effect[] = []): void {
    this.effects = effects;
    this.running ??= this.runUntilStopped();
  }

  /** Finishes the batch in flight, marks it, and gives leadership up. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.wake.nudge();
    await this.running;
  }

  private async runUntilStopped(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      try {
        if (!(await this.becomeLeader())) await this.wake.sleep(LEADERSHIP_POLL_MS);
        else if (!(await this.publishNextBatch())) await this.pruneAndSleep();
      } catch (error) {
        await this.recordRelayFailure(error);
      }
    }
    await this.markLastPublished();
    await this.reader?.release();
  }

  private async becomeLeader(): Promise<boolean> {
    if (this.reader?.isLeader) return true;
    await this.reader?.release();
    // Events that another leader may publish meanwhile must not be marked here.
    this.published = [];
    this.isHistoryChecked = false;
    this.reader = await OutboxReader.tryToLead(this.parts.database, `rookery-${this.parts.service}-relay`);
    return this.reader !== null;
  }

  /** Publishes one batch. Returns whether there may be more right now. */
  private async publishNextBatch(): Promise<boolean> {
    const { broker, streams, service, settings, faults } = this.parts;
    const connection = await broker.waitForConnection(this.stopping.signal);
    if (this.isStreamCheckDue(broker.links)) {
      const { links } = broker;
      await streams.reconcileStream(connection, service);
      this.streamCheckedAt = Date.now();
      this.checkedLink = links;
    }
    if (!this.isHistoryChecked) await this.restoration.checkHistory(connection, this.effects);
    this.isHistoryChecked = true;
    await this.waitForNextBatch();
    const rows = await this.reader!.markAndRead(this.published, settings.outboxBatchCount);
    this.published = [];
    if (rows.length === 0) return false;
    this.batchBegunAt = performance.now();
    this.pace.recordWork();
    const outcome = await publishRows(new Publisher(connection, service, this.counters.duplicates), rows);
    this.counters.published.inc(outcome.acknowledged.length);
    await faults.reachPoint('relay.before-mark');
    this.published = outcome.acknowledged;
    if (outcome.failed.length > 0) await this.recordPublishFailure(outcome);
    else this.failuresInRow = 0;
    return true;
  }

  private async waitForNextBatch(): Promise<void> {
    const waitMs = this.batchBegunAt + BATCH_INTERVAL_MS - performance.now();
    if (waitMs > 0) await pause(waitMs, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }

  private isStreamCheckDue(links: number): boolean {
    const everyMs = this.pace.isCalm ? STREAM_CHECK_MS.calm : STREAM_CHECK_MS.busy;
    return links !== this.checkedLink || Date.now() - this.streamCheckedAt > everyMs;
  }

  private async recordPublishFailure(outcome: PublishResult): Promise<void> {
    // A lost stream is recreated before the next try.
    this.streamCheckedAt = 0;
    this.counters.failed.inc({ reason: publishFailureReasonOf(outcome.error) }, outcome.failed.length);
    await this.reader!.noteFailures(outcome.failed, String(outcome.error));
    this.parts.logger.warn({ err: outcome.error, count: outcome.failed.length }, 'events could not be published');
    this.failuresInRow = outcome.acknowledged.length > 0 ? 1 : this.failuresInRow + 1;
    await this.backOff();
  }

  private async recordRelayFailure(error: unknown): Promise<void> {
    if (this.stopping.signal.aborted) return;
    this.streamCheckedAt = 0;
    this.failuresInRow += 1;
    this.counters.failed.inc({ reason: publishFailureReasonOf(error) });
    this.parts.logger.warn({ err: error }, 'the relay failed');
    await this.backOff();
  }

  private async pruneAndSleep(): Promise<void> {
    await this.restoration.recordTime();
    const { outboxPollMs, outboxRetentionDays, inboxRetentionDays } = this.parts.settings;
    if (Date.now() >= this.nextPruneAt) {
      const hasMore = await this.reader!.pruneRows(outboxRetentionDays, inboxRetentionDays);
      this.nextPruneAt = Date.now() + (hasMore ? outboxPollMs : PRUNE_EVERY_MS);
    }
    await this.wake.sleep(this.pace.restMs);
  }

  /** Full jitter. Not ended by wake-ups: a busy service must not flood a bus that is down. */
  private async backOff(): Promise<void> {
    const most = backoffMs(this.failuresInRow, BACKOFF_MS);
    const until = Date.now() + 10 + Math.random() * most;
    while (!this.stopping.signal.aborted && Date.now() < until) await this.wake.sleep(until - Date.now());
  }

  private async markLastPublished(): Promise<void> {
    if (this.published.length === 0 || !this.reader?.isLeader) return;
    await this.reader.markAndRead(this.published, this.parts.settings.outboxBatchCount).catch(() => undefined);
  }

  /** Runs at each scrape; the partial index makes it cheap. */
  private async setGaugeFromOutbox(gauge: { set(value: number): void }, aggregateSql: string): Promise<void> {
    const rows = await this.parts.database.query<{ value: number }>(
      `select ${aggregateSql}::float as value
       from (select occurred_at from outbox where published_at is null order by id limit 10000) waiting`,
    );
    gauge.set(rows[0]?.value ?? 0);
  }
}

interface PublishResult {
  /** Ids that may be marked as published. */
  readonly acknowledged: number[];
  readonly failed: number[];
  readonly error: unknown;
}

/**
 * Publishes rows in order, 64 in flight, and waits for every acknowledgement. After a failure no further publication
 * starts, and later rows of the failed row's aggregate stay unmarked although they may have arrived: they are sent again
 * after it.
 */
async function publishRows(publisher: Publisher, rows: readonly OutboxRow[]): Promise<PublishResult> {
  const acknowledged = new Set<number>();
  const failed = new Map<number, unknown>();
  let next = 0;
  const publisherLoop = async (): Promise<void> => {
    while (next < rows.length && failed.size === 0) {
      const row = rows[next++]!;
      try {
        await publisher.publishRow(row);
        acknowledged.add(row.id);
      } catch (error) {
        failed.set(row.id, error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, rows.length) }, publisherLoop));
  const held = new Set<string>();
  const markable: number[] = [];
  for (const row of rows) {
    const aggregate = `${row.aggregate_type} ${row.aggregate_id}`;
    if (!acknowledged.has(row.id)) held.add(aggregate);
    else if (!held.has(aggregate)) markable.push(row.id);
  }
  return { acknowledged: markable, failed: [...failed.keys()], error: [...failed.values()][0] };
}

function publishFailureReasonOf(error: unknown): string {
  if (error instanceof NatsError) return error.api_error ? `api_${error.api_error.err_code}` : error.code.toLowerCase();
  return 'other';
}
