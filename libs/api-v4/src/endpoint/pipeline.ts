import { ADMISSION_HEADER, IGNORED_HEADER, isTokenRotationRoute, READ_ONLY_HEADER } from '@rookery/contracts';
import type { PageRequest, SignedInViewer, Viewer } from '@rookery/kernel';
import {
  Forbidden,
  HeavyPage,
  isRouteOpenToJobTokens,
  InsufficientScope,
  InvalidParameters,
  NotFound,
  TokenRefused,
  Unauthorized,
  Unavailable,
  Unprocessable,
} from '@rookery/kernel';
import { runForWaiter } from '@rookery/platform';
import type { KeyedWrite, KeyedWrites, LimitState, NewAnswer } from '@rookery/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AnswerRenderer, NO_HEADERS } from './answer-renderer';
import type { AnswerText } from './answer-renderer';
import type { ApiReply, ApiRequest } from '../call/api-request';
import type { RawParams } from '../params/bracket-params';
import type { Call } from '../call/call';
import type { EndpointRecord, ParamsClass } from './endpoint';
import { toErrorAfterCommit, renderError } from '../answers/errors';
import { identifyCaller } from '../limits/fair-places';
import { fieldsOf } from '../params/fields';
import { AlternativeAnswer, UnfinishedAnswer } from '../answers/json-text';
import {
  toStorableFailureAnswer,
  identifyIdempotentWrite,
  idempotencyKeyOf,
  isOwnTokenRoute,
  acceptsIdempotencyKey,
} from './keyed-request';
import { FIRST_PAGE, readKeyset, readPage, refuseDeepOffset } from '../params/paging';
import { ParamsPlan } from './params-plan';
import { serializeDecisionFields, RequestRights } from '../limits/request-rights';
import type { FileAnswer, WebPage } from '../answers/answers';
import { writeFile } from '../answers/file-reply';
import { parseIfNoneMatch, writeError, writeJson, writeStoredAnswer } from '../answers/reply';
import type { ReplyFacts } from '../answers/reply';
import { BROKEN_QUERY, DEFAULT_BODY_LIMIT, NO_BODY, readBody } from '../params/request-body';
import type { ParsedBody } from '../params/request-body';
import { verifyViewer } from './request-context';
import { pathParamNamesOf, wildcardNameOf } from './route-template';
import type { ApiRuntime } from './runtime';
import { UnreadParams } from './unread-params';
import { resolveParentScope } from './parent';
import { renderErrorForClient } from './refusal-form';
import { defineComputedDeadline, UploadReceiver } from './upload';
import { refuseUnreadSudo } from '../params/unread-sudo';
import { writeWebPage } from '../answers/web-page';

class NoDeclaredParams {}

/** A controller, by the names of its methods. */
export type Controller = Readonly<Record<string, (argument: unknown) => unknown>>;

/** State of one request between its arrival and its answer. */
interface RequestState {
  readonly request: ApiRequest;
  readonly reply: ApiReply;
  readonly facts: Writable<ReplyFacts>;
  readonly viewer: Viewer;
  readonly rights: RequestRights;
  /** null where the endpoint reads its body before the handler. */
  readonly upload: UploadReceiver | null;
}

/**
 * Executes the requests of one endpoint. The checks have a fixed order: context 401, anonymous 401, token scope 403,
 * administrator 403, parameters 400, parent 404, permission 403. Then the handler and the presenter run.
 * Source: ADR 0003, 0030.
 */
export class EndpointPipeline {
  private readonly plan: ParamsPlan<object>;
  private readonly content: AnswerRenderer;
  private readonly options: EndpointRecord['options'];
  private readonly refusesAnonymous: boolean;
  private readonly scopes: readonly string[] | null;
  private readonly isOpenToJobs: boolean;
  private readonly bodyLimit: number;
  /** Name of the wildcard in the template. Its value is a path and never an id. */
  private readonly wildcard: string | null;
  private readonly isRotating: boolean;
  /** null if requests of the endpoint cannot have an idempotency key. */
  private readonly keyed: KeyedWrites | null;
  private readonly unread: UnreadParams;
  /** Names of the parameters that make a request costly when they are sent. */
  private readonly costly: readonly string[];

  constructor(
    readonly endpoint: EndpointRecord,
    readonly template: string,
    private readonly controller: Controller,
    private readonly runtime: ApiRuntime,
  ) {
    this.options = endpoint.options;
    const { may, params, bodyLimit } = this.options;
    this.isRotating = isTokenRotationRoute(endpoint.method, template);
    this.keyed = acceptsIdempotencyKey(endpoint) ? runtime.keyed : null;
    this.plan = new ParamsPlan(
      (params as ParamsClass<object> | undefined) ?? NoDeclaredParams,
      pathParamNamesOf(template),
    );
    this.unread = new UnreadParams(this.plan, this.options.answers, runtime.isStrict);
    this.content = new AnswerRenderer(this.options.answers, runtime);
    this.refusesAnonymous = may.anonymous === 'refused' || (may.anonymous === 'reads' && endpoint.method !== 'GET');
    this.scopes = acceptedTokenScopes(endpoint);
    this.isOpenToJobs = isRouteOpenToJobTokens(endpoint.method, tokenScopePath(template));
    this.bodyLimit = bodyLimit ?? DEFAULT_BODY_LIMIT;
    this.wildcard = wildcardNameOf(template);
    this.costly = costlyParamNamesOf(params);
  }

  /** Whether the endpoint reads its body before the handler runs, and writes its answer at once. */
  get supportsLocalCalls(): boolean {
    const { answers, body } = this.options;
    return body === undefined && answers.kind !== 'file' && answers.kind !== 'web';
  }

  /** Executes a request of Fastify. Otherwise as `handle`. */
  handleHttp(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { body } = this.options;
    return this.handle(request, reply, body === undefined ? null : new UploadReceiver(request, body));
  }

  /** Executes a request and writes its answer. Never rejects: errors become answers. */
  async handle(request: ApiRequest, reply: ApiReply, upload: UploadReceiver | null = null): Promise<void> {
    const { traffic, log, outages } = this.runtime;
    const startedAt = performance.now();
    const more = this.endpoint.method === 'GET' ? null : this.runtime.writeHeaders;
    const isHead = request.raw.method === 'HEAD';
    const facts: Writable<ReplyFacts> = { requestId: '', startedAt, isHead, more, unread: [] };
    let rights: RequestRights | undefined;
    traffic.countStart();
    try {
      const admitted = this.verifyRequestCaller(request);
      const viewer = upload === null ? admitted : upload.viewerOf(admitted);
      facts.requestId = viewer.requestId;
      const { checks, rightsMs } = this.runtime;
      const key = this.keyed === null ? null : idempotencyKeyOf(request);
      const own = new RequestRights(viewer, checks, request.earliestArrival, rightsMs, this.isRotating, key);
      rights = own;
      const answer = (): Promise<void> =>
        this.answerRequest({ request, reply, facts, viewer, rights: own, upload }, key);
      const limited = (limit: LimitState): void => void (facts.limit = limit);
      const waiter = {
        kind: 'client',
        deadline: viewer.deadline,
        caller: identifyCaller(viewer),
        rights,
        limited,
      } as const;
      if (upload !== null) defineComputedDeadline(waiter, () => viewer.deadline);
      // A write is completed even if the client has left.
      const isGone = (): boolean => reply.raw.destroyed;
      await runForWaiter(this.endpoint.method === 'GET' ? { ...waiter, isGone } : waiter, answer);
    } catch (error) {
      const requestId = facts.requestId;
      const own = requestId === '' ? log : log.child({ requestId });
      const meant = rights?.hasCommitted ? toErrorAfterCommit(error) : error;
      const rendered = renderError(meant, own, outages, requestId);
      writeError(reply, facts, renderErrorForClient(this.options, rendered, request.headers.accept));
    }
    upload?.close();
    traffic.countEnd(this.endpoint.method, this.template, reply.raw.statusCode, startedAt);
  }

  private async answerRequest(state: RequestState, key: string | null): Promise<void> {
    const { request, viewer } = state;
    const { refusals } = this.options;
    const first = refusals?.authorizeFirst
      ? await this.retryWithNewestDirectory(state, (by) =>
          this.authorize(request, { viewer: by.viewer, params: {} } as Call),
        )
      : null;
    const body = state.upload === null ? readBody(request, this.bodyLimit) : NO_BODY;
    const read = body instanceof Promise ? await body : body;
    if (key !== null) return this.executeIdempotent(state, key, first, read);
    if (viewer.isReplayOnly) throw new TokenRefused('revoked');
    await this.retryWithNewestDirectory(state, (by) => this.executeRequest(by, first, read, null));
  }

  /**
   * Acts with the directory version that the gateway knew. If that version refuses the request, acts again with the
   * newest version: another gateway may just have answered a write that this gateway had not heard of. Source: ADR
   * 0042.
   */
  private async retryWithNewestDirectory<T>(state: RequestState, act: (state: RequestState) => Promise<T>): Promise<T> {
    try {
      return await act(state);
    } catch (error) {
      const { viewer, rights, upload } = state;
      if (!couldNewerDirectoryFixError(error) || rights.hasCommitted || upload?.isOpen) throw error;
      const directory = await this.runtime.resolver?.newestPosition?.(viewer);
      if (!directory) throw error;
      const newer = { ...viewer, directory };
      return act({ ...state, viewer: upload === null ? newer : upload.viewerOf(newer) });
    }
  }

  /**
   * Executes a write with an idempotency key once. Later requests get the stored answer, even if the write itself
   * removed the right to it: the target, the membership or the token may be gone. Errors: as `KeyedWrites`.
   */
  private async executeIdempotent(
    state: RequestState,
    key: string,
    authorizedCall: Call | null,
    body: ParsedBody,
  ): Promise<void> {
    const { request, viewer } = state;
    this.checkCaller(viewer);
    const write = identifyIdempotentWrite(key, request, viewer, { body, isOfToken: isOwnTokenRoute(this.template) });
    if (await this.replayStoredAnswer(state, write)) return;
    if (viewer.isReplayOnly) {
      // The token was revoked by a rotation with another key.
      await this.runtime.checks.confirmCaller(viewer as SignedInViewer, true);
      throw new TokenRefused('revoked');
    }
    try {
      await this.retryWithNewestDirectory(state, (by) => this.executeRequest(by, authorizedCall, body, write));
    } catch (error) {
      // A concurrent request with this key may have completed the rotation.
      if (!(error instanceof TokenRefused) || !(await this.replayStoredAnswer(state, write))) throw error;
    }
  }

  /** Sends the stored answer to the write. Returns false if none is stored. */
  private async replayStoredAnswer(
    { reply, facts, viewer, rights }: RequestState,
    write: KeyedWrite,
  ): Promise<boolean> {
    const stored = await this.keyed!.findAnswer(write).catch((error: unknown) => {
      if (viewer.isReplayOnly && error instanceof Unprocessable) return null;
      throw error;
    });
    if (stored === null) return false;
    if (!this.isRotating) await rights.recheckBeforeRead();
    await this.runtime.beforeReplay?.();
    writeStoredAnswer(reply, facts, stored, true);
    return true;
  }

  private async executeRequest(
    state: RequestState,
    authorizedCall: Call | null,
    body: ParsedBody,
    write: KeyedWrite | null,
  ): Promise<void> {
    const { request, reply, facts, viewer, rights } = state;
    const prepared = this.prepareCall(request, viewer, facts, body) as Call;
    const call = authorizedCall
      ? { ...prepared, within: authorizedCall.within }
      : await this.authorize(request, prepared);
    const names = this.options.withoutEffect?.(call as never, this.controller as never) ?? [];
    if (names.length > 0) facts.unread = [...(facts.unread ?? []), ...names.filter((name) => isParamSent(call, name))];
    rights.reauthorize = (now) => this.reauthorize(request, call, now);
    // Handlers that execute no statement need the recheck too.
    await rights.recheckBeforeRead();
    if (write !== null) return this.serveIdempotent(state, call, write);
    if (state.upload !== null) return this.serveUpload(state, state.upload, call);
    try {
      await this.runCall(request, reply, facts, call);
    } catch (error) {
      const { heavy, unread } = this.runtime;
      if (!(error instanceof HeavyPage) || heavy === null || call.page.hasHeavyPagePermit) throw error;
      const page = { ...call.page, hasHeavyPagePermit: true };
      const serve = (): Promise<void> => this.runCall(request, reply, facts, { ...call, page });
      await heavy.run(viewer, serve, () => unread.waitForReading(reply.raw, viewer.deadline));
    }
  }

  /** Opens the body once the caller may send it. A request for admission only is answered 204 without a body. */
  private serveUpload(
    { request, reply, facts, rights }: RequestState,
    upload: UploadReceiver,
    call: Call,
  ): Promise<void> | void {
    upload.checkHead();
    if (request.headers[ADMISSION_HEADER] !== undefined) return writeJson(reply, facts, 204, null, NO_HEADERS);
    const body = upload.open(async () => {
      await rights.recheckBeforeRead();
    });
    return this.runCall(request, reply, facts, Object.assign(call, { body, answered: waitForAnswerEnd(reply) }));
  }

  private async runCall(request: ApiRequest, reply: ApiReply, facts: ReplyFacts, call: Call): Promise<void> {
    const made = this.callHandler(call);
    const result = isThenable(made) ? await made : made;
    const { kind, hasRanges = false } = this.options.answers;
    if (kind === 'file' && !(result instanceof AlternativeAnswer))
      return writeFile(reply as FastifyReply, facts, result as FileAnswer, { headers: request.headers, hasRanges });
    if (kind === 'web') return writeWebPage(reply as FastifyReply, facts, result as WebPage | string);
    const content = this.renderResult(result, call, request);
    const { status, text, headers } = content instanceof Promise ? await content : content;
    writeJson(reply, facts, status, text, headers);
  }

  /** Builds the answer before the commit and sends it after the commit. */
  private async serveIdempotent({ request, reply, facts }: RequestState, call: Call, write: KeyedWrite): Promise<void> {
    const make = async (): Promise<NewAnswer> => {
      const { status, text, headers } = await this.renderResult(await this.callHandler(call), call, request);
      const type = text === null ? [] : ['content-type', 'application/json'];
      const hasSecret = this.options.answers.presenter?.hasSecret ?? false;
      return { status, headers: [...type, ...headers, ...unread], body: text, hasSecret };
    };
    const unread = facts.unread?.length ? [IGNORED_HEADER, facts.unread.join(', ')] : NO_HEADERS;
    const { answer, isReplay } = await this.keyed!.writeOnce(write, make, toStorableFailureAnswer);
    facts.unread = [];
    if (isReplay) await this.runtime.beforeReplay?.();
    writeStoredAnswer(reply, facts, answer, isReplay);
  }

  private callHandler(call: Call): unknown {
    const handle = (): unknown => this.controller[this.endpoint.handler]!(call);
    return this.isCostly(call.params) ? this.runtime.costly!.run(call.viewer, handle) : handle();
  }

  private renderResult(result: unknown, call: Call, request: ApiRequest): AnswerWithStatus | Promise<AnswerWithStatus> {
    const { answers } = this.options;
    if (result instanceof AlternativeAnswer) {
      const text = result.value === null ? null : JSON.stringify(result.value);
      return { status: answers.alternative!.status, text, headers: Object.entries(result.headers).flat() };
    }
    if (result instanceof UnfinishedAnswer) return this.renderUnfinished(result, call, request);
    const content = this.content.contentOf(result, call, request);
    const { status } = answers;
    return content instanceof Promise ? content.then((made) => ({ status, ...made })) : { status, ...content };
  }

  private async renderUnfinished(
    { row, pollMs }: UnfinishedAnswer<unknown>,
    call: Call,
    request: ApiRequest,
  ): Promise<AnswerWithStatus> {
    const { text } = await this.content.contentOf(row, call, request);
    return { status: this.options.answers.alternative!.status, text, headers: ['poll-interval', String(pollMs)] };
  }

  private isCostly(params: object): boolean {
    if (this.runtime.costly === null) return false;
    if (this.options.isCostly) return true;
    const sent = params as Readonly<Record<string, unknown>>;
    return this.costly.some((name) => sent[name] !== undefined && sent[name] !== null && sent[name] !== '');
  }

  /** Returns the call with its parent if the caller is permitted. Errors: NotFound for the parent, Forbidden. */
  private async authorize(request: ApiRequest, call: Writable<Call>): Promise<Call> {
    const { within, may } = this.options;
    if (within !== undefined) {
      const by = { viewer: call.viewer, wildcard: this.wildcard };
      call.within = (await resolveParentScope(this.options, this.runtime, request, by)) as never;
    }
    if (may.rule !== null) {
      const allowed = may.rule(call as never, this.runtime.services);
      if (!(typeof allowed === 'boolean' ? allowed : await allowed)) throw this.refusalFor(call.viewer);
    }
    return call;
  }

  /**
   * Checks that the parent and the caller's permissions are unchanged at the directory version of `viewer`.
   * Errors: as `authorize`; Unavailable when they changed, because the handler already uses the earlier ones.
   */
  private async reauthorize(request: ApiRequest, call: Call, viewer: Viewer): Promise<void> {
    if (this.options.within === undefined) await this.runtime.resolver?.requireFresh(viewer);
    const { within } = await this.authorize(request, { ...call, viewer, within: undefined });
    if (serializeDecisionFields(within) !== serializeDecisionFields(call.within))
      throw new Unavailable('rights changed');
  }

  /** Returns the caller and checks all that needs no data: signature, token scopes, administrator. */
  private verifyRequestCaller(request: ApiRequest): Viewer {
    const { service, keys, clock } = this.runtime;
    const viewer = verifyViewer(request, service, keys, clock.now().getTime());
    if (this.options.refusals?.validateFirst === undefined) this.checkCaller(viewer);
    return viewer;
  }

  /** Errors: Unauthorized, InsufficientScope, Forbidden, or the refusals that the endpoint declares instead. */
  private checkCaller(viewer: Viewer): void {
    const { may, refusals } = this.options;
    if (viewer.userId === null) {
      if (this.refusesAnonymous) throw refusals?.anonymousAs?.() ?? new Unauthorized();
    } else if (viewer.job !== undefined) {
      if (!this.isOpenToJobs) throw new Forbidden('The token of a job is not accepted here');
    } else if (this.scopes !== null && !this.scopes.some((scope) => viewer.scopes.includes(scope))) {
      throw new InsufficientScope(this.scopes);
    }
    if (may.kind === 'administrator' && !viewer.isAdmin) throw refusals?.forbiddenAs?.() ?? new Forbidden();
  }

  private prepareCall(
    request: ApiRequest,
    viewer: Viewer,
    facts: Writable<ReplyFacts>,
    { params: body, files }: ParsedBody,
  ): Call<object> {
    const query = request.query as RawParams;
    const { answers, refusals } = this.options;
    try {
      if (query === BROKEN_QUERY) throw new InvalidParameters(['parameters are not encoded correctly']);
      refuseUnreadSudo(viewer, query, body, files);
      const sources = { path: request.params as RawParams, body, query, files, headers: request.headers };
      facts.unread = this.unread.listUnread(sources, viewer);
      const params = this.plan.readParams(sources);
      let page: PageRequest = FIRST_PAGE;
      let keyset: Call['keyset'] = null;
      if (answers.kind === 'page') {
        const sent = (name: string): unknown => body[name] ?? query[name];
        page = readPage(sent, answers.hasStrictPages);
        if (!answers.hasPageTokens) keyset = readKeyset(answers.keyset, sent, page, viewer.userId === null);
        if (keyset === null) refuseDeepOffset(answers.keyset, page, viewer.userId === null);
      }
      if (refusals?.validateFirst) this.checkCaller(viewer);
      const unmodifiedSince = parseHttpDate(request.headers['if-unmodified-since']);
      const { requestId } = viewer;
      const knownVersions = parseIfNoneMatch(request.headers['if-none-match']);
      const isHead = request.raw.method === 'HEAD';
      const isWriteForbidden = isHead || isHeadOrBrowserRequest(request.headers);
      const sent = { params, page, keyset, files, unmodifiedSince, knownVersions, isWriteForbidden, isHead };
      return { ...sent, viewer, within: undefined, requestId };
    } catch (error) {
      if (error instanceof InvalidParameters && refusals?.parametersAs) throw refusals.parametersAs(error.problems);
      throw error;
    }
  }

  private refusalFor(viewer: Viewer): Error {
    const { refusals } = this.options;
    if (refusals?.forbiddenAs) return refusals.forbiddenAs();
    return viewer.userId === null ? (refusals?.anonymousAs?.() ?? new Unauthorized()) : new Forbidden();
  }
}

function isParamSent({ params }: Call<object>, name: string): boolean {
  return (params as Record<string, unknown>)[name] !== undefined;
}

/** Names of the parameters that make a request costly, as handlers see them. */
export function costlyParamNamesOf(params: object | undefined): readonly string[] {
  return params === undefined ? [] : fieldsOf(params).flatMap(({ name, common }) => (common.costly ? [name] : []));
}

/** Path of a template below `/api/v4`, or with `//` at the root, as token scopes name it. */
function tokenScopePath(template: string): string {
  return template.startsWith('/api/v4/') ? template.slice('/api/v4'.length) : `/${template}`;
}

type AnswerWithStatus = AnswerText & { readonly status: number };
type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Whether the error could disappear with a newer directory: a missing permission, or a parent that is not found. */
function couldNewerDirectoryFixError(error: unknown): boolean {
  return error instanceof NotFound || error instanceof Forbidden || error instanceof Unauthorized;
}

function isThenable(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

/** Resolves with whether the answer was written to its end before the connection closed. Never rejects. */
function waitForAnswerEnd({ raw }: ApiReply): Promise<boolean> {
  return new Promise((resolve) => {
    if (raw.closed) resolve(false);
    else raw.once('finish', () => resolve(true)).once('close', () => resolve(false));
  });
}

/** Returns the token scopes of which one suffices, the most general first; null when every token is accepted. */
export function acceptedTokenScopes({ method, options }: EndpointRecord): readonly string[] | null {
  if (options.tokenScopes === 'any') return null;
  return [...new Set(['api', ...(method === 'GET' ? ['read_api'] : []), ...(options.tokenScopes ?? [])])];
}

function parseHttpDate(text: string | undefined): Date | null {
  if (text === undefined) return null;
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? null : date;
}

function isHeadOrBrowserRequest(headers: ApiRequest['headers']): boolean {
  return headers[READ_ONLY_HEADER] !== undefined || /\btext\/html\b/i.test(headers.accept ?? '');
}
