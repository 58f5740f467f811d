/** Instrumentations that our processes use; `OTEL_NODE_ENABLED_INSTRUMENTATIONS` overrides them. */
const INSTRUMENTATIONS = 'http,pg,undici,nestjs-core';

/**
 * Starts OpenTelemetry, which reads `OTEL_*` itself. Purpose: the SDK costs half a second and tens of megabytes, so it
 * is loaded only if a collector is configured. Must run before the root module is imported, or its libraries are not
 * traced.
 * Shape: the result stops it and sends remaining spans. The SDK is started here instead of by its register hook, since
 * the hook handles SIGTERM. Source: ADR 0011.
 */
export async function startTracing(service: string): Promise<() => Promise<void>> {
  process.env['OTEL_NODE_ENABLED_INSTRUMENTATIONS'] ??= INSTRUMENTATIONS;
  process.env['OTEL_METRICS_EXPORTER'] ??= 'none';
  process.env['OTEL_LOGS_EXPORTER'] ??= 'none';
  const { NodeSDK } = await import('@opentelemetry/sdk-node');
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
  return () => sdk.shutdown();
}
