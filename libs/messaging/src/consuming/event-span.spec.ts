import { context, propagation, trace } from '@opentelemetry/api';
import { core, node, tracing } from '@opentelemetry/sdk-node';
import { inEventSpan } from './event-span';

const FIRST = '0af7651916cd43dd8448eb211c80319c';
const OTHER = '1bf7651916cd43dd8448eb211c80319c';
const traceparentOf = (traceId: string) => `00-${traceId}-b7ad6b7169203331-01`;

describe('the span of an effect', () => {
  const exporter = new tracing.InMemorySpanExporter();
  beforeAll(() => {
    new node.NodeTracerProvider({ spanProcessors: [new tracing.SimpleSpanProcessor(exporter)] }).register({
      propagator: new core.W3CTraceContextPropagator(),
    });
  });
  beforeEach(() => exporter.reset());
  afterAll(() => {
    trace.disable();
    propagation.disable();
    context.disable();
  });

  it('is below that of the request, and above what the effect does', async () => {
    const inside = await inEventSpan('mails', [traceparentOf(FIRST)], () =>
      Promise.resolve(trace.getActiveSpan()?.spanContext().traceId),
    );
    expect(inside).toBe(FIRST);
    const [span] = exporter.getFinishedSpans();
    expect(span).toMatchObject({ name: 'effect mails', parentSpanContext: { spanId: 'b7ad6b7169203331' } });
  });

  it('of several events is below the first request, and links to the others', async () => {
    await inEventSpan('mails', [traceparentOf(FIRST), traceparentOf(OTHER)], () => Promise.resolve());
    const [span] = exporter.getFinishedSpans();
    expect(span!.spanContext().traceId).toBe(FIRST);
    expect(span!.links.map((link) => link.context.traceId)).toEqual([OTHER]);
  });

  it('shows a failure', async () => {
    await expect(inEventSpan('mails', [traceparentOf(FIRST)], () => Promise.reject(new Error('no')))).rejects.toThrow(
      'no',
    );
    expect(exporter.getFinishedSpans()[0]).toMatchObject({ status: { code: 2 }, events: [{ name: 'exception' }] });
  });

  it('does not exist for events of requests without a span', async () => {
    await inEventSpan('mails', [], () => Promise.resolve());
    expect(exporter.getFinishedSpans()).toEqual([]);
  });
});
