import 'reflect-metadata';
import type { RookeryError, Viewer } from '@rookery/kernel';
import type { Answer } from '../answers/answers';
import type { RenderedError } from '../answers/errors';
import type { GitClientErrorFormat } from '../answers/text-errors';
import type { Call, NoParams, StreamedCall } from '../call/call';
import type { Permission } from '../call/permission';
import type { ScopeOption } from '../call/scope';
import type { StreamedBodyOption } from '../call/streamed-body';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type ParamsClass<P> = new () => P;

/** Deliberate exceptions to the usual order or body of refusals. Source: ADR 0003. */
export interface Refusals {
  /** Error in place of 401 for an anonymous caller. */
  readonly anonymousAs?: () => RookeryError;
  /** Error in place of 403 for a caller without the permission. */
  readonly forbiddenAs?: () => RookeryError;
  /** Error in place of 404 for an invisible parent. */
  readonly parentAs?: (viewer: Viewer) => RookeryError;
  /** Validates parameters before anonymous callers are refused. */
  readonly validateFirst?: true;
  /** Checks parent and permission before parameters. The permission then cannot depend on parameters. */
  readonly authorizeFirst?: true;
  /** Creates the error that replaces the usual 400 for parameters. `problems` are complete phrases. */
  readonly parametersAs?: (problems: readonly string[]) => RookeryError;
  /** Repeats the text of an error as the reason phrase of its status line, which package managers show to users. */
  readonly hasReasonPhrase?: true;
  /** Answers in the form of problem details (RFC 9457) clients whose `Accept` names it. */
  readonly offersProblemDetails?: true;
  /** Refusals with the bodies of `ImportRefused` are documented too, in the form of the kind of host. */
  readonly startsImport?: 'gists' | 'remote' | 'repohost';
  /** Refusals are documented as text, too, for `renderedAs` that makes text of them. */
  readonly isText?: true;
  /** Refusals are documented as a list of errors, for `renderedAs` that makes one of them. */
  readonly isErrorList?: true;
  /** Changes each refusal before it is sent, for clients that read refusals in a form of their own. */
  readonly renderedAs?: (refusal: RenderedError) => RenderedError;
}

/** Complete declaration of an endpoint. */
export interface EndpointOptions<
  P = NoParams,
  W = undefined,
  R = void,
  V extends Viewer = Viewer,
  B extends StreamedBodyOption | undefined = StreamedBodyOption | undefined,
> {
  /** Description for the OpenAPI document, in one sentence. */
  readonly about: string;
  /** Document that requires the endpoint, such as 'requirements 1 §4 Issue notes'. */
  readonly source: string;
  /** Parent that the path names; 404 unless the viewer may see it. */
  readonly within?: ScopeOption<W>;
  readonly may: Permission<NoInfer<P>, NoInfer<W>, V>;
  readonly params?: ParamsClass<P>;
  /** Each request is costly for the database, whatever its parameters; else see `costly` of a parameter. */
  readonly isCostly?: true;
  /**
   * Names the parameters that have no effect for this caller, such as those of roles above theirs. `X-Rookery-Ignored`
   * lists the ones that were sent. `controller` is the controller that declares the endpoint.
   */
  readonly withoutEffect?: (
    call: Call<NoInfer<P>, NoInfer<W>, V>,
    controller: never,
  ) => readonly (keyof NoInfer<P> & string)[];
  readonly answers: Answer<R>;
  /** Failure statuses of the endpoint's own. Those of the pipeline are added automatically. */
  readonly fails?: readonly number[];
  /** Token scopes that suffice in addition to `api` (and `read_api` for GET); 'any' = every token. */
  readonly tokenScopes?: readonly string[] | 'any';
  readonly refusals?: Refusals;
  /** Writes failures in a form that git or git-lfs shows to its user, with a Basic challenge for 401. */
  readonly failsAs?: GitClientErrorFormat;
  /**
   * Idempotency keys do not apply: the write has effects outside of the database, such as moved refs of git, which the
   * transaction of a keyed write could not take back. Source: ADR 0185.
   */
  readonly takesNoKey?: true;
  /** Units: bytes. Default 1 MiB. */
  readonly bodyLimit?: number;
  /**
   * Longest wait until the answer begins; for a streamed body it counts from the end of the body. Units: milliseconds.
   * Default: that of the gateway.
   */
  readonly deadlineMs?: number;
  /** Passes the body to the handler as the stream `call.body`. It is not read before. */
  readonly body?: B;
  /**
   * Further paths of the same endpoint, for instance the original wire name of a neutral word. They are relative to
   * `/api/v4` and do not include the path of the controller.
   */
  readonly aliases?: readonly string[];
  /** Names the replacement of a deprecated endpoint. */
  readonly deprecated?: string;
}

/**
 * A declared endpoint with its location in the source. Paths are relative to `/api/v4` and begin with `/`. Paths that
 * begin with `//` are relative to the root.
 */
export interface EndpointRecord {
  readonly method: HttpMethod;
  readonly path: string;
  readonly options: EndpointOptions<never, never, unknown, never>;
  // The declaring class and method. The decorator runs before Nest creates the controller.
  readonly controller: abstract new (...args: never[]) => unknown;
  readonly handler: string;
  /** Source file from the root of the repository; null when it is unknown. */
  readonly file: string | null;
}

type EndpointCall<P, W, V extends Viewer, B> = B extends StreamedBodyOption ? StreamedCall<P, W, V> : Call<P, W, V>;

const endpoints: EndpointRecord[] = [];
const RECORDS = Symbol('rookery:endpoints');

/**
 * Declares an endpoint on a controller method. Route, refusals, parameters, success and the OpenAPI document follow
 * from the declaration. The method gets a typed `Call` and returns domain rows. Source: ADR 0030.
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
): <H extends (call: EndpointCall<P, W, V, B>) => R | Promise<R>>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<H>,
) => void {
  // The stack is read for the OpenAPI document only. An error whose stack is not read is cheap.
  const declared = new Error();
  return (target, key) => {
    const controller = target.constructor as EndpointRecord['controller'];
    const fields = { method, path, options, controller, handler: String(key) };
    const record = Object.defineProperty(fields, 'file', {
      get: () => sourceFileFromStack(declared),
    }) as unknown as EndpointRecord;
    endpoints.push(record);
    const own = (Reflect.getOwnMetadata(RECORDS, controller) as EndpointRecord[] | undefined) ?? [];
    Reflect.defineMetadata(RECORDS, [...own, record], controller);
  };
}

/**
 * Source file of the decorator, from the second line of the stack. Paths of built files become those of their sources.
 */
function sourceFileFromStack(stackError: Error): string | null {
  const frame = stackError.stack?.split('\n')[2] ?? '';
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
