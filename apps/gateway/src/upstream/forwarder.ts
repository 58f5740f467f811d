import type { Readable } from 'node:stream';
import { FairSemaphore } from '@rookery/api-v4';
import type { LimitedCaller } from '@rookery/api-v4';
import {
  ADMISSION_HEADER,
  CONTEXT_HEADER,
  READ_ONLY_HEADER,
  REQUEST_ID_HEADER,
  SERVICE_NAMES,
} from '@rookery/contracts';
import type { ContextClaims, ServiceName } from '@rookery/contracts';
import { TooManyRequests } from '@rookery/kernel';
import { contextRequestClaim, signContext } from '@rookery/platform';
import type { ContextSigningKeys } from '@rookery/platform';
import type { Dispatcher } from 'undici';
import { STALE_MS } from '../auth/authenticator';
import type { DirectoryFloor } from '../auth/directory-floor';
import type { Exchange } from '../request/exchange';
import { REFUSALS, throttled } from '../request/refusal';
import { BodyMeter, BodyRefused } from '../request/request-body';
import type { Recheck } from '../request/request-body';
import type { Tally } from '../metrics/tally';
import { ProxyCall } from './proxy-call';
import type { ProxyEvents } from './proxy-call';
import type { Message, Upstreams } from './upstreams';

export interface ForwardSettings {
  readonly deadlineMs: number;
  readonly slowPeerMs: number;
  readonly upstreamConnections: number;
  readonly rateLimits: boolean;
}

/**
 * Connections to a service for one caller. An answer keeps one until its client has read it, so a slow reader uses up
 * only its own share; its further requests wait, which is no load.
 */
const CONNECTIONS_OF_ONE_CALLER = 16;
const WAITING_OF_ONE_CALLER = 184;
const QUEUE = {
  named: { name: 'requests_of_one_caller', setting: null, most: CONNECTIONS_OF_ONE_CALLER + WAITING_OF_ONE_CALLER },
  waiting: Infinity,
  waitingPart: 0.9,
};

/** Uploads are limited by their progress; this deadline only ends requests that no client can still be waiting for. */
const STREAM_DEADLINE_MS = 600_000;
/** Extra time for a service's own answer at the deadline, which is more specific than ours. Units: milliseconds. */
const GRACE_MS = 250;
/** Errors before the request was sent: the service cannot have acted on it. */
const NOT_CONNECTED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
/** Lost connections, most often idle ones that the service closed; repeating a read is harmless. */
const LOST: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

interface ForwardOptions {
  readonly body: Buffer | Readable | null;
  readonly recheck: Recheck;
  /** Called when the service admits the body; set only for the question whether it may be sent. */
  readonly admitted: (() => void) | null;
}

/**
 * Forwards a request with the signed context that the service decides by. A service in this process gets the claims of
 * the context themselves. Only reads over HTTP are retried, once, and only before an answer has begun.
 * Source: reference reliability 6.1, 6.2; docs/architecture.md 2; ADR 0050, 0051, 0199.
 */
export class Forwarder {
  private readonly places: ReadonlyMap<ServiceName, FairSemaphore>;

  constructor(
    private readonly upstreams: Upstreams,
    private readonly floor: DirectoryFloor,
    private readonly keys: ContextSigningKeys,
    private readonly settings: ForwardSettings,
    private readonly tally: Tally,
  ) {
    const places = {
      ...QUEUE,
      count: settings.upstreamConnections,
      ofOneCaller: CONNECTIONS_OF_ONE_CALLER,
      waitingOfOneCaller: settings.rateLimits ? WAITING_OF_ONE_CALLER : Infinity,
    };
    this.places = new Map(SERVICE_NAMES.map((service) => [service, new FairSemaphore(places)]));
    tally.lines.push(...this.places.values());
  }

  /**
   * Forwards a request and its body. `recheck` runs before sending if the request waited for longer than `STALE_MS`.
   */
  forward(exchange: Exchange, body: Buffer | Readable | null, recheck: Recheck): void {
    if (body instanceof BodyMeter && exchange.route.streamsRequest) {
      // Until the first byte the request holds no connection and counts as no load. The context is signed when it is sent.
      this.tally.collecting += 1;
      body.begun
        .finally(() => (this.tally.collecting -= 1))
        .then(
          () => this.dispatchToService(exchange, { body, recheck, admitted: null }),
          (error: unknown) => error instanceof BodyRefused && exchange.refuse(error.refusal),
        );
    } else this.dispatchToService(exchange, { body, recheck, admitted: null });
  }

  /** Asks the service whether the client may send its body; otherwise forwards the refusal to the client. */
  askAdmission(exchange: Exchange, recheck: Recheck, admitted: () => void): void {
    this.dispatchToService(exchange, { body: null, recheck, admitted });
  }

  private dispatchToService(exchange: Exchange, { body, recheck, admitted }: ForwardOptions): void {
    const service = exchange.route.service as ServiceName;
    const streams = body !== null && !Buffer.isBuffer(body);
    const mayBeLocal = !streams && admitted === null && exchange.method !== 'HEAD';
    const deadlineMs = exchange.route.deadlineMs ?? this.settings.deadlineMs;
    let options: Dispatcher.DispatchOptions | null = null;
    let isSent = false;
    let retried = false;
    let sentAt = Date.now();
    let signedAt = sentAt;
    let release = (): void => undefined;
    const events: ProxyEvents = {
      head: ({ directoryVersion }) => {
        if (!streams) this.tally.concurrency?.recordAnswer(Date.now() - sentAt, deadlineMs);
        if (directoryVersion !== null && service === 'identity') this.floor.raise(directoryVersion);
      },
      failed: (error) => this.tally.upstreamError(service, error.code ?? error.name),
      // An unreachable service did nothing, so even a write may be sent again; clients retry by themselves after a 503.
      refusal: ({ code = '' }) => (NOT_CONNECTED.has(code) ? REFUSALS.serviceAway : REFUSALS.badGateway),
      // The body meter rechecks the caller at the end of a streamed body.
      isOutdated: () => !streams && Date.now() - signedAt > STALE_MS,
      outdated: (outdated) =>
        void send(outdated).catch((error: unknown) => outdated.refuse(REFUSALS.internal, String(error))),
      admitted: admitted && (() => (release(), admitted())),
      retry: (error, failed) => {
        if (retried || !options || !isRepeatableAfterError(options, error) || !this.upstreams.mayRetry(Date.now()))
          return false;
        retried = true;
        this.upstreams.poolOf(service).dispatch(options, failed);
        return true;
      },
    };
    /** Sends the request with the current claims. */
    const send = async (to: ProxyCall): Promise<void> => {
      const refusal = Date.now() - signedAt > STALE_MS ? await recheck() : null;
      if (refusal) to.refuse(refusal, refusal.reason);
      if (exchange.isOver) return;
      signedAt = Date.now();
      isSent = true;
      const message = this.toServiceMessage(exchange, body);
      if (admitted) message.headers.push(ADMISSION_HEADER, '1');
      const claims = this.contextClaims(
        exchange,
        service,
        message,
        this.computeServiceDeadline(exchange, streams, deadlineMs),
      );
      const local = mayBeLocal ? this.upstreams.accept(service, { ...message, body: body as Buffer | null }) : null;
      if (local !== null) return local(to, claims);
      message.headers.push(CONTEXT_HEADER, signContext(claims, this.keys));
      options = { ...message, method: message.method as Dispatcher.HttpMethod };
      this.upstreams.poolOf(service).dispatch(options, to);
    };
    const call = new ProxyCall(exchange, events, this.settings.slowPeerMs);
    exchange.response.on('close', () => call.closed());
    // The call may still wait for a connection.
    if (streams) body.once('error', (error) => error instanceof BodyRefused && call.bodyRefused(error));
    if (streams) body.once('end', () => call.limitTime(deadlineMs + GRACE_MS));
    else call.limitTime(Math.max(1, exchange.deadline - Date.now()) + GRACE_MS);
    const begin = async (): Promise<void> => {
      sentAt = Date.now();
      const released = new Promise<void>((resolve) => (release = resolve));
      await send(call);
      if (!isSent || exchange.response.closed) return;
      exchange.response.once('close', release);
      await released;
    };
    this.connectionSlotsOf(service)
      .run(this.toLimitedCaller(exchange), begin)
      .catch((error: unknown) => exchange.response.closed || this.refuseAboveLimit(call, error));
  }

  /**
   * The deadline for the service. A streaming route counts the time from the end of its body, so its deadline is
   * relative to now.
   */
  private computeServiceDeadline(
    { route, receivedAt, deadline }: Exchange,
    isStreamed: boolean,
    deadlineMs: number,
  ): number {
    if (!isStreamed) return deadline;
    return route.streamsRequest ? Date.now() + deadlineMs : receivedAt + STREAM_DEADLINE_MS;
  }

  private connectionSlotsOf(service: ServiceName): FairSemaphore {
    return this.places.get(service) as FairSemaphore;
  }

  private toLimitedCaller(exchange: Exchange): LimitedCaller {
    const { address, deadline } = exchange;
    const { holder, actingFor } = exchange.caller;
    const impersonatorId = actingFor ?? holder?.impersonator_id ?? null;
    const creatorId = holder?.maker_id ?? null;
    return {
      impersonatorId,
      creatorId,
      userId: holder?.user_id ?? null,
      address,
      deadline,
      onGone: exchange.onGone,
    };
  }

  /** Refuses a request that was not sent, because too many wait for the service. Other errors are faults: 500. */
  private refuseAboveLimit(call: ProxyCall, error: unknown): void {
    if (!(error instanceof TooManyRequests)) return call.refuse(REFUSALS.internal, String(error));
    this.tally.countThrottled('connections');
    call.refuse(throttled(error.limit, ['Retry-After', String(error.retryAfterSeconds)]), 'throttled');
  }

  private toServiceMessage(exchange: Exchange, body: Buffer | Readable | null) {
    // A service answers HEAD like GET; asking for GET gives the same headers even if it has no HEAD. Where it streams,
    // HEAD spares it from opening the stream.
    const asksGet = exchange.method === 'HEAD' && !exchange.route.streamsResponse;
    const method = asksGet ? exchange.route.method : exchange.method;
    const path = exchange.query === '' ? exchange.target.path : `${exchange.target.path}?${exchange.query}`;
    const headers = [...exchange.head.onward];
    if (body !== null && !Buffer.isBuffer(body) && exchange.head.contentLength >= 0) {
      headers.push('content-length', String(exchange.head.contentLength));
    }
    headers.push(REQUEST_ID_HEADER, exchange.requestId, 'x-forwarded-for', exchange.address);
    if (exchange.method === 'HEAD') headers.push(READ_ONLY_HEADER, '1');
    return { method, path, headers, body };
  }

  private contextClaims(
    exchange: Exchange,
    service: ServiceName,
    { method, path }: Pick<Message, 'method' | 'path'>,
    deadline: number,
  ): ContextClaims {
    const { holder, mark, actingFor, isReplayOnly } = exchange.caller;
    const floor = this.floor.current ?? mark;
    const creatorId = holder?.maker_id ?? null;
    return {
      sub: holder?.user_id ?? null,
      usr: holder?.username ?? null,
      tok: holder?.token_id ?? null,
      ...(holder?.job ? { job: [holder.job.id, holder.job.project_id] as const } : {}),
      scp: holder?.scopes ?? [],
      adm: holder?.admin ?? false,
      ext: holder?.external ?? false,
      bot: holder?.bot ?? false,
      imp: actingFor ?? holder?.impersonator_id ?? null,
      ...(actingFor === undefined ? {} : { sud: true as const }),
      ...(creatorId === null ? {} : { mkr: creatorId }),
      ...(isReplayOnly ? { rpl: true as const } : {}),
      ...(holder === null ? { adr: exchange.address } : {}),
      ...(exchange.clientToken === null ? {} : { ctk: exchange.clientToken }),
      ver: floor.epoch === mark.epoch ? Math.max(floor.version, mark.version) : mark.version,
      epo: mark.epoch,
      aud: service,
      req: contextRequestClaim(method, path),
      rid: exchange.requestId,
      iat: Date.now(),
      ddl: deadline,
    };
  }
}

function isRepeatableAfterError(
  { method, body }: Dispatcher.DispatchOptions,
  { code = '' }: NodeJS.ErrnoException,
): boolean {
  if ((method !== 'GET' && method !== 'HEAD') || body !== null) return false;
  return NOT_CONNECTED.has(code) || LOST.has(code);
}
