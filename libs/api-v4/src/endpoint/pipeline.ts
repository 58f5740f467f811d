import { ADMISSION_HEADER, IGNORED_HEADER, isRotation, LOOK_HEADER } from '@rookery/contracts';
import type { PageRequest, SignedInViewer, Viewer } from '@rookery/kernel';
import {
  Forbidden,
  HeavyPage,
  InsufficientScope,
  InvalidParameters,
  NotFound,
  TokenRefused,
  Unauthorized,
  Unavailable,
  Unprocessable,
} from '@rookery/kernel';
import { awaitedBy } from '@rookery/platform';
import type { KeyedWrite, KeyedWrites, LimitState, NewAnswer } from '@rookery/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AnswerContent, NO_HEADERS } from './answer-content';
import type { Content } from './answer-content';
import type { RawParams } from '../params/bracket-params';
import type { Call } from '../call/call';
import { toIdOrPath } from '../params/coercion';
import type { EndpointRecord, ParamsClass } from './endpoint';
import { afterCommit, renderError } from '../answers/errors';
import { callerOf } from '../limits/fair-places';
import { fieldsOf } from '../params/fields';
import { Otherwise } from '../answers/json-text';
import { keptRefusal, keyedWriteOf, keyOf, meansItsToken, takesKey } from './keyed-request';
import { FIRST_PAGE, readKeyset, readPage, refuseDeepOffset } from '../params/paging';
import { ParamsPlan } from './params-plan';
import { decidingFacts, RequestRights } from '../limits/request-rights';
import type { FileAnswer, WebPage } from '../answers/answers';
import { writeFile } from '../answers/file-reply';
import { versionsIn, writeError, writeJson, writeKept } from '../answers/reply';
import type { ReplyFacts } from '../answers/reply';
import { BROKEN_QUERY, DEFAULT_BODY_LIMIT, NO_BODY, readBody } from '../params/request-body';
import type { ReadBody } from '../params/request-body';
import { viewerOf } from './request-context';
import { pathNamesOf, wildcardNameOf } from './route-template';
import type { ApiRuntime } from './runtime';
import { UnreadParams } from './unread-params';
import { moveDeadline, Upload } from './upload';
import { refuseUnreadSudo } from '../params/unread-sudo';
import { writeWebPage } from '../answers/web-page';

class NoDeclaredParams {}

type Handler = (call: Call<object, unknown>) => unknown;

/** A request on its way. */
interface Passage {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly facts: Writable<ReplyFacts>;
  readonly viewer: Viewer;
  readonly rights: RequestRights;
  /** null where the endpoint reads its body before the handler. */
  readonly upload: Upload | null;
}

/**
 * The way of a request through one endpoint, in the one order of refusals: context 401, anonymous 401, token scope
 * 403, administrator 403, parameters 400, parent 404, permission 403, then the handler and the presenter.
 * Source: ADR 0003, 0030.
 */
export class EndpointPipeline {
  private readonly plan: ParamsPlan<object>;
  private readonly content: AnswerContent;
  private readonly options: EndpointRecord['options'];
  private readonly refusesAnonymous: boolean;
  private readonly scopes: readonly string[] | null;
  private readonly bodyLimit: number;
  /** Name of the wildcard in the template, whose value is a path and never an id. */
  private readonly wildcard: string | null;
  private readonly isRotating: boolean;
  /** null where a write cannot be named. */
  private readonly keyed: KeyedWrites | null;
  private readonly unread: UnreadParams;
  /** Names of the parameters that make a request dear. */
  private readonly dear: readonly string[];

  constructor(
    readonly endpoint: EndpointRecord,
    readonly template: string,
    private readonly handler: Handler,
    private readonly runtime: ApiRuntime,
  ) {
    this.options = endpoint.options;
    const { may, params, bodyLimit } = this.options;
    this.isRotating = isRotation(endpoint.method, template);
    this.keyed = takesKey(endpoint) ? runtime.keyed : null;
    this.plan = new ParamsPlan((params as ParamsClass<object> | undefined) ?? NoDeclaredParams, pathNamesOf(template));
    this.unread = new UnreadParams(this.plan, this.options.answers, runtime.isStrict);
    this.content = new AnswerContent(this.options.answers, runtime);
    this.refusesAnonymous = may.anonymous === 'refused' || (may.anonymous === 'reads' && endpoint.method !== 'GET');
    this.scopes = acceptedScopes(endpoint);
    this.bodyLimit = bodyLimit ?? DEFAULT_BODY_LIMIT;
    this.wildcard = wildcardNameOf(template);
    this.dear = dearNamesOf(params);
  }

  /** Never rejects. */
  async handle(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { traffic, log, outages } = this.runtime;
    const startedAt = performance.now();
    const more = this.endpoint.method === 'GET' ? null : this.runtime.writeHeaders;
    const isHead = request.raw.method === 'HEAD';
    const facts: Writable<ReplyFacts> = { requestId: '', startedAt, isHead, more, unread: [] };
    const upload = this.options.body === undefined ? null : new Upload(request, this.options.body);
    let rights: RequestRights | undefined;
    traffic.begin();
    try {
      const admitted = this.admit(request);
      const viewer = upload === null ? admitted : upload.viewerOf(admitted);
      facts.requestId = viewer.requestId;
      const { checks, rightsMs } = this.runtime;
      const key = this.keyed === null ? null : keyOf(request);
      const own = new RequestRights(viewer, checks, request.earliestArrival, rightsMs, this.isRotating, key);
      rights = own;
      const answer = (): Promise<void> => this.answer({ request, reply, facts, viewer, rights: own, upload }, key);
      const limited = (limit: LimitState): void => void (facts.limit = limit);
      const waiter = { kind: 'client', deadline: viewer.deadline, caller: callerOf(viewer), rights, limited } as const;
      if (upload !== null) moveDeadline(waiter, () => viewer.deadline);
      // A write is carried out to its end, whoever waits for it.
      const isGone = (): boolean => reply.raw.destroyed;
      await awaitedBy(this.endpoint.method === 'GET' ? { ...waiter, isGone } : waiter, answer);
    } catch (error) {
      const requestId = facts.requestId;
      const own = requestId === '' ? log : log.child({ requestId });
      const meant = rights?.hasCommitted ? afterCommit(error) : error;
      writeError(reply, facts, renderError(meant, own, outages, requestId));
    }
    upload?.close();
    traffic.end(this.endpoint.method, this.template, reply.raw.statusCode, startedAt);
  }

  private async answer(passage: Passage, key: string | null): Promise<void> {
    const { request, viewer } = passage;
    const { refusals } = this.options;
    const first = refusals?.authorizeFirst
      ? await this.byNewest(passage, (by) => this.allowed(request, { viewer: by.viewer, params: {} } as Call))
      : null;
    const body = passage.upload === null ? readBody(request, this.bodyLimit) : NO_BODY;
    const read = body instanceof Promise ? await body : body;
    if (key !== null) return this.answerOnce(passage, key, first, read);
    if (viewer.isForReplay) throw new TokenRefused('revoked');
    await this.byNewest(passage, (by) => this.answerAnew(by, first, read, null));
  }

  /**
   * Does it by the version that the gateway knew, and what that refuses once more by the newest: another gateway may have
   * answered just before for what this one had not heard of. Source: ADR 0042.
   */
  private async byNewest<T>(passage: Passage, act: (passage: Passage) => Promise<T>): Promise<T> {
    try {
      return await act(passage);
    } catch (error) {
      const { viewer, rights, upload } = passage;
      if (!isOfRights(error) || rights.hasCommitted || upload?.isOpen) throw error;
      const directory = await this.runtime.resolver?.newest?.(viewer);
      if (!directory) throw error;
      const newer = { ...viewer, directory };
      return act({ ...passage, viewer: upload === null ? newer : upload.viewerOf(newer) });
    }
  }

  /**
   * What was answered before is answered again, even where the write took the right to it away: the thing may be gone,
   * or the membership, or the token. Errors: as `KeyedWrites`.
   */
  private async answerOnce(passage: Passage, key: string, first: Call | null, body: ReadBody): Promise<void> {
    const { request, viewer } = passage;
    this.judge(viewer);
    const write = keyedWriteOf(key, request, viewer, { body, isOfToken: meansItsToken(this.template) });
    if (await this.answerAgain(passage, write)) return;
    if (viewer.isForReplay) {
      // Their token was presented to another rotation than that which it is gone by.
      await this.runtime.checks.confirmed(viewer as SignedInViewer, true);
      throw new TokenRefused('revoked');
    }
    try {
      await this.byNewest(passage, (by) => this.answerAnew(by, first, body, write));
    } catch (error) {
      // The rotation may have been done meanwhile, by this very key.
      if (!(error instanceof TokenRefused) || !(await this.answerAgain(passage, write))) throw error;
    }
  }

  private async answerAgain({ reply, facts, viewer, rights }: Passage, write: KeyedWrite): Promise<boolean> {
    const kept = await this.keyed!.answered(write).catch((error: unknown) => {
      if (viewer.isForReplay && error instanceof Unprocessable) return null;
      throw error;
    });
    if (kept === null) return false;
    if (!this.isRotating) await rights.look();
    await this.runtime.beforeReplay?.();
    writeKept(reply, facts, kept, true);
    return true;
  }

  private async answerAnew(
    passage: Passage,
    first: Call | null,
    body: ReadBody,
    write: KeyedWrite | null,
  ): Promise<void> {
    const { request, reply, facts, viewer, rights } = passage;
    const prepared = this.prepare(request, viewer, facts, body) as Call;
    const call = first ? { ...prepared, within: first.within } : await this.allowed(request, prepared);
    rights.judgeAgain = (now) => this.stillAllowed(request, call, now);
    // What is answered without a statement is looked at too.
    await rights.look();
    if (write !== null) return this.serveOnce(passage, call, write);
    if (passage.upload !== null) return this.serveUpload(passage, passage.upload, call);
    try {
      await this.serve(request, reply, facts, call);
    } catch (error) {
      const { heavy, unread } = this.runtime;
      if (!(error instanceof HeavyPage) || heavy === null || call.page.mayBeHeavy) throw error;
      const page = { ...call.page, mayBeHeavy: true };
      const serve = (): Promise<void> => this.serve(request, reply, facts, { ...call, page });
      await heavy.run(viewer, serve, () => unread.read(reply.raw, viewer.deadline));
    }
  }

  /** Opens the body once the caller may send it, or tells the gateway that they may. */
  private serveUpload({ request, reply, facts, rights }: Passage, upload: Upload, call: Call): Promise<void> | void {
    upload.checkHead();
    if (request.headers[ADMISSION_HEADER] !== undefined) return writeJson(reply, facts, 204, null, NO_HEADERS);
    const body = upload.open(async () => {
      await rights.look();
    });
    return this.serve(request, reply, facts, Object.assign(call, { body }));
  }

  private async serve(request: FastifyRequest, reply: FastifyReply, facts: ReplyFacts, call: Call): Promise<void> {
    const made = this.resultOf(call);
    const result = isThenable(made) ? await made : made;
    const { kind, hasRanges = false } = this.options.answers;
    if (kind === 'file') return writeFile(reply, facts, result as FileAnswer, { headers: request.headers, hasRanges });
    if (kind === 'web') return writeWebPage(reply, facts, result as WebPage | string);
    const content = this.contentOf(result, call, request);
    const { status, text, headers } = content instanceof Promise ? await content : content;
    writeJson(reply, facts, status, text, headers);
  }

  /** The answer is made before the commit and written after it. */
  private async serveOnce({ request, reply, facts }: Passage, call: Call, write: KeyedWrite): Promise<void> {
    const make = async (): Promise<NewAnswer> => {
      const { status, text, headers } = await this.contentOf(await this.resultOf(call), call, request);
      const type = text === null ? [] : ['content-type', 'application/json'];
      const hasSecret = this.options.answers.presenter?.hasSecret ?? false;
      return { status, headers: [...type, ...headers, ...unread], body: text, hasSecret };
    };
    const unread = facts.unread?.length ? [IGNORED_HEADER, facts.unread.join(', ')] : NO_HEADERS;
    const { answer, isReplay } = await this.keyed!.once(write, make, keptRefusal);
    facts.unread = [];
    if (isReplay) await this.runtime.beforeReplay?.();
    writeKept(reply, facts, answer, isReplay);
  }

  private resultOf(call: Call): unknown {
    return this.isDear(call.params)
      ? this.runtime.dear!.run(call.viewer, () => this.handler(call))
      : this.handler(call);
  }

  private contentOf(result: unknown, call: Call, request: FastifyRequest): Answered | Promise<Answered> {
    const { answers } = this.options;
    if (result instanceof Otherwise) {
      return { status: answers.otherwise!.status, text: JSON.stringify(result.value), headers: NO_HEADERS };
    }
    const content = this.content.of(result, call, request);
    const { status } = answers;
    return content instanceof Promise ? content.then((made) => ({ status, ...made })) : { status, ...content };
  }

  private isDear(params: object): boolean {
    if (this.dear.length === 0 || this.runtime.dear === null) return false;
    const sent = params as Readonly<Record<string, unknown>>;
    return this.dear.some((name) => sent[name] !== undefined && sent[name] !== null && sent[name] !== '');
  }

  /** The call with its parent, once the caller may make it. Errors: NotFound for the parent, Forbidden. */
  private async allowed(request: FastifyRequest, call: Writable<Call>): Promise<Call> {
    const { within, may } = this.options;
    if (within !== undefined) call.within = (await this.parent(request.params as RawParams, call.viewer)) as never;
    if (may.rule !== null) {
      const allowed = may.rule(call as never, this.runtime.services);
      if (!(typeof allowed === 'boolean' ? allowed : await allowed)) throw this.forbidden(call.viewer);
    }
    return call;
  }

  /**
   * Whether the parent and what the caller may do there are as they were decided, at the version that `viewer` brings.
   * Errors: as at first; Unavailable when they are others, for what was made of them is in use.
   */
  private async stillAllowed(request: FastifyRequest, call: Call, viewer: Viewer): Promise<void> {
    if (this.options.within === undefined) await this.runtime.resolver?.fresh(viewer);
    const { within } = await this.allowed(request, { ...call, viewer, within: undefined });
    if (decidingFacts(within) !== decidingFacts(call.within)) throw new Unavailable('rights changed');
  }

  /** Everything that needs no data: who asks, with what token. */
  private admit(request: FastifyRequest): Viewer {
    const { service, keys, clock } = this.runtime;
    const viewer = viewerOf(request.raw, service, keys, clock.now().getTime());
    if (this.options.refusals?.validateFirst === undefined) this.judge(viewer);
    return viewer;
  }

  private judge(viewer: Viewer): void {
    const { may, refusals } = this.options;
    if (viewer.userId === null) {
      if (this.refusesAnonymous) throw refusals?.anonymousAs?.() ?? new Unauthorized();
    } else if (this.scopes !== null && !this.scopes.some((scope) => viewer.scopes.includes(scope))) {
      throw new InsufficientScope(this.scopes);
    }
    if (may.kind === 'administrator' && !viewer.isAdmin) throw refusals?.forbiddenAs?.() ?? new Forbidden();
  }

  private prepare(
    request: FastifyRequest,
    viewer: Viewer,
    facts: Writable<ReplyFacts>,
    { params: body, files }: ReadBody,
  ): Call<object> {
    const query = request.query as RawParams;
    const { answers, refusals } = this.options;
    try {
      if (query === BROKEN_QUERY) throw new InvalidParameters(['parameters are not encoded correctly']);
      refuseUnreadSudo(viewer, query, body, files);
      const sources = { path: request.params as RawParams, body, query, files, headers: request.headers };
      facts.unread = this.unread.in(sources);
      const params = this.plan.read(sources);
      let page: PageRequest = FIRST_PAGE;
      let keyset: Call['keyset'] = null;
      if (answers.kind === 'page') {
        const sent = (name: string): unknown => body[name] ?? query[name];
        page = readPage(sent);
        keyset = readKeyset(answers.keyset, sent, page, viewer.userId === null);
        if (keyset === null) refuseDeepOffset(answers.keyset, page, viewer.userId === null);
      }
      if (refusals?.validateFirst) this.judge(viewer);
      const unmodifiedSince = httpDate(request.headers['if-unmodified-since']);
      const { requestId } = viewer;
      const knownVersions = versionsIn(request.headers['if-none-match']);
      const isBrowsed = request.raw.method === 'HEAD' || isBrowser(request.headers);
      const sent = { params, page, keyset, files, unmodifiedSince, knownVersions, isBrowsed };
      return { ...sent, viewer, within: undefined, requestId };
    } catch (error) {
      if (error instanceof InvalidParameters && refusals?.parametersAs) throw refusals.parametersAs(error.problems);
      throw error;
    }
  }

  private async parent(path: RawParams, viewer: Viewer): Promise<unknown> {
    const within = this.options.within!;
    const ref = within.param === this.wildcard ? path[within.param] : toIdOrPath(path[within.param]);
    const usable = typeof ref === 'number' || typeof ref === 'string';
    const scope = usable ? await within.resolve(this.runtime.resolver!, ref, viewer) : null;
    if (scope === null) throw this.options.refusals?.parentAs?.() ?? new NotFound(within.resource);
    return scope;
  }

  private forbidden(viewer: Viewer): Error {
    const { refusals } = this.options;
    if (refusals?.forbiddenAs) return refusals.forbiddenAs();
    return viewer.userId === null ? (refusals?.anonymousAs?.() ?? new Unauthorized()) : new Forbidden();
  }
}

/** Shape: names as handlers see them. */
export function dearNamesOf(params: object | undefined): readonly string[] {
  return params === undefined ? [] : fieldsOf(params).flatMap(({ name, common }) => (common.dear ? [name] : []));
}

type Answered = Content & { readonly status: number };
type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Refusals that more rights, or a place that is there, would turn. */
function isOfRights(error: unknown): boolean {
  return error instanceof NotFound || error instanceof Forbidden || error instanceof Unauthorized;
}

function isThenable(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

/** The scopes that suffice, most general first; null when every token will do. */
export function acceptedScopes({ method, options }: EndpointRecord): readonly string[] | null {
  if (options.tokenScopes === 'any') return null;
  return [...new Set(['api', ...(method === 'GET' ? ['read_api'] : []), ...(options.tokenScopes ?? [])])];
}

function httpDate(text: string | undefined): Date | null {
  if (text === undefined) return null;
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? null : date;
}

function isBrowser(headers: FastifyRequest['headers']): boolean {
  return headers[LOOK_HEADER] !== undefined || /\btext\/html\b/i.test(headers.accept ?? '');
}
