import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RateLimit } from '@rookery/kernel';
import { mayBodyContainSudo, readBodyCredentials, extractQueryCredentials } from '../auth/credential';
import type { Credential } from '../auth/credential';
import type { AccessLog } from './access-log';
import type { Admission } from './admission';
import type { Forwarder } from '../upstream/forwarder';
import type { Tally } from '../metrics/tally';
import { parseRequestTarget, rewriteGoGetTarget } from '../routes/raw-target';
import type { Route } from '../routes/route';
import type { RouteTable } from '../routes/route-table';
import { preflight } from './cors';
import type { Caller } from '../request/caller';
import { Exchange } from '../request/exchange';
import { isRefusal, methodNotAllowed, REFUSALS, throttled } from '../request/refusal';
import type { Refusal } from '../request/refusal';
import { CACHE_DEFAULT } from '../request/response-headers';
import { BodyMeter, collectBody, isCollectedBody, SMALL_BODY, STALLED_TIMES } from '../request/request-body';
import type { Recheck } from '../request/request-body';
import { readHead } from '../request/request-head';
import type { RequestHead } from '../request/request-head';

export interface EdgeSettings {
  readonly deadlineMs: number;
  readonly bodyLimitBytes: number;
  readonly slowPeerMs: number;
  readonly trustedProxies: number;
  readonly socketsPerAddress: number;
}

/** Circumstances of a request's arrival. */
export interface Arrival {
  /** The client waits for "100 Continue". */
  readonly expectsContinue: boolean;
  /** Its connection exceeds the limit of its address. */
  readonly isSurplus: boolean;
}

/** Answers addresses that no route has, for people with a browser. */
export interface Pages {
  serves(exchange: Exchange): boolean;
  answer(exchange: Exchange): Promise<void>;
}

/** Answers the gateway's own routes. */
export type OwnRoutes = (request: IncomingMessage, response: ServerResponse) => void;

const MAX_QUERY = 16 * 1024;
const MAX_PATH = 8 * 1024;

/**
 * Processes a request: head, route, load, body, credential, rate, then forwarding to the service. It works on Node's
 * request and response below Fastify: see ADR 0050. Source: docs/architecture.md 2.
 */
export class Edge {
  private readonly connections: RateLimit;
  private pages: Pages | null = null;

  constructor(
    private readonly routes: RouteTable,
    private readonly admission: Admission,
    private readonly forwarder: Forwarder,
    private readonly settings: EdgeSettings,
    private readonly tally: Tally,
    private readonly accessLog: AccessLog | null,
  ) {
    const most = settings.socketsPerAddress;
    const setting = 'GATEWAY_SOCKETS_PER_ADDRESS_COUNT';
    this.connections = { name: 'connections_per_address', most, each: 'moment', setting };
  }

  /** Sets the pages that answer addresses without an API route. The edge is created first, because pages call it. */
  open(pages: Pages): void {
    this.pages = pages;
  }

  /** Handles a request; `own` answers the gateway's own routes. */
  handle(
    request: IncomingMessage,
    response: ServerResponse,
    { expectsContinue, isSurplus }: Arrival,
    own: OwnRoutes,
  ): void {
    const ended = isSurplus ? () => undefined : this.countInFlight();
    const head = readHead(request.rawHeaders);
    const exchange = new Exchange(request, response, head, this.settings.trustedProxies, ended);
    exchange.expectsContinue = expectsContinue;
    exchange.patienceMs = this.settings.slowPeerMs * STALLED_TIMES;
    if (isSurplus) {
      this.refuseSurplusConnection(exchange);
      return;
    }
    const log = this.accessLog?.beginEntry(exchange);
    response.on('close', () => {
      ended();
      const status = response.headersSent ? response.statusCode : 499;
      this.tally.countAnswer(exchange.route?.service ?? 'none', status);
      log?.(status);
      this.reportOutage(exchange);
    });
    try {
      // A promise is created only where the request must wait: most requests have a leased token and no body.
      this.routeAndAdmit(exchange, own)?.catch((error: unknown) => this.reportFailure(exchange, error));
    } catch (error) {
      this.reportFailure(exchange, error);
    }
  }

  /** Counts a request in flight. Returns the function that ends the count; further calls of it have no effect. */
  private countInFlight(): () => void {
    let isOver = false;
    this.tally.inFlight += 1;
    return () => {
      if (!isOver) this.tally.inFlight -= 1;
      isOver = true;
    };
  }

  /** Refused connections are no load, even while slow clients read the answer. */
  private refuseSurplusConnection(exchange: Exchange): void {
    this.tally.countThrottled(this.connections.name);
    this.tally.countAnswer('none', 429);
    exchange.response.shouldKeepAlive = false;
    exchange.refuse(throttled(this.connections, ['Retry-After', '1']));
  }

  private routeAndAdmit(exchange: Exchange, own: OwnRoutes): Promise<void> | undefined {
    const refused = this.assignRouteOrRefuse(exchange);
    if (refused === REFUSALS.notFound && this.pages?.serves(exchange)) return this.pages.answer(exchange);
    if (refused) {
      exchange.refuse(refused);
      return undefined;
    }
    const { parameters, onward } = extractQueryCredentials(exchange.target.query);
    const { head, route } = exchange;
    exchange.query = onward;
    const credential = this.admission.findCredential(exchange, parameters);
    const refusal = isHealthRoute(route) ? null : this.admission.shedding.refusal(route.shed, credential === null);
    if (refusal) {
      exchange.refuse(refusal);
      return undefined;
    }
    // The content of a streamed body is not read here, even if it is small.
    if ((hasSmallBody(head) && !route.streamsRequest) || (isReadRequest(exchange) && exchange.hasBody))
      return this.admitAfterReadingBody(exchange, credential, parameters.sudo, own);
    const recheck = (): Promise<Refusal | null> => this.admission.recheck(exchange, credential, parameters.sudo);
    const admitted = this.admission.admit(exchange, credential, parameters.sudo);
    if (admitted instanceof Promise)
      return admitted.then((outcome) => this.answerOrForward(exchange, outcome, null, recheck, own));
    this.answerOrForward(exchange, admitted, null, recheck, own);
    return undefined;
  }

  private async admitAfterReadingBody(
    exchange: Exchange,
    presented: Credential | null,
    sudoOfQuery: string,
    own: OwnRoutes,
  ): Promise<void> {
    const { head } = exchange;
    exchange.sendContinue();
    this.tally.collecting += 1;
    const body = await collectBody(exchange.request, head.contentLength, this.settings.slowPeerMs);
    this.tally.collecting -= 1;
    if (body === null) return;
    if (!isCollectedBody(body)) {
      exchange.refuse(body);
      return;
    }
    const inBody = readBodyCredentials(body, head.contentType);
    const credential = presented ?? this.admission.findCredential(exchange, inBody);
    const sudo = sudoOfQuery || inBody.sudo;
    const recheck = (): Promise<Refusal | null> => this.admission.recheck(exchange, credential, sudo);
    const admitted = await this.admission.admit(exchange, credential, sudo);
    const isSearched = !isRefusal(admitted) && isReadRequest(exchange) && sudo === '' && head.sudo === '';
    this.answerOrForward(exchange, (isSearched && refusalOfSudoInGetBody(head, body)) || admitted, body, recheck, own);
  }

  private answerOrForward(
    exchange: Exchange,
    admitted: Caller | Refusal,
    body: Buffer | null,
    recheck: Recheck,
    own: OwnRoutes,
  ): void {
    if (isRefusal(admitted)) {
      exchange.refuse(admitted);
      return;
    }
    if (exchange.isOver) return;
    exchange.caller = admitted;
    if (exchange.route.service === 'gateway') this.answerByOwnRoutes(exchange, own);
    else if (exchange.expectsContinue && exchange.route.streamsRequest)
      this.forwarder.askAdmission(exchange, recheck, () => this.forwardBody(exchange, recheck));
    else if (body !== null) this.forwarder.forward(exchange, body, recheck);
    else this.forwardBody(exchange, recheck);
  }

  private forwardBody(exchange: Exchange, recheck: Recheck): void {
    if (exchange.isOver) return;
    this.forwarder.forward(exchange, this.meterRequestBody(exchange, recheck), recheck);
  }

  /** Reports an outage. A request that timed out also counts as a late answer. */
  private reportOutage({ refused, method, requestId, route, receivedAt, deadline }: Exchange): void {
    const reason = refused?.refusal.unavailable;
    if (reason === undefined) return;
    if (Date.now() >= deadline && !route?.streamsRequest)
      this.tally.concurrency?.recordAnswer(Date.now() - receivedAt, deadline - receivedAt);
    this.tally.outages.recordOutage(reason, { requestId, method, route: route?.template, err: refused?.cause });
  }

  private reportFailure(exchange: Exchange, error: unknown): void {
    this.admission.logger.error({ err: error, requestId: exchange.requestId }, 'request failed');
    exchange.answerUnexpectedError();
  }

  /** Finds the route, and refuses everything that can be refused without knowing the caller. */
  private assignRouteOrRefuse(exchange: Exchange): Refusal | null {
    const { request, head, method } = exchange;
    if (head.isOversized) return REFUSALS.headersTooLarge;
    const url = request.url ?? '/';
    const cut = parseRequestTarget(url);
    const target = cut && rewriteGoGetTarget(method, cut);
    if (!target || head.isAmbiguous) return REFUSALS.badRequest;
    if (target.query.length > MAX_QUERY || target.path.length > MAX_PATH) return REFUSALS.uriTooLong;
    exchange.target = target;
    const match = this.routes.findRoute(method, target.segments);
    if (match.kind === 'none') return REFUSALS.notFound;
    if (match.kind === 'other methods') {
      return method === 'OPTIONS' ? preflight(head, match.allowed) : methodNotAllowed(match.allowed);
    }
    exchange.route = match.route;
    exchange.deadline = exchange.receivedAt + (match.route.deadlineMs ?? this.settings.deadlineMs);
    if (head.contentLength > this.bodyLimitBytes(exchange)) return REFUSALS.tooLarge;
    // Services ignore bodies of GET and HEAD, and this one is too large to be searched for `sudo`.
    return isReadRequest(exchange) && head.contentLength > SMALL_BODY ? REFUSALS.unreadBody : null;
  }

  private meterRequestBody(exchange: Exchange, recheck: Recheck): BodyMeter | null {
    if (!exchange.hasBody) return null;
    exchange.sendContinue();
    const { streamsRequest, deadlineMs = 0 } = exchange.route;
    const { slowPeerMs } = this.settings;
    // A service may let a body wait for as long as its answer.
    const serviceMs = Math.max(slowPeerMs * STALLED_TIMES, deadlineMs);
    const limits = { limit: this.bodyLimitBytes(exchange), slowPeerMs, mayBeSlow: streamsRequest === true, serviceMs };
    const meter = new BodyMeter(limits, recheck);
    exchange.response.once('close', () => meter.destroy());
    return exchange.request.pipe(meter);
  }

  private bodyLimitBytes(exchange: Exchange): number {
    return exchange.route.bodyLimit ?? this.settings.bodyLimitBytes;
  }

  private answerByOwnRoutes(exchange: Exchange, own: OwnRoutes): void {
    const headers = exchange.commonHeaders(200);
    for (let index = 0; index < headers.length; index += 2) {
      exchange.response.setHeader(headers[index] as string, headers[index + 1] as string);
    }
    exchange.response.setHeader('Cache-Control', CACHE_DEFAULT);
    exchange.request.url = exchange.target.path;
    exchange.response.once('prefinish', () => exchange.watchEnd());
    own(exchange.request, exchange.response);
  }
}

function isHealthRoute({ service, shed }: Route): boolean {
  return service === 'gateway' && shed === 'vital';
}

function isReadRequest({ method }: Exchange): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** The refusal if `sudo` in the body of a GET or HEAD cannot be read. */
function refusalOfSudoInGetBody({ isEncoded }: RequestHead, body: Buffer): Refusal | null {
  if (isEncoded && body.length > 0) return REFUSALS.unreadBody;
  return mayBodyContainSudo(body) ? REFUSALS.unreadSudo : null;
}

function hasSmallBody({ isChunked, contentLength }: RequestHead): boolean {
  return !isChunked && contentLength > 0 && contentLength <= SMALL_BODY;
}
