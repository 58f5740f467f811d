import { trace } from '@opentelemetry/api';
import type { ProxyTracerProvider, Span, Tracer, TracerProvider } from '@opentelemetry/api';
import type { resources } from '@opentelemetry/sdk-node';

type Resource = resources.Resource;

/** Instrumentations that our processes use; `OTEL_NODE_ENABLED_INSTRUMENTATIONS` overrides them. */
const INSTRUMENTATIONS = 'http,pg,undici,nestjs-core';

/**
 * Starts OpenTelemetry, which reads `OTEL_*` itself. Purpose: the SDK costs half a second and tens of megabytes, so it
 * is loaded only if a collector is configured. Must run before the root module is imported, or its libraries are not
 * traced.
 *
 * Returns a function that sends remaining spans and stops it. The SDK is started here instead of by its register hook,
 * since the hook handles SIGTERM. If one process holds several services, `current` returns the service whose code runs:
 * each span then belongs to that service. Source: ADR 0011, 0197.
 */
export async function startTracing(service: string, current?: () => string | null): Promise<() => Promise<void>> {
  process.env['OTEL_NODE_ENABLED_INSTRUMENTATIONS'] ??= INSTRUMENTATIONS;
  process.env['OTEL_METRICS_EXPORTER'] ??= 'none';
  process.env['OTEL_LOGS_EXPORTER'] ??= 'none';
  const { NodeSDK, api, resources } = await import('@opentelemetry/sdk-node');
  const { getNodeAutoInstrumentations } = await import('@opentelemetry/auto-instrumentations-node');
  const sdk = new NodeSDK({
    serviceName: process.env['OTEL_SERVICE_NAME'] ?? `rookery-${service}`,
    instrumentations: [
      getNodeAutoInstrumentations({
        '@opentelemetry/instrumentation-http': {
          ignoreIncomingRequestHook: (request) => request.url?.startsWith('/-/') ?? false,
        },
      }),
    ],
  });
  sdk.start();
  if (current) {
    const named = (name: string) => resources.resourceFromAttributes({ 'service.name': `rookery-${name}` });
    const provider = api.trace.getTracerProvider() as ProxyTracerProvider;
    provider.setDelegate(withServiceResources(provider.getDelegate(), current, named));
  }
  return () => sdk.shutdown();
}

/** The trace id of the active span; undefined without one. */
export function activeTraceId(): string | undefined {
  return trace.getActiveSpan()?.spanContext().traceId;
}

/**
 * A provider whose spans have the resource of the service that started them; the SDK has one resource for the whole
 * process, and exporters group spans by resource.
 */
function withServiceResources(
  provider: TracerProvider,
  current: () => string | null,
  resourceOf: (service: string) => Resource,
): TracerProvider {
  const known = new Map<string, Resource>();
  const resourceIn = (service: string, whole: Resource): Resource => {
    const found = known.get(service) ?? whole.merge(resourceOf(service));
    known.set(service, found);
    return found;
  };
  return {
    getTracer: (...about) => {
      const tracer = provider.getTracer(...about);
      const startSpan: Tracer['startSpan'] = (...what) => {
        const span: Span & { resource?: Resource } = tracer.startSpan(...what);
        const service = current();
        if (span.resource && service !== null) span.resource = resourceIn(service, span.resource);
        return span;
      };
      // `startActiveSpan` of the SDK calls `startSpan` of the same object.
      return Object.create(tracer, { startSpan: { value: startSpan } }) as Tracer;
    },
  };
}
