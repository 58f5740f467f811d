import type { Clock } from '@rookery/kernel';
import type { ContextKeys, InternalKeys, KeyedWrites, Links, Logger, Metrics, Outages } from '@rookery/platform';
import type { CallerChecks } from '../limits/caller-checks';
import type { FairPlaces } from '../limits/fair-places';
import type { RuleServices } from '../call/permission';
import type { ScopeResolver } from '../call/scope';
import type { UnreadPages } from '../limits/unread-pages';

export interface ApiV4Options {
  /** Whose contexts are accepted. */
  readonly service: string;
  /** How many connections to the database its requests share; without a database no request is dear. */
  readonly connections?: number;
}
export const API_V4_OPTIONS: unique symbol = Symbol('ApiV4Options');

/** What all endpoints of one application share. */
export interface ApiRuntime {
  readonly service: string;
  readonly keys: ContextKeys;
  readonly internalKeys: InternalKeys;
  readonly clock: Clock;
  readonly log: Logger;
  readonly outages: Outages;
  readonly links: Links;
  readonly services: RuleServices;
  /** null in a service whose endpoints have no parent. */
  readonly resolver: ScopeResolver | null;
  readonly traffic: Traffic;
  readonly writeHeaders: WriteHeaders | null;
  /** null in a service without a database of its own. */
  readonly keyed: KeyedWrites | null;
  readonly beforeReplay: BeforeReplay | null;
  /** null in a service without a database of its own. */
  readonly dear: FairPlaces | null;
  readonly heavy: FairPlaces | null;
  readonly unread: UnreadPages;
  readonly checks: CallerChecks;
  /** How long a request goes on by what its context says. Units: milliseconds. */
  readonly rightsMs: number;
  /** Whether parameters that nothing reads are refused. */
  readonly isStrict: boolean;
}

/**
 * Headers that a service adds to every answer to a write, refusals included; asked when the answer is written.
 * Shape: a flat list of names and values.
 */
export type WriteHeaders = () => readonly string[];
/** Injection token of WriteHeaders; a service without it adds none. */
export const WRITE_HEADERS: unique symbol = Symbol('WriteHeaders');

/**
 * Run before an answer is given again: another process may have given it first, and headers of writes are to tell of
 * that write too.
 */
export type BeforeReplay = () => Promise<void>;
/** Injection token of BeforeReplay; optional. */
export const BEFORE_REPLAY: unique symbol = Symbol('BeforeReplay');

/** Requests under way and done. */
export class Traffic {
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

  begin(): void {
    this.underWay++;
  }

  /** Units: `startedAt` as of performance.now(). */
  end(method: string, route: string, status: number, startedAt: number): void {
    this.underWay--;
    this.durations.observe({ method, route, status }, (performance.now() - startedAt) / 1000);
  }
}
