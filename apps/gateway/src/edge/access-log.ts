import { activeTraceId } from '@rookery/platform';
import type { Logger } from '@rookery/platform';
import type { Exchange } from '../request/exchange';
import { redactPathForLog } from './redact-path';

/**
 * Logs one line for each request when its answer ends, with the facts that an operator searches for: who did what, from
 * where, the status and the duration. Queries, headers and bodies are not logged, because they may contain secrets.
 * Source: docs/operations.md 3.
 */
export class AccessLog {
  constructor(private readonly logger: Logger) {}

  /** Returns the function that logs the request. Its `status` is 499 if the client left before an answer. */
  beginEntry(exchange: Exchange): (status: number) => void {
    // When the answer ends, the span of the request is no longer active.
    const traceId = activeTraceId();
    return (status) => this.logger.info({ ...accessLogFields(exchange), traceId, status }, 'request');
  }
}

/** Facts that the request has, depending on how far it came. */
function accessLogFields(exchange: Exchange): object {
  const { requestId, method, address, elapsedMs, refused } = exchange;
  const { target, route, caller }: Partial<Pick<Exchange, 'target' | 'route' | 'caller'>> = exchange;
  const holder = caller?.holder;
  return {
    requestId,
    method,
    path: target && (redactPathForLog(target.path, route?.template) ?? undefined),
    route: route?.template,
    upstream: route?.service,
    refusal: refused?.refusal.reason,
    ms: Math.round(elapsedMs),
    address,
    userId: holder?.user_id,
    tokenId: holder?.token_id ?? undefined,
    isAdmin: holder?.admin,
    actingForId: caller?.actingFor,
    impersonatorId: holder?.impersonator_id ?? undefined,
  };
}
