import 'reflect-metadata';
import type { RookeryError, Viewer } from '@rookery/kernel';
import type { Answer } from '../answers/answers';
import type { Call, NoParams } from '../call/call';
import type { Permission } from '../call/permission';
import type { ScopeOption } from '../call/scope';
import type { StreamedBody, StreamedBodyOption } from '../call/streamed-body';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type ParamsClass<P> = new () => P;

/** Confirmed departures from the usual order or body of a refusal, as data. Source: ADR 0003. */
export interface Refusals {
  /** Instead of 401 for an anonymous caller. */
  readonly anonymousAs?: () => RookeryError;
  /** Instead of 403 for a caller without the permission. */
  readonly forbiddenAs?: () => RookeryError;
  /** Instead of 404 for an invisible parent. */
  readonly parentAs?: () => RookeryError;
  /** Parameters are judged before anonymous callers are refused. */
  readonly validateFirst?: true;
  /** Parent and permission are judged before parameters, which the permission then cannot ask for. */
  readonly authorizeFirst?: true;
  /** Instead of the usual 400 for parameters. Shape: the problems as complete phrases. */
  readonly parametersAs?: (problems: readonly string[]) => RookeryError;
}

/** All that is to be said about an endpoint, in one place. */
export interface EndpointOptions<
  P = NoParams,
  W = undefined,
  R = void,
  V extends Viewer = Viewer,
  B extends StreamedBodyOption | undefined = StreamedBodyOption | undefined,
> {
  /** One sentence. */
  readonly about: string;
  /** 'requirements 1 §4 Issue notes' or 'reference identity-and-import 2.5'. */
  readonly source: string;
  /** The parent, from the path; 404 unless the viewer may see it. */
  readonly within?: ScopeOption<W>;
  readonly may: Permission<NoInfer<P>, NoInfer<W>, V>;
  readonly params?: ParamsClass<P>;
  readonly answers: Answer<R>;
  /** Statuses besides success that the endpoint has for its own reasons; those of the pipeline need not be named. */
  readonly fails?: readonly number[];
  /** Token scopes that suffice besides `api` (and `read_api` for GET); 'any' = every token. */
  readonly tokenScopes?: readonly string[] | 'any';
  readonly refusals?: Refusals;
  /** Units: bytes. Default 1 MiB. */
  readonly bodyLimit?: number;
  /** Hands the body to the handler as a stream, `call.body`; nothing of it is read before. */
  readonly body?: B;
  /**
   * Further paths of the same endpoint, for instance the original wire name of a neutral word. Shape: below `/api/v4`,
   * without the path of the controller.
   */
  readonly aliases?: readonly string[];
  /** What to use instead. */
  readonly deprecated?: string;
}

/** An endpoint as it was declared. Shape: paths begin with `/` below `/api/v4`, or with `//` at the root. */
export interface EndpointRecord {
  readonly method: HttpMethod;
  readonly path: string;
  readonly options: EndpointOptions<never, never, unknown, never>;
  // The class and method that hold it; the class is made before Nest knows it.
  readonly controller: abstract new (...args: never[]) => unknown;
  readonly handler: string;
  /** Source file from the root of the repository, when it can be told. */
  readonly file: string | null;
}

type CallOf<P, W, V extends Viewer, B> = B extends StreamedBodyOption
  ? Call<P, W, V> & { readonly body: StreamedBody }
  : Call<P, W, V>;

const endpoints: EndpointRecord[] = [];
const RECORDS = Symbol('rookery:endpoints');

/**
 * Declares an endpoint on a controller method. Route, refusals, parameters, success, and the OpenAPI document all
 * follow from it; the method gets a typed `Call` and returns domain rows. Source: ADR 0030.
 */
export function Endpoint<
  P = NoParams,
  W = undefined,
  R = void,
  V extends Viewer = Viewer,
  B extends StreamedBodyOption | undefined = undefined,
>(
  method: HttpMethod,
  path: string,
  options: EndpointOptions<P, W, R, V, B>,
): <H extends (call: CallOf<P, W, V, B>) => R | Promise<R>>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<H>,
) => void {
  // Read only for the document; an error that nobody asks for its stack costs next to nothing.
  const declared = new Error();
  return (target, key) => {
    const controller = target.constructor as EndpointRecord['controller'];
    const fields = { method, path, options, controller, handler: String(key) };
    const record = Object.defineProperty(fields, 'file', { get: () => fileOf(declared) }) as unknown as EndpointRecord;
    endpoints.push(record);
    const own = (Reflect.getOwnMetadata(RECORDS, controller) as EndpointRecord[] | undefined) ?? [];
    Reflect.defineMetadata(RECORDS, [...own, record], controller);
  };
}

/** The second line of the stack is whoever wrote the decorator. Built files are told by their sources. */
function fileOf(declared: Error): string | null {
  const frame = declared.stack?.split('\n')[2] ?? '';
  const path = /((?:apps|libs)\/[^():]+)\.[jt]s[:)]/.exec(frame.replaceAll('\\', '/'))?.[1];
  return path === undefined ? null : `${path.replace('/dist/', '/src/')}.ts`;
}

/** Every endpoint whose controller has been imported, in the order of declaration. */
export function registeredEndpoints(): readonly EndpointRecord[] {
  return endpoints;
}

/** The endpoints of one controller class. */
export function endpointsOf(controller: object): readonly EndpointRecord[] {
  return (Reflect.getOwnMetadata(RECORDS, controller) as EndpointRecord[] | undefined) ?? [];
}
