import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { ContextClaims } from '@rookery/contracts';

/** Key of the claims of a local call. No message from the network can have it, because it is a symbol. */
export const CLAIMS: unique symbol = Symbol('claims of a local call');

/** A request as endpoints read it: one of Fastify, or a local call. Source: ADR 0199. */
export interface ApiRequest {
  readonly raw: { readonly method?: string | undefined; readonly url?: string | undefined };
  readonly headers: IncomingHttpHeaders;
  readonly params: unknown;
  readonly query: unknown;
  /** A body that is read before the handler runs. */
  readonly body: unknown;
  /** Earliest time at which the request can have arrived. Units: as performance.now(). */
  readonly earliestArrival: number;
  /** Claims that the gateway passed in this process; absent over HTTP, where a signed header has them. */
  readonly [CLAIMS]?: ContextClaims | null;
}

/** Members of Node's ServerResponse that write an answer whose body is a text. */
export type RawReply = NodeJS.EventEmitter &
  Pick<ServerResponse, 'statusCode' | 'statusMessage' | 'headersSent' | 'destroyed' | 'closed' | 'writableLength'> & {
    writeHead(status: number, headers: string[]): unknown;
    end(body?: string): unknown;
    destroy(): unknown;
  };

/** The answer to an ApiRequest. */
export interface ApiReply {
  readonly raw: RawReply;
  /** Marks the answer as written to `raw`, so that Fastify sends none. */
  hijack(): unknown;
}
