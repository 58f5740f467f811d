import { propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { SmtpAnswer } from './smtp-client';

/**
 * Sends an e-mail in a span below the one that queued it, so that the spans of a request end at the mail server. The
 * span has the outcome and no address. If `traceparent` is null, there is no span.
 */
export function inMailSpan(traceparent: string | null, send: () => Promise<SmtpAnswer>): Promise<SmtpAnswer> {
  if (traceparent === null) return send();
  const parent = propagation.extract(ROOT_CONTEXT, { traceparent });
  return trace.getTracer('rookery').startActiveSpan('send e-mail', { kind: SpanKind.CLIENT }, parent, async (span) => {
    try {
      const answer = await send();
      span.setAttribute('rookery.mail.outcome', answer.outcome);
      if (answer.outcome !== 'accepted') span.setStatus({ code: SpanStatusCode.ERROR });
      return answer;
    } catch (error) {
      span.recordException(error as Error);
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}
