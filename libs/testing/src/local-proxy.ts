import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { ContextClaims } from '@rookery/contracts';
import { CONTEXT_HEADER } from '@rookery/contracts';
import type { EndpointRoutes } from '@rookery/api-v4';
import { LocalServer, verifyContext } from '@rookery/platform';
import type { ContextSigningKeys, LocalCaller, LocalRequest } from '@rookery/platform';

/** The service to which this server passes its requests. */
export interface LocalProxyTarget {
  readonly service: string;
  readonly keys: ContextSigningKeys;
  readonly routes: EndpointRoutes;
  /** Port of its HTTP server, which gets the requests that are no local calls. */
  readonly port: number;
}

/**
 * A server that passes requests to a service as local calls, as the gateway does in the same process: with claims in
 * place of the signed header. Requests that the service does not accept, HEAD, and those without a valid context use
 * HTTP; their bodies are passed on as they arrive. Source: ADR 0199.
 */
export function createLocalCallProxy(behind: LocalProxyTarget): Server {
  const local = new LocalServer(
    (request) => behind.routes.local.findRoute(request),
    (error) => {
      throw error;
    },
  );
  // A connection that this server ended while a test was busy could not take the next request.
  return createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const claims = request.method === 'HEAD' ? null : verifiedClaimsOf(request, behind);
    if (!claims || needsHttp(request, behind.routes)) return forwardOverHttp(request, request, response, behind.port);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const call = local.accept(toLocalRequest(request, body));
      if (call) call(toLocalCaller(response), claims);
      else forwardOverHttp(request, Readable.from([body]), response, behind.port);
    });
  });
}

/** Whether a request needs HTTP whatever its body is: that of a file may arrive slowly or break off. */
function needsHttp({ method, url, headers }: IncomingMessage, { local }: EndpointRoutes): boolean {
  if (headers['content-type']?.startsWith('multipart/')) return true;
  return local.findRoute({ method: method!, url: url!, headers: {}, body: null }) === null;
}

/** Returns the claims of a request; null if it has none that are valid. */
function verifiedClaimsOf(
  { method, url, headers }: IncomingMessage,
  { service, keys }: LocalProxyTarget,
): ContextClaims | null {
  const header = headers[CONTEXT_HEADER];
  if (typeof header !== 'string') return null;
  try {
    return verifyContext(header, { audience: service, method: method!, rawUrl: url!, now: Date.now() }, keys);
  } catch {
    return null;
  }
}

function toLocalRequest(request: IncomingMessage, body: Buffer): LocalRequest {
  const { [CONTEXT_HEADER]: _, ...headers } = request.headers;
  return { method: request.method!, url: request.url!, headers, body: body.length === 0 ? null : body };
}

function toLocalCaller(response: ServerResponse): LocalCaller {
  return {
    onConnect: (abort) => response.once('close', () => abort(new Error('client gone'))),
    onHeaders: (status, headers, resume, reason) => {
      response.on('drain', resume);
      response.writeHead(status, reason, headers);
    },
    onData: (chunk) => response.write(chunk),
    onComplete: () => response.end(),
    onError: () => response.destroy(),
  };
}

function forwardOverHttp(request: IncomingMessage, body: Readable, response: ServerResponse, port: number): void {
  const { method, url: path, rawHeaders: headers } = request;
  const onward = httpRequest({ host: '127.0.0.1', port, method, path, headers: headers as never, agent: false });
  response.once('close', () => {
    if (!response.writableFinished) onward.destroy();
  });
  onward.once('response', (answer) => {
    response.writeHead(answer.statusCode!, answer.statusMessage, answer.rawHeaders);
    answer.pipe(response);
    answer.once('error', () => response.destroy());
  });
  onward.once('error', () => response.destroy());
  body.once('error', () => onward.destroy());
  body.pipe(onward);
}
