import type { Metrics, Outages, Total } from '@rookery/platform';
import type { ConcurrencyLimit } from './concurrency-limit';
import type { ShedClass, Upstream } from '../routes/route';

/**
 * The gateway's counters. A request only increments plain numbers, and the metrics read them when they are collected: a
 * labelled counter costs as much as the whole routing.
 */
export class Tally {
  private readonly requests = new Map<string, Map<number, number>>();
  private readonly sheds = new Map<string, number>();
  private readonly throttles = new Map<string, number>();
  private readonly errors = new Map<string, number>();
  private leases = 0;
  private asks = 0;
  private joins = 0;
  private stales = 0;
  inFlight = 0;
  /** Requests of `inFlight` whose bodies are still being collected. */
  collecting = 0;
  /** Queues of callers that wait for their own earlier requests; these are no load yet. */
  readonly lines: { readonly waiting: number }[] = [];
  /** The limit that adapts to the latency of answers. */
  concurrency: ConcurrencyLimit | null = null;

  constructor(
    metrics: Metrics,
    readonly outages: Outages,
  ) {
    registerTotal(metrics, 'requests_total', 'Requests answered, by service and status', ['service', 'status'], () =>
      [...this.requests].flatMap(([service, statuses]) =>
        [...statuses].map(([status, count]) => ({ labels: { service, status: String(status) }, count })),
      ),
    );
    registerTotal(metrics, 'shed_total', 'Requests refused for load, by class', ['class'], () =>
      toTotals('class', this.sheds),
    );
    registerTotal(metrics, 'throttled_total', 'Requests refused for their rate, by limit', ['limit'], () =>
      toTotals('limit', this.throttles),
    );
    registerTotal(
      metrics,
      'upstream_errors_total',
      'Failures of services, by service and kind',
      ['service', 'kind'],
      () =>
        [...this.errors].map(([key, count]) => {
          const [service = '', kind = ''] = key.split('|');
          return { labels: { service, kind }, count };
        }),
    );
    registerTotal(metrics, 'token_checks_total', 'Token checks, by how they were answered', ['by'], () => [
      { labels: { by: 'lease' }, count: this.leases },
      { labels: { by: 'identity' }, count: this.asks },
      { labels: { by: 'running check' }, count: this.joins },
      { labels: { by: 'identity too late' }, count: this.stales },
    ]);
    registerGauge(
      metrics,
      'in_flight_limit',
      'Requests that may be in flight; adapts to the latency of answers',
      [],
      () => [{ labels: {}, count: Math.floor(this.concurrency?.current ?? 0) }],
    );
    registerGauge(metrics, 'in_flight', 'Requests in flight', [], () => [{ labels: {}, count: this.inFlight }]);
  }

  get waiting(): number {
    return this.lines.reduce((sum, { waiting }) => sum + waiting, 0);
  }

  countAnswer(service: Upstream | 'none', status: number): void {
    let statuses = this.requests.get(service);
    if (!statuses) this.requests.set(service, (statuses = new Map()));
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }

  countLease(): void {
    this.leases += 1;
  }

  countQuestion(): void {
    this.asks += 1;
  }

  /** Counts a request that took the answer to an earlier request's check. */
  countJoin(): void {
    this.joins += 1;
  }

  /** Counts an answer that was too old when it arrived and is requested again. */
  countStale(): void {
    this.stales += 1;
  }

  countShed(of: ShedClass): void {
    increment(this.sheds, of);
  }

  countThrottled(limit: string): void {
    increment(this.throttles, limit);
  }

  upstreamError(service: Upstream, kind: string): void {
    increment(this.errors, `${service}|${kind}`);
  }
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function toTotals(label: string, counts: ReadonlyMap<string, number>): Total[] {
  return [...counts].map(([key, count]) => ({ labels: { [label]: key }, count }));
}

function registerGauge(
  metrics: Metrics,
  name: string,
  help: string,
  labels: readonly string[],
  read: () => Total[],
): void {
  metrics.gauge(`rookery_gateway_${name}`, help, labels, (one) => {
    for (const { labels: values, count } of read()) one.set(values, count);
  });
}

function registerTotal(
  metrics: Metrics,
  name: string,
  help: string,
  labels: readonly string[],
  read: () => Total[],
): void {
  metrics.total(`rookery_gateway_${name}`, help, labels, read);
}
