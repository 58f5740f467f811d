/** Instrumentations that the estate has a use for; `OTEL_NODE_ENABLED_INSTRUMENTATIONS` names others. */
const INSTRUMENTATIONS = 'http,pg,undici,nestjs-core';

/**
 * Starts OpenTelemetry; reads `OTEL_*` itself. Purpose: the SDK costs half a second and tens of megabytes, so it is
 * loaded only when somebody collects. Must run before the root module is imported, or its libraries stay untraced.
 * Shape: the answer stops it and sends what is left. The SDK is started by us rather than by its register hook, for
 * the hook takes SIGTERM. Source: ADR 0011.
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
