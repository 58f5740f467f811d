import type { IncomingMessage, ServerResponse } from 'node:http';
import { inject } from 'light-my-request';

/** Answers a request as the public server does. */
export type PublicHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** The person for whom a page asks. */
export interface Asker {
  /** Access token; null for a visitor who is not signed in. */
  readonly token: string | null;
  /** Client address, for the limits of the API. */
  readonly address: string;
}

/** An answer of the API. Shape: `data` is the parsed JSON, null for an answer that is none. */
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

type Query = Readonly<Record<string, string | number | undefined>>;
type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD';

/**
 * Calls the public API from within this process, on the way of every client: credential, limits, routing and rights are
 * the same, so pages show nothing that the API would not. Source: reference pages 1; ADR 0193.
 */
export class ApiCalls {
  constructor(
    private readonly handle: PublicHandler,
    private readonly asker: Asker,
  ) {}

  /** Errors: ApiRefused with the status of the API. */
  async get<T>(path: string, query: Query = {}): Promise<T> {
    return (await this.answer<T>(path, query)).data;
  }

  /** As `get`, with the headers, for pages of lists. */
  async answer<T>(path: string, query: Query = {}): Promise<ApiAnswer<T>> {
    return checked(await this.send<T>('GET', withQuery(path, query)));
  }

  /** As `get`; null where the caller may not read it or it does not exist. */
  async find<T>(path: string, query: Query = {}): Promise<T | null> {
    const found = await this.send<T>('GET', withQuery(path, query));
    return found.status < 300 ? found.data : null;
  }

  /** Writes by a form. Errors: ApiRefused. */
  async write(method: Method, path: string, body: object = {}): Promise<void> {
    checked(await this.send(method, path, JSON.stringify(body)));
  }

  /** Sends any request. */
  async send<T>(method: Method, path: string, body?: string): Promise<ApiAnswer<T>> {
    const { token, address } = this.asker;
    const headers = {
      accept: 'application/json',
      ...(token === null ? {} : { 'private-token': token }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const answer = await inject(this.handle as Parameters<typeof inject>[0], {
      method,
      url: `/api/v4${path}`,
      headers,
      remoteAddress: address,
      ...(body === undefined ? {} : { payload: body }),
    });
    const isJson = String(answer.headers['content-type'] ?? '').startsWith('application/json');
    const data = (isJson && answer.payload !== '' ? JSON.parse(answer.payload) : null) as T;
    return { status: answer.statusCode, data, text: answer.payload, headers: answer.headers as Record<string, string> };
  }
}

function checked<T>(answer: ApiAnswer<T>): ApiAnswer<T> {
  if (answer.status < 300) return answer;
  throw new ApiRefused(answer.status, sentenceOf(answer.data) ?? `The request was refused (${answer.status}).`);
}

/** The sentence in a refusal. Shape: its fields and their problems are joined. */
function sentenceOf(data: unknown): string | null {
  if (typeof data !== 'object' || data === null) return null;
  const { message, error, error_description: description } = data as Record<string, unknown>;
  const said = message ?? description ?? error;
  if (typeof said === 'string') return said;
  if (typeof said !== 'object' || said === null) return null;
  return Object.entries(said)
    .map(([field, problems]) => `${field} ${[problems].flat().join(', ')}`)
    .join('; ');
}

function withQuery(path: string, query: Query): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, String(value));
  return params.size === 0 ? path : `${path}?${params.toString()}`;
}
