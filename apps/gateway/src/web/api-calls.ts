import type { IncomingMessage, ServerResponse } from 'node:http';
import { inject } from 'light-my-request';

/** Answers a request as the public server does. */
export type PublicHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** The person for whom a page asks. */
export interface ApiCaller {
  /** Access token; null for a visitor who is not signed in. */
  readonly token: string | null;
  /** Client address, for the limits of the API. */
  readonly address: string;
  /** Aborts the calls once the page has no reader any more. */
  readonly signal: AbortSignal;
}

/** An answer of the API. `data` is the parsed JSON, or null if the answer is not JSON. */
export interface ApiAnswer<T> {
  readonly status: number;
  readonly data: T;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The API refused a request of a page. */
export class ApiRefused extends Error {
  constructor(
    readonly status: number,
    /** The sentence of the API. */
    readonly reason: string,
  ) {
    super(`${status} ${reason}`);
  }
}

/** Error for a request path that names a project by a former path. The site redirects it. */
export class ProjectMoved extends Error {
  constructor(readonly projectId: string) {
    super(`moved to project ${projectId}`);
  }
}

type QueryParameters = Readonly<Record<string, string | number | undefined>>;
type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD';

/**
 * Calls the public API from within this process, on the way of every client: credential, limits, routing and rights are
 * the same, so pages show nothing that the API would not. Source: reference pages 1; ADR 0193.
 */
export class ApiCalls {
  constructor(
    private readonly handle: PublicHandler,
    private readonly asker: ApiCaller,
  ) {}

  /** Errors: ApiRefused with the status of the API, ProjectMoved. */
  async get<T>(path: string, query: QueryParameters = {}): Promise<T> {
    return (await this.answer<T>(path, query)).data;
  }

  /** Does the same as `get`, and returns the headers too, for pages of lists. */
  async answer<T>(path: string, query: QueryParameters = {}): Promise<ApiAnswer<T>> {
    return requireSuccess(await this.send<T>('GET', withQuery(path, query)));
  }

  /** Asks for the headers alone. Errors: as of `get`. */
  async head(path: string): Promise<ApiAnswer<null>> {
    return requireSuccess(await this.send<null>('HEAD', path));
  }

  /**
   * Does the same as `get`, but returns null if the resource is missing or the caller may not read it. Errors:
   * ApiRefused otherwise.
   */
  async find<T>(path: string, query: QueryParameters = {}): Promise<T | null> {
    const found = await this.send<T>('GET', withQuery(path, query));
    return found.status === 403 || found.status === 404 ? null : requireSuccess(found).data;
  }

  /** Sends a write with a JSON body. Errors: ApiRefused. */
  async write(method: HttpMethod, path: string, body: object = {}): Promise<void> {
    requireSuccess(await this.send(method, path, { body: JSON.stringify(body) }));
  }

  /**
   * Sends any request. Errors: ApiRefused with 404 for a path that another route would answer, 413 for an answer beyond
   * `maxBytes`, 502 for one that breaks off or whose page has no reader any more.
   */
  async send<T>(method: HttpMethod, path: string, o: SendOptions = {}): Promise<ApiAnswer<T>> {
    const { token, address, signal } = this.asker;
    // The address would be resolved before the edge could refuse it.
    if (
      path
        .split('?', 1)[0]!
        .split('/')
        .slice(1)
        .some((part) => NO_NAME.has(part))
    )
      throw new ApiRefused(404, GONE);
    const headers = {
      accept: 'application/json',
      ...(token === null ? {} : { 'private-token': token }),
      ...(o.body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const { maxBytes = MAX_ANSWER } = o;
    let isTooLarge = false;
    const serve = (request: IncomingMessage, response: ServerResponse): void => {
      imitateNetworkConnection(request, response);
      limitResponseBytes(response, maxBytes, () => (isTooLarge = true));
      this.handle(request, response);
    };
    const asked = { method, url: `/api/v4${path}`, headers, remoteAddress: address, signal };
    const payload = o.body === undefined ? {} : { payload: o.body };
    const answer = await inject(serve as Parameters<typeof inject>[0], { ...asked, ...payload }).catch(() => null);
    if (answer === null) throw isTooLarge ? new ApiRefused(413, TOO_LARGE) : new ApiRefused(502, BROKEN_OFF);
    const isJson = String(answer.headers['content-type'] ?? '').startsWith('application/json');
    const data = (isJson && answer.payload !== '' ? JSON.parse(answer.payload) : null) as T;
    return { status: answer.statusCode, data, text: answer.payload, headers: answer.headers as Record<string, string> };
  }
}

interface SendOptions {
  readonly body?: string;
  /** Units: bytes. */
  readonly maxBytes?: number;
}

/** Units: bytes. */
const MAX_ANSWER = 8 * 1024 * 1024;
/** Location of a redirect from a former path of a project. The group captures the id of the project. */
const MOVED = /\/api\/v4\/projects\/(\d+)(?:[/?]|$)/;
const NO_NAME = new Set(['', '.', '..']);
const GONE = '404 Not Found';
const TOO_LARGE = 'This is too large for a page.';
const BROKEN_OFF = 'A part of the server is restarting. Try again.';

/** Adds to a request in memory what the edge uses of a network connection. */
function imitateNetworkConnection(request: IncomingMessage, response: ServerResponse): void {
  // The body is complete from the beginning.
  request.complete = true;
  Object.assign(request.socket, { resetAndDestroy: () => response.destroy() });
  Object.defineProperty(response, 'closed', { get: () => response.destroyed });
}

/** Breaks off an answer that is larger. */
function limitResponseBytes(response: ServerResponse, maxBytes: number, onExceeded: () => void): void {
  const write = response.write.bind(response) as (data: string | Buffer, ...rest: unknown[]) => boolean;
  let written = 0;
  const limited = (data: string | Buffer, ...rest: unknown[]): boolean => {
    written += data.length;
    if (written <= maxBytes) return write(data, ...rest);
    onExceeded();
    response.destroy();
    return false;
  };
  Object.assign(response, { write: limited });
}

function requireSuccess<T>(answer: ApiAnswer<T>): ApiAnswer<T> {
  if (answer.status < 300) return answer;
  const [, moved] = (answer.status === 301 && MOVED.exec(answer.headers['location'] ?? '')) || [];
  if (moved !== undefined) throw new ProjectMoved(moved);
  throw new ApiRefused(answer.status, describeApiError(answer.data) ?? `The request was refused (${answer.status}).`);
}

/** The sentence in a refusal. Its fields and their problems are joined. */
function describeApiError(data: unknown): string | null {
  if (typeof data !== 'object' || data === null) return null;
  const { message, error, error_description: description } = data as Record<string, unknown>;
  const said = message ?? description ?? error;
  if (typeof said === 'string') return said;
  if (typeof said !== 'object' || said === null) return null;
  return Object.entries(said)
    .map(([field, problems]) => `${field} ${[problems].flat().join(', ')}`)
    .join('; ');
}

function withQuery(path: string, query: QueryParameters): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, String(value));
  return params.size === 0 ? path : `${path}?${params.toString()}`;
}
