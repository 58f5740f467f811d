import { randomUUID } from 'node:crypto';
import type { ContextClaims } from '@rookery/contracts';
import { CONTEXT_HEADER } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';
import { contextRequest, signContext } from '@rookery/platform';
import type { ContextKeys } from '@rookery/platform';

export type Params = Readonly<Record<string, unknown>>;
export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as it came. */
  readonly bytes: Buffer;
  /** The parsed body; null when there is none. Specs look into it as they please. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
}

/** Where a client sends and how it signs; `seen` judges every answer. */
export interface Target {
  readonly baseUrl: string;
  readonly service: string;
  readonly keys: ContextKeys;
  readonly seen: (method: string, url: string, response: TestResponse) => void;
}

/** Calls a service as its gateway would on behalf of one viewer. Shape: paths below `/api/v4`, or `//` at the root. */
export class TestClient {
  constructor(
    private readonly target: Target,
    private readonly viewer: Viewer | null,
  ) {}

  get(path: string): TestRequest {
    return this.request('GET', path);
  }
  head(path: string): TestRequest {
    return this.request('HEAD', path);
  }
  post(path: string): TestRequest {
    return this.request('POST', path);
  }
  put(path: string): TestRequest {
    return this.request('PUT', path);
  }
  patch(path: string): TestRequest {
    return this.request('PATCH', path);
  }
  delete(path: string): TestRequest {
    return this.request('DELETE', path);
  }
  request(method: Method, path: string): TestRequest {
    return new TestRequest(this.target, this.viewer, method, path);
  }
}

/** One request being put together; `send` or awaiting it sends it once. */
export class TestRequest implements PromiseLike<TestResponse> {
  private search = '';
  private content: string | FormData | undefined;
  private readonly headers = new Headers();
  private sent: Promise<TestResponse> | undefined;
  private isSeen = true;

  constructor(
    private readonly target: Target,
    private readonly viewer: Viewer | null,
    private readonly method: Method,
    private readonly path: string,
  ) {}

  /** Lists as `name[]=`, hashes as `name[key]=`. */
  query(params: Params = {}): this {
    this.search = new URLSearchParams(bracketPairs(params)).toString();
    return this;
  }
  /** A JSON body. */
  send(body?: Params): Promise<TestResponse> {
    if (body !== undefined) this.body(body);
    return (this.sent ??= this.perform());
  }
  body(body: unknown): this {
    this.content = typeof body === 'string' ? body : JSON.stringify(body);
    return this.header('content-type', 'application/json');
  }
  form(params: Params): this {
    this.content = new URLSearchParams(bracketPairs(params)).toString();
    return this.header('content-type', 'application/x-www-form-urlencoded');
  }
  /** Shape: `files` by part name. */
  multipart(
    params: Params,
    files: Readonly<Record<string, { filename: string; bytes: Uint8Array; mediaType?: string }>> = {},
  ): this {
    const form = new FormData();
    for (const [name, value] of bracketPairs(params)) form.append(name, value);
    for (const [name, file] of Object.entries(files)) {
      form.append(name, new Blob([Uint8Array.from(file.bytes)], { type: file.mediaType ?? '' }), file.filename);
    }
    this.content = form;
    return this;
  }
  header(name: string, value: string): this {
    this.headers.set(name, value);
    return this;
  }

  /** The answer is neither judged by what the endpoint lists, nor counted as a test of it. */
  unseen(): this {
    this.isSeen = false;
    return this;
  }

  /** Sends, and gives the body of a success. Errors: a plain Error with status and body of a refusal. */
  async json<T = unknown>(): Promise<T> {
    const response = await this.send();
    if (response.status >= 300) throw new Error(`${this.method} ${this.path}: ${response.status} ${response.text}`);
    return response.body as T;
  }

  then<A = TestResponse, B = never>(
    done?: ((response: TestResponse) => A | PromiseLike<A>) | null,
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.send().then(done, failed);
  }

  private async perform(): Promise<TestResponse> {
    const path = this.path.startsWith('//') ? this.path.slice(1) : `/api/v4/${this.path.replace(/^\/+/, '')}`;
    const url = this.search === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${this.search}`;
    if (this.viewer !== null) this.header(CONTEXT_HEADER, this.context(url, this.viewer));
    const response = await fetch(`${this.target.baseUrl}${url}`, {
      method: this.method,
      headers: this.headers,
      redirect: 'manual',
      ...(this.content === undefined ? {} : { body: this.content }),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const text = bytes.toString();
    const isJson = response.headers.get('content-type') === 'application/json';
    const { status, headers } = response;
    const body: unknown = isJson && text !== '' ? JSON.parse(text) : null;
    const answer: TestResponse = { status, headers, text, bytes, body };
    if (this.isSeen) this.target.seen(this.method, url, answer);
    return answer;
  }

  private context(url: string, viewer: Viewer): string {
    const claims: ContextClaims = {
      sub: viewer.userId,
      usr: viewer.username,
      tok: viewer.tokenId,
      scp: viewer.scopes,
      adm: viewer.isAdmin,
      ext: viewer.isExternal,
      bot: viewer.isBot,
      imp: viewer.impersonatorId,
      ver: viewer.directory.version,
      epo: viewer.directory.epoch,
      aud: this.target.service,
      req: contextRequest(this.method, url),
      rid: randomUUID(),
      iat: Date.now(),
      ddl: Date.now() + 10_000,
    };
    return signContext(claims, this.target.keys);
  }
}

/** Pairs in the Rails manner, as clients send them; null is an empty text. */
export function bracketPairs(params: Params): [string, string][] {
  const pairs: [string, string][] = [];
  const add = (name: string, value: unknown): void => {
    if (value === undefined) return;
    if (Array.isArray(value)) value.forEach((item) => add(`${name}[]`, item));
    else if (value instanceof Date) pairs.push([name, value.toISOString()]);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) add(`${name}[${key}]`, item);
    } else pairs.push([name, value === null ? '' : String(value)]);
  };
  for (const [name, value] of Object.entries(params)) add(name, value);
  return pairs;
}
