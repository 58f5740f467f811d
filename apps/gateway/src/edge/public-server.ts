import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Edge, OwnRoutes } from './edge';
import { REFUSALS } from '../request/refusal';
import type { Refusal } from '../request/refusal';

export interface PublicServerSettings {
  readonly slowPeerMs: number;
  readonly socketsPerAddress: number;
  readonly trustedProxies: number;
}

/** Above our own limits, so that the refusal is ours: head 16 KiB, query 16 KiB, path 8 KiB. Units: bytes. */
const PARSER_BYTES = 48 * 1024;
const KEEP_ALIVE_MS = 72_000;
const MOST_CHECK_MS = 5000;
/** Pipelined requests that one connection may have waiting. */
const MOST_AHEAD = 32;

const CLIENT_ERRORS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: REFUSALS.headersTooLarge,
  ERR_HTTP_REQUEST_TIMEOUT: REFUSALS.requestTimeout,
};

/**
 * The listening server: strict parsing, a time limit for headers, a connection limit for each address, JSON for
 * refusals by the parser. Pipelined requests are handled one after the other: a waiting response has no socket yet, and
 * would not notice that the client left. Bodies have time limits of their own (request-body).
 * Source: reference reliability 6.1, 6.3.
 */
export class PublicServer {
  readonly server: Server;
  private readonly sockets = new Map<string, number>();
  private readonly waiting = new WeakSet<IncomingMessage>();
  private readonly surplus = new WeakSet<Socket>();
  /** Pipelined requests that wait, by connection. */
  private readonly ahead = new WeakMap<Socket, number>();
  /** The newest answer of each connection. */
  private readonly answers = new WeakMap<Socket, ServerResponse>();
  private edge: Edge | undefined;
  private own: OwnRoutes = (_, response) => void response.destroy();

  constructor(private readonly settings: PublicServerSettings) {
    this.server = createServer({
      insecureHTTPParser: false,
      maxHeaderSize: PARSER_BYTES,
      headersTimeout: settings.slowPeerMs,
      requestTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: Math.min(MOST_CHECK_MS, Math.ceil(settings.slowPeerMs / 2)),
      noDelay: true,
    });
    // No limit here: Node would silently drop headers beyond it. `readHead` refuses too many.
    this.server.maxHeadersCount = 0;
    this.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (response.socket === null) this.delayPipelinedRequest(request, response);
      else this.passToEdge(request, response);
    });
    this.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      this.waiting.add(request);
      this.server.emit('request', request, response);
    });
    this.server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) =>
      this.answerParserError(error, socket),
    );
    if (settings.socketsPerAddress > 0 && settings.trustedProxies === 0) {
      this.server.on('connection', (socket: Socket) => this.limitConnections(socket));
    }
  }

  /** Returns the server. `own` answers requests that the edge passes to Nest. */
  inFrontOf(own: OwnRoutes): Server {
    this.own = own;
    return this.server;
  }

  open(edge: Edge): void {
    this.edge = edge;
  }

  private passToEdge(request: IncomingMessage, response: ServerResponse): void {
    // The server listens only after `open`.
    const expectsContinue = this.waiting.has(request);
    const isSurplus = this.surplus.has(request.socket);
    this.answers.set(request.socket, response);
    this.edge?.handle(request, response, { expectsContinue, isSurplus }, this.own);
  }

  /** Answers what the parser refuses, but not in the middle of the answer to a request before it. */
  private answerParserError(error: NodeJS.ErrnoException, socket: Socket): void {
    const answer = this.answers.get(socket);
    if (answer?.headersSent && !answer.writableFinished) socket.resetAndDestroy();
    else answerHttpParserError(error, socket);
  }

  /** Delays a pipelined request until those before it are answered. A client that sends too many is disconnected. */
  private delayPipelinedRequest(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const count = (this.ahead.get(socket) ?? 0) + 1;
    if (count > MOST_AHEAD) {
      socket.destroy();
      return;
    }
    this.ahead.set(socket, count);
    response.once('socket', () => {
      this.ahead.set(socket, this.ahead.get(socket)! - 1);
      this.passToEdge(request, response);
    });
  }

  /** Counts connections by address. Beyond the limit, as many again get 429; further ones are closed at once. */
  private limitConnections(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const count = (this.sockets.get(address) ?? 0) + 1;
    const most = this.settings.socketsPerAddress;
    if (count > 2 * most) {
      socket.destroy();
      return;
    }
    if (count > most) this.surplus.add(socket);
    this.sockets.set(address, count);
    socket.once('close', () => {
      const left = (this.sockets.get(address) ?? 1) - 1;
      if (left === 0) this.sockets.delete(address);
      else this.sockets.set(address, left);
    });
  }
}

function answerHttpParserError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, body } = CLIENT_ERRORS[error.code ?? ''] ?? REFUSALS.badRequest;
  const text = body ?? '';
  socket.end(
    `HTTP/1.1 ${status} ${REASONS[status] ?? 'Bad Request'}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  );
}

const REASONS: Readonly<Record<number, string>> = { 408: 'Request Timeout', 431: 'Request Header Fields Too Large' };
