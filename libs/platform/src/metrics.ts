import type { Counter, Gauge, Histogram, Registry } from 'prom-client';

/**
 * The process's metrics. Asking twice for a name gives the same metric, so that rooms need not share it.
 * Names: `rookery_<area>_<what>_<unit>`, counters end in `_total`; times in seconds.
 * Errors: a plain Error when a name is taken by another kind of metric.
 * The client is loaded with the first metric: migrations and most commands never pay for it.
 */
export class Metrics {
  private known: Registry | undefined;
  private ofProcess: Registry | undefined;

  counter(name: string, help: string, labels: readonly string[] = []): Counter {
    return this.once(
      name,
      prom().Counter,
      () => new (prom().Counter)({ name, help, labelNames: labels, registers: [this.registry] }),
    );
  }

  /** Shape: `collect` is called at each scrape, to set the gauge. */
  gauge(
    name: string,
    help: string,
    labels: readonly string[] = [],
    collect?: (gauge: Gauge) => void | Promise<void>,
  ): Gauge {
    return this.once(name, prom().Gauge, () => {
      const gauge: Gauge = new (prom().Gauge)({
        name,
        help,
        labelNames: labels,
        registers: [this.registry],
        ...(collect ? { collect: () => collect(gauge) } : {}),
      });
      return gauge;
    });
  }

  /** Units: `buckets` in the unit of the metric, upper bounds, inclusive. */
  histogram(name: string, help: string, labels: readonly string[] = [], buckets?: readonly number[]): Histogram {
    return this.once(
      name,
      prom().Histogram,
      () =>
        new (prom().Histogram)({
          name,
          help,
          labelNames: labels,
          registers: [this.registry],
          ...(buckets ? { buckets: [...buckets] } : {}),
        }),
    );
  }

  /** Adds those of Node itself: memory, event loop, garbage collection. */
  collectProcess(): void {
    this.ofProcess = processRegistry();
  }

  /** The exposition format of Prometheus. */
  async text(): Promise<{ readonly contentType: string; readonly body: string }> {
    const bodies = [await this.ofProcess?.metrics(), await this.registry.metrics()];
    return { contentType: this.registry.contentType, body: bodies.filter(Boolean).join('\n') };
  }

  private get registry(): Registry {
    return (this.known ??= new (prom().Registry)());
  }

  private once<T>(name: string, kind: new (...args: never[]) => T, make: () => T): T {
    const known = this.registry.getSingleMetric(name);
    if (known === undefined) return make();
    if (!(known instanceof kind)) throw new Error(`metric ${name} exists as another kind`);
    return known;
  }
}

let ofProcess: Registry | undefined;

/** Its observers run until the process ends, so a process that begins anew must not make them twice. */
function processRegistry(): Registry {
  if (ofProcess) return ofProcess;
  ofProcess = new (prom().Registry)();
  prom().collectDefaultMetrics({ register: ofProcess });
  return ofProcess;
}

function prom(): typeof import('prom-client') {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- synchronous and on demand
  return require('prom-client') as typeof import('prom-client');
}
