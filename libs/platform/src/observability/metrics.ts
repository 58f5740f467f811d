import type { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Longest time for one sample. Units: ms. */
const SAMPLE_MS = 2000;
/**
 * Resolution of the event loop lag; `nodejs_eventloop_lag_*` are at least this. A timer of 10 ms, as is usual, takes
 * 0.3 % of a core of each idle process, and one of 100 ms still causes most of its wake-ups. Units: ms.
 */
const LOOP_TIMER_MS = 1000;

export interface Total {
  readonly labels: Readonly<Record<string, string>>;
  readonly count: number;
}

/**
 * The process's metrics. A second request for a name returns the same metric, so that components need not share it.
 * Names: `rookery_<area>_<what>_<unit>`, counters end in `_total`; times in seconds.
 * Errors: a plain Error when a name belongs to another kind of metric. The client library is loaded with the first
 * metric: migrations and most commands never load it.
 */
export class Metrics {
  private known: Registry | undefined;
  private ofProcess: Registry | undefined;

  counter(name: string, help: string, labels: readonly string[] = []): Counter {
    return this.findOrCreateMetric(
      name,
      loadPromClient().Counter,
      () => new (loadPromClient().Counter)({ name, help, labelNames: labels, registers: [this.registry] }),
    );
  }

  /**
   * A counter whose numbers are kept elsewhere, where an increment costs less. `read` is called at each scrape, and
   * returns the totals since the process began.
   */
  total(name: string, help: string, labels: readonly string[], read: () => readonly Total[]): Counter {
    return this.findOrCreateMetric(name, loadPromClient().Counter, () => {
      const counter: Counter = new (loadPromClient().Counter)({
        name,
        help,
        labelNames: labels,
        registers: [this.registry],
        collect: () => {
          counter.reset();
          for (const { labels: values, count } of read()) counter.inc(values, count);
        },
      });
      return counter;
    });
  }

  /**
   * A gauge. `collect` is called at each scrape to set it. If it fails or takes longer than 2 s, the gauge is omitted
   * and counted in `rookery_metrics_missing_total`: a gauge that queries the database has no value while it is away,
   * and must not prevent the others.
   */
  gauge(
    name: string,
    help: string,
    labels: readonly string[] = [],
    collect?: (gauge: Gauge) => void | Promise<void>,
  ): Gauge {
    return this.findOrCreateMetric(name, loadPromClient().Gauge, () => {
      const gauge: Gauge = new (loadPromClient().Gauge)({
        name,
        help,
        labelNames: labels,
        registers: [this.registry],
        ...(collect ? { collect: () => this.sampleGauge(name, labels.length === 0, () => collect(gauge), gauge) } : {}),
      });
      return gauge;
    });
  }

  /** A histogram. Units: `buckets` in the unit of the metric, upper bounds, inclusive. */
  histogram(name: string, help: string, labels: readonly string[] = [], buckets?: readonly number[]): Histogram {
    return this.findOrCreateMetric(
      name,
      loadPromClient().Histogram,
      () =>
        new (loadPromClient().Histogram)({
          name,
          help,
          labelNames: labels,
          registers: [this.registry],
          ...(buckets ? { buckets: [...buckets] } : {}),
        }),
    );
  }

  private async sampleGauge(
    name: string,
    hasNoLabels: boolean,
    collect: () => void | Promise<void>,
    gauge: Gauge,
  ): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('late')), SAMPLE_MS);
    });
    try {
      await Promise.race([collect(), late]);
    } catch {
      gauge.reset();
      // A gauge without labels would be 0 now, which is a value as well.
      if (hasNoLabels) gauge.remove();
      this.counter('rookery_metrics_missing_total', 'Samples that could not be taken, by metric.', ['metric']).inc({
        metric: name,
      });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Adds the metrics of Node itself: memory, event loop, garbage collection. */
  collectProcess(): void {
    this.ofProcess = processMetricsRegistry();
  }

  /** All metrics in the exposition format of Prometheus. */
  async text(): Promise<{ readonly contentType: string; readonly body: string }> {
    const bodies = [await this.ofProcess?.metrics(), await this.registry.metrics()];
    return { contentType: this.registry.contentType, body: bodies.filter(Boolean).join('\n') };
  }

  private get registry(): Registry {
    return (this.known ??= new (loadPromClient().Registry)());
  }

  private findOrCreateMetric<T>(name: string, kind: new (...args: never[]) => T, make: () => T): T {
    const known = this.registry.getSingleMetric(name);
    if (known === undefined) return make();
    if (!(known instanceof kind)) throw new Error(`metric ${name} exists as another kind`);
    return known;
  }
}

let ofProcess: Registry | undefined;

/** Its observers run until the process ends, so a restart in place must not create them twice. */
function processMetricsRegistry(): Registry {
  if (ofProcess) return ofProcess;
  ofProcess = new (loadPromClient().Registry)();
  loadPromClient().collectDefaultMetrics({ register: ofProcess, eventLoopMonitoringPrecision: LOOP_TIMER_MS });
  return ofProcess;
}

function loadPromClient(): typeof import('prom-client') {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- synchronous and on demand
  return require('prom-client') as typeof import('prom-client');
}
