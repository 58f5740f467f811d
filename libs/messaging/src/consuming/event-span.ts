import { propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

/**
 * Runs an effect on events in a span below that of the request that caused them, so that the spans of a request lead
 * over the bus to what followed. The span of a batch is below the request of its first event with a span, and links to
 * those of the others. `parents` are the `traceparent` headers of the events that have one; without any, there is no
 * span.
 */
export function inEventSpan<T>(effect: string, parents: readonly string[], use: () => Promise<T>): Promise<T> {
  const [first, ...others] = parents.map((traceparent) => propagation.extract(ROOT_CONTEXT, { traceparent }));
  if (first === undefined) return use();
  const links = others.flatMap((other) => trace.getSpanContext(other) ?? []).map((context) => ({ context }));
  const about = { kind: SpanKind.CONSUMER, links, attributes: { 'messaging.batch.message_count': parents.length } };
  return trace.getTracer('rookery').startActiveSpan(`effect ${effect}`, about, first, async (span) => {
    try {
      return await use();
    } catch (error) {
      span.recordException(error as Error);
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}
