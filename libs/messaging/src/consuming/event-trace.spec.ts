import { context, propagation, trace } from '@opentelemetry/api';
import { core, node, tracing } from '@opentelemetry/sdk-node';
import { inEventTrace } from './event-trace';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const OTHER = '1bf7651916cd43dd8448eb211c80319c';
const of = (traceId: string) => `00-${traceId}-b7ad6b7169203331-01`;

describe('the trace of an event', () => {
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

  it('is continued by its effect, and by what the effect does', async () => {
    const inside = await inEventTrace('mails', [of(TRACE)], () =>
      Promise.resolve(trace.getActiveSpan()?.spanContext().traceId),
    );
    expect(inside).toBe(TRACE);
    const [span] = exporter.getFinishedSpans();
    expect(span).toMatchObject({ name: 'effect mails', parentSpanContext: { spanId: 'b7ad6b7169203331' } });
  });

  it('is linked where another event of the batch is continued', async () => {
    await inEventTrace('mails', [of(TRACE), of(OTHER)], () => Promise.resolve());
    const [span] = exporter.getFinishedSpans();
    expect(span!.spanContext().traceId).toBe(TRACE);
    expect(span!.links.map((link) => link.context.traceId)).toEqual([OTHER]);
  });

  it('shows that the effect failed', async () => {
    await expect(inEventTrace('mails', [of(TRACE)], () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(exporter.getFinishedSpans()[0]).toMatchObject({ status: { code: 2 }, events: [{ name: 'exception' }] });
  });

  it('does not exist for events of requests that were not traced', async () => {
    await inEventTrace('mails', [], () => Promise.resolve());
    expect(exporter.getFinishedSpans()).toEqual([]);
  });
});
