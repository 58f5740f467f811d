import type { Clock } from '@rookery/kernel';
import type { ContextSigningKeys, InternalKeys, KeyedWrites, Links, Logger, Metrics, Outages } from '@rookery/platform';
import type { CallerChecks } from '../limits/caller-checks';
import type { FairSemaphore } from '../limits/fair-places';
import type { RuleServices } from '../call/permission';
import type { ScopeResolver } from '../call/scope';
import type { UnreadPageLimiter } from '../limits/unread-pages';

/** Options of ApiV4Module. */
export interface ApiV4Options {
  /** Service whose contexts are accepted. */
  readonly service: string;
  /** Number of database connections for requests. Without a database the number of costly requests is not limited. */
  readonly connections?: number;
}
export const API_V4_OPTIONS: unique symbol = Symbol('ApiV4Options');

/** Dependencies that all endpoints of an application share. */
export interface ApiRuntime {
  readonly service: string;
  readonly keys: ContextSigningKeys;
  readonly internalKeys: InternalKeys;
  readonly clock: Clock;
  readonly log: Logger;
  readonly outages: Outages;
  readonly links: Links;
  readonly services: RuleServices;
  /** null in a service whose endpoints have no parent. */
  readonly resolver: ScopeResolver | null;
  readonly traffic: HttpRequestMetrics;
  readonly writeHeaders: WriteHeaders | null;
  /** null in a service without a database. */
  readonly keyed: KeyedWrites | null;
  readonly beforeReplay: BeforeReplay | null;
  /** Limits of costly requests and of heavy pages; null in a service without a database. */
  readonly costly: FairSemaphore | null;
  readonly heavy: FairSemaphore | null;
  readonly unread: UnreadPageLimiter;
  readonly checks: CallerChecks;
  /** Age at which a request's permissions must be rechecked. Units: milliseconds. */
  readonly rightsMs: number;
  /** Whether requests with unread parameters are refused. */
  readonly isStrict: boolean;
}

/**
 * Returns the headers that a service adds to every answer to a write, including refusals, as a flat list of names and
 * values. Called when the answer is sent.
 */
export type WriteHeaders = () => readonly string[];
/** Injection token of WriteHeaders; a service without it adds none. */
export const WRITE_HEADERS: unique symbol = Symbol('WriteHeaders');

/**
 * Called before a stored answer is sent again. Another process may have executed the write, and the headers of this
 * answer must include the directory version of that write.
 */
export type BeforeReplay = () => Promise<void>;
/** Injection token of BeforeReplay; optional. */
export const BEFORE_REPLAY: unique symbol = Symbol('BeforeReplay');

/** Metrics of requests in flight and of completed ones. */
export class HttpRequestMetrics {
  private underWay = 0;
  private readonly durations;

  constructor(metrics: Metrics) {
    this.durations = metrics.histogram(
      'rookery_http_request_duration_seconds',
      'Time from the first line of a request to its answer, by route template.',
      ['method', 'route', 'status'],
      [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    );
    metrics.gauge('rookery_http_requests_in_flight', 'Requests that have no answer yet.', [], (gauge) =>
      gauge.set(this.underWay),
    );
  }

  countStart(): void {
    this.underWay++;
  }

  /** Records a completed request. Units: `startedAt` as of performance.now(). */
  countEnd(method: string, route: string, status: number, startedAt: number): void {
    this.underWay--;
    this.durations.observe({ method, route, status }, (performance.now() - startedAt) / 1000);
  }
}
