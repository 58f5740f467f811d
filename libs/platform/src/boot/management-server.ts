import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from '../observability/metrics';
import type { Outages } from '../observability/outages';
import type { Readiness } from './readiness';

export interface ManagementServer {
  readonly port: number;
  close(): Promise<void>;
}
interface ManagementReply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/**
 * Starts the server for health and metrics on a port of its own, without Nest: it answers while the application still
 * starts. `/-/health/live` only shows that the event loop runs, so that a lost database restarts nothing;
 * `/-/health/ready` asks `Readiness`; `/-/metrics` is for Prometheus. Source: reference reliability 9.1.
 * Errors: those of `listen`, such as EADDRINUSE.
 */
export async function startManagementServer(o: {
  readonly host: string;
  readonly port: number;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  readonly outages: Outages;
}): Promise<ManagementServer> {
  const server = createServer(
    { requestTimeout: 5000, headersTimeout: 5000, keepAliveTimeout: 5000 },
    (request, response) => {
      void replyToManagementRequest(request, o).then(
        (reply) => sendReply(request, response, reply),
        () => sendReply(request, response, jsonReply(500, { status: 'failed' })),
      );
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(o.port, o.host, () => resolve());
  });
  return { port: (server.address() as AddressInfo).port, close: () => closeServer(server) };
}

async function replyToManagementRequest(
  request: IncomingMessage,
  o: { readiness: Readiness; metrics: Metrics; outages: Outages },
): Promise<ManagementReply> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return jsonReply(405, { status: 'method not allowed' });
  switch (request.url?.split('?', 1)[0]) {
    case '/-/health/live':
      return jsonReply(200, { status: 'ok' });
    case '/-/health/ready': {
      const report = await o.readiness.runChecks();
      if (report.ready) return jsonReply(200, { status: 'ok' });
      o.outages.recordOutage('not ready', { reasons: report.reasons });
      return jsonReply(503, { status: 'unavailable', reasons: report.reasons });
    }
    case '/-/metrics':
      return { status: 200, ...(await o.metrics.text()) };
    default:
      return jsonReply(404, { status: 'not found' });
  }
}

function jsonReply(status: number, body: object): ManagementReply {
  return { status, contentType: 'application/json', body: JSON.stringify(body) };
}

function sendReply(request: IncomingMessage, response: ServerResponse, reply: ManagementReply): void {
  response.writeHead(reply.status, {
    'content-type': reply.contentType,
    'content-length': Buffer.byteLength(reply.body),
    'cache-control': 'no-store',
  });
  response.end(request.method === 'HEAD' ? undefined : reply.body);
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
