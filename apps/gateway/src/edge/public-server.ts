import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Edge, OwnRoutes } from './edge';
import { REFUSALS } from '../request/refusal';
import type { Refusal } from '../request/refusal';

export interface PublicServerSettings {
  readonly slowPeerMs: number;
  readonly socketsPerAddress: number;
  readonly trustedProxies: number;
}

/** Above what we take, so that the refusal is ours: head 16 KiB, query 16 KiB, path 8 KiB. */
const PARSER_BYTES = 48 * 1024;
const KEEP_ALIVE_MS = 72_000;
const MOST_CHECK_MS = 5000;
/** Requests that one connection may send before the answer to those in front of them. */
const MOST_AHEAD = 32;

const CLIENT_ERRORS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: REFUSALS.headersTooLarge,
  ERR_HTTP_REQUEST_TIMEOUT: REFUSALS.requestTimeout,
};

/**
 * The listening socket: strict parsing, headers within their time, few connections an address, JSON for what the
 * parser refuses. Requests of one connection are begun one after the other: an answer that waits for another has no
 * connection as yet, and would not hear when it is gone. Bodies have their own clocks (request-body).
 * Source: reference reliability 6.1, 6.3.
 */
export class PublicServer {
  readonly server: Server;
  private readonly sockets = new Map<string, number>();
  private readonly waiting = new WeakSet<IncomingMessage>();
  private readonly surplus = new WeakSet<Socket>();
  /** How many requests a connection sent ahead. */
  private readonly ahead = new WeakMap<Socket, number>();
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
    // All headers or a refusal: Node would drop those beyond the count without a word.
    this.server.maxHeadersCount = 0;
    this.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (response.socket === null) this.wait(request, response);
      else this.begin(request, response);
    });
    this.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      this.waiting.add(request);
      this.server.emit('request', request, response);
    });
    this.server.on('clientError', refuseUnparsed);
    if (settings.socketsPerAddress > 0 && settings.trustedProxies === 0) {
      this.server.on('connection', (socket: Socket) => this.admit(socket));
    }
  }

  /** Shape: `own` answers what the edge leaves to Nest. */
  inFrontOf(own: OwnRoutes): Server {
    this.own = own;
    return this.server;
  }

  open(edge: Edge): void {
    this.edge = edge;
  }

  private begin(request: IncomingMessage, response: ServerResponse): void {
    // It listens when the edge is there.
    const expectsContinue = this.waiting.has(request);
    const isSurplus = this.surplus.has(request.socket);
    this.edge?.handle(request, response, { expectsContinue, isSurplus }, this.own);
  }

  /** Until those in front of it are answered. Whoever sends too many ahead is cut off. */
  private wait(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const count = (this.ahead.get(socket) ?? 0) + 1;
    if (count > MOST_AHEAD) {
      socket.destroy();
      return;
    }
    this.ahead.set(socket, count);
    response.once('socket', () => {
      this.ahead.set(socket, this.ahead.get(socket)! - 1);
      this.begin(request, response);
    });
  }

  /** As many again are told that they are too many; beyond these nobody is listened to. */
  private admit(socket: Socket): void {
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

function refuseUnparsed(error: NodeJS.ErrnoException, socket: Duplex): void {
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
