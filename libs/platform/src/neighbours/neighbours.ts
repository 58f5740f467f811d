import type { IncomingHttpHeaders } from 'node:http';
import type { ContextClaims, ServiceName } from '@rookery/contracts';
import { Pool } from 'undici';
import type { Dispatcher } from 'undici';
import { ServiceConnection } from './service-connection';

/** A request to a service in this process. `url` is path and query; names of headers are in lower case. */
export interface LocalRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string | Buffer | null;
}

/** Receives the answer to a local call, as the handlers of undici do. `headers` has alternating names and values. */
export interface LocalCaller {
  /** Called first. `abort` ends the call: `onError` then gets the reason. */
  onConnect(abort: (reason?: Error) => void): void;
  onHeaders(status: number, headers: string[], resume: () => void, reason: string): void;
  /** Returns false to pause the answer until `resume`. */
  onData(chunk: Buffer): boolean;
  onComplete(): void;
  onError(error: Error): void;
}

/** Starts a local call. `claims` are those of the gateway; null between services. */
export type LocalCall = (caller: LocalCaller, claims: ContextClaims | null) => void;

/** A service in this process, as other services call it. */
export interface Neighbour {
  /** Returns the call of a request; null for requests that this service answers over HTTP only. */
  accept(request: LocalRequest): LocalCall | null;
}

/**
 * The services in this process that accept calls. Each service registers while it accepts connections. Calls to other
 * services, and those that a neighbour does not accept, use HTTP. Source: ADR 0199.
 */
export class Neighbours {
  private readonly registered = new Map<string, Neighbour>();

  /** `isTogether` is false in a process of one service, which has no neighbours. */
  constructor(readonly isTogether: boolean) {}

  /** Registers a service. Returns the function that removes it. */
  register(service: string, neighbour: Neighbour): () => void {
    this.registered.set(service, neighbour);
    return () => {
      if (this.registered.get(service) === neighbour) this.registered.delete(service);
    };
  }

  /** Returns the call of a request to a service; null if the request must use HTTP. */
  accept(service: string, request: LocalRequest): LocalCall | null {
    return this.registered.get(service)?.accept(request) ?? null;
  }

  /** Opens the way to a service: a pool, or in this process a connection that prefers local calls. */
  connect(service: ServiceName, origin: string, options: Pool.Options): Dispatcher {
    const pool = new Pool(origin, options);
    return this.isTogether ? new ServiceConnection(pool, (request) => this.accept(service, request)) : pool;
  }
}
