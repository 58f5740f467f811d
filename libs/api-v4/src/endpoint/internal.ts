import 'reflect-metadata';
import type { Readable } from 'node:stream';
import { INTERNAL_WAIT_HEADER } from '@rookery/contracts';
import { runForWaiter } from '@rookery/platform';
import type { ProcessName } from '@rookery/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiReply, ApiRequest } from '../call/api-request';
import type { HttpMethod } from './endpoint';
import { renderError } from '../answers/errors';
import { sendToReader } from '../answers/file-reply';
import { JsonText } from '../answers/json-text';
import { writeError, writeJson } from '../answers/reply';
import type { ReplyFacts } from '../answers/reply';
import { BROKEN_QUERY } from '../params/request-body';
import { requireInternalCaller } from './request-context';
import type { ApiRuntime } from './runtime';
import { allowSlowBody } from './upload';

/** A request from one of our own processes. `body` is parsed JSON, the values of `query` are texts. */
export interface InternalRequest {
  readonly body: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
}

/** A declared internal route. */
export interface InternalRecord {
  readonly method: HttpMethod;
  /** Full path, below `/internal/`. */
  readonly path: string;
  /** Processes that may call the route; others are refused. */
  readonly callers: readonly ProcessName[];
  readonly handler: string;
  /** The handler gets the body as a stream, and returns one. */
  readonly isStreamed: boolean;
  /** Units: bytes. Default 1 MiB. */
  readonly bodyLimit?: number;
}

/** A request whose body the handler reads as a stream. */
export interface InternalUpload extends Omit<InternalRequest, 'body'> {
  readonly input: Readable;
}

/** A streamed answer. */
export interface InternalStream {
  readonly mediaType: string;
  readonly stream: Readable;
}

const INTERNAL = Symbol('rookery:internal');

/**
 * Declares a route for our own processes on a controller method. The method takes an InternalRequest, and its result is
 * sent as JSON (undefined: 204). Requests need `Authorization: Bearer <key>` of one of the callers; the gateway never
 * routes them. `path` is a full path of INTERNAL_PATHS, and `callers` an entry of INTERNAL_CALLERS.
 * Errors: a plain Error for a path that is not below `/internal/`. Kernel errors of the method are answered as
 * everywhere.
 */
export function InternalRoute(
  method: HttpMethod,
  path: string,
  callers: readonly ProcessName[],
  options: Pick<InternalRecord, 'bodyLimit'> = {},
): MethodDecorator {
  return declareInternalRoute({ method, path, callers, isStreamed: false, ...options });
}

/**
 * Declares a route for our own processes that streams both ways. The method takes an InternalUpload and returns an
 * InternalStream. The body has no total time limit. Otherwise as `InternalRoute`.
 */
export function StreamedInternalRoute(
  method: HttpMethod,
  path: string,
  callers: readonly ProcessName[],
): MethodDecorator {
  return declareInternalRoute({ method, path, callers, isStreamed: true });
}

function declareInternalRoute(route: Omit<InternalRecord, 'handler'>): MethodDecorator {
  if (!route.path.startsWith('/internal/')) throw new Error(`${route.path} is not below /internal/`);
  return (target, key) => {
    const record: InternalRecord = { ...route, handler: String(key) };
    Reflect.defineMetadata(INTERNAL, [...internalRoutesOf(target.constructor), record], target.constructor);
  };
}

/** Returns the internal routes of a controller class. */
export function internalRoutesOf(controller: object): readonly InternalRecord[] {
  return (Reflect.getOwnMetadata(INTERNAL, controller) as InternalRecord[] | undefined) ?? [];
}

type InternalHandler = (request: InternalRequest | InternalUpload) => unknown;

/** Returns the request handler of an internal route. The handler never rejects. */
export function createInternalRouteHandler(record: InternalRecord, handler: InternalHandler, runtime: ApiRuntime) {
  return async (request: ApiRequest, reply: ApiReply): Promise<void> => {
    const startedAt = performance.now();
    const given = request.headers['x-request-id'];
    const requestId = typeof given === 'string' ? given : '';
    const facts = { requestId, startedAt, isHead: false };
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    runtime.traffic.countStart();
    try {
      requireInternalCaller(request.headers.authorization, record.callers, runtime);
      const call = {
        ...readInternalInput(request, record),
        query: request.query === BROKEN_QUERY ? {} : (request.query as Record<string, unknown>),
        params: request.params as Record<string, string>,
        requestId,
        signal: gone.signal,
      };
      const deadline = Date.now() + readCallerWaitMs(request);
      const result = await runForWaiter({ kind: 'process', deadline }, async () => handler(call));
      if (record.isStreamed) await writeStream(reply as FastifyReply, result as InternalStream);
      else writeJsonResult(reply, facts, result);
    } catch (error) {
      writeError(reply, facts, renderError(error, runtime.log.child({ requestId }), runtime.outages, requestId));
    }
    runtime.traffic.countEnd(record.method, record.path, reply.raw.statusCode, startedAt);
  };
}

function readInternalInput(request: ApiRequest, { isStreamed }: InternalRecord) {
  if (!isStreamed) return { body: (request.body ?? {}) as Record<string, unknown> };
  // Local calls never reach streamed routes.
  const { raw } = request as FastifyRequest;
  allowSlowBody(raw.socket);
  return { input: raw };
}

function writeJsonResult(reply: ApiReply, facts: ReplyFacts, result: unknown): void {
  const text = result instanceof JsonText ? result.text : result === undefined ? null : JSON.stringify(result);
  writeJson(reply, facts, text === null ? 204 : 200, text, []);
}

/** Errors: those of the stream. A caller that left is not an error. */
async function writeStream(reply: FastifyReply, { mediaType, stream }: InternalStream): Promise<void> {
  reply.hijack();
  reply.raw.writeHead(200, ['content-type', mediaType, 'cache-control', 'no-cache']);
  await sendToReader([stream], reply.raw);
}

/** Time that the caller waits for the answer. Units: milliseconds; Infinity without the header. */
function readCallerWaitMs(request: ApiRequest): number {
  const wait = request.headers[INTERNAL_WAIT_HEADER];
  return typeof wait === 'string' && /^\d{1,9}$/.test(wait) ? Number(wait) : Infinity;
}
