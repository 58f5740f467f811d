import { html } from 'hono/html';
import { Unavailable } from '@rookery/kernel';
import type { IdentityClient } from '../auth/identity-client';
import type { Exchange } from '../request/exchange';
import type { Tally } from '../metrics/tally';
import { forbidden, REFUSALS } from '../request/refusal';
import { collectBody, isCollectedBody } from '../request/request-body';
import { ApiCalls, ApiRefused } from './api-calls';
import type { PublicHandler } from './api-calls';
import { Redirect, renderWebSiteDocument } from './page';
import type { Banner, WebSitePage, WebSitePageRequest } from './page';
import { findWebSitePage } from './page-routes';
import { sessionsPage } from './pages/sessions';
import { toSafeRedirectPath, signInPage } from './pages/sign-in';
import { Sessions } from './sessions';
import type { BrowserRequest, Session } from './sessions';
import { STYLE, STYLE_PATH } from './style';

export interface SiteSettings {
  readonly sessionSecret: string | null;
  readonly slowPeerMs: number;
  readonly deadlineMs: number;
}

/** No scripts at all, and nothing from other hosts. */
const SECURITY_HEADERS = [
  'Content-Security-Policy',
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'X-Frame-Options',
  'DENY',
  'Referrer-Policy',
  'same-origin',
];
/** A comment of a million characters, escaped. Units: bytes. */
const MAX_FORM = 8 * 1024 * 1024;
/** The form of the sign-in page. Units: bytes. */
const MAX_FORM_OF_STRANGER = 16 * 1024;
/** Fields of a form at most. */
const MAX_FIELDS = 50;
const AMPERSAND = 0x26;
const FORM = 'application/x-www-form-urlencoded';
const SIGN_IN = '/-/sign_in';
const SIGN_OUT = '/-/sign_out';
const SESSIONS = '/-/profile/sessions';
const LACKS_SCOPE = 'The access token of this session lacks the scope for that: api, or read_api to read.';
const ANOTHER_SITE = forbidden('This form was sent from another site');
/** First segments that are never pages. */
const NOT_PAGES = new Set(['api', 'internal', 'uploads', 'assets', '.well-known']);

/** A page or the location of a redirect, and the cookie to set. */
interface PageResult {
  readonly page?: WebSitePage;
  readonly location?: string;
  readonly cookie?: string;
}

/**
 * The web site: pages behind the links of mails and `web_url`s. It answers addresses that no route of the API has, and
 * reads and writes through the API as every other client. Source: reference pages 1-3; ADR 0193.
 */
export class WebSite {
  private readonly sessions: Sessions;
  private readonly origin: string;

  /** `externalUrl` is where browsers find this instance; `handle` answers calls of the API. */
  constructor(
    private readonly handle: PublicHandler,
    externalUrl: string,
    private readonly settings: SiteSettings,
    private readonly tally: Pick<Tally, 'collecting'>,
    identity: IdentityClient,
  ) {
    const { origin, protocol } = new URL(externalUrl);
    this.origin = origin;
    this.sessions = new Sessions(identity, settings.sessionSecret, protocol === 'https:');
  }

  /** Whether a browser asks for a page. Other clients get JSON as from the API. */
  serves({ method, target, head, request }: Exchange): boolean {
    const [first = ''] = target.segments;
    if (NOT_PAGES.has(decodeURIComponent(first))) return false;
    if (method === 'POST') return target.segments.includes('-') && head.contentType.toLowerCase().startsWith(FORM);
    if (method !== 'GET' && method !== 'HEAD') return false;
    return target.path === STYLE_PATH || (request.headers.accept ?? '').includes('text/html');
  }

  /** Answers a request for one of the web pages, or for their style sheet. */
  async answer(exchange: Exchange): Promise<void> {
    const { method, target } = exchange;
    if (target.path === STYLE_PATH && method !== 'POST') {
      writeWebSiteAnswer(
        exchange,
        200,
        ['Content-Type', 'text/css; charset=utf-8', 'Cache-Control', 'public, max-age=31536000, immutable'],
        STYLE,
      );
      return;
    }
    const session = await this.sessions.readSession(exchange.request.headers.cookie);
    const form = method === 'POST' ? await this.receiveForm(exchange, session) : null;
    if (form === undefined) return;
    const request: WebSitePageRequest = {
      api: this.createApiCalls(exchange, session?.token ?? null),
      path: target.path,
      query: new URLSearchParams(target.query),
      form,
      username: session?.username ?? null,
      formToken: session ? this.sessions.formToken(session) : '',
    };
    const { page, location, cookie } = await this.answerPage(exchange, request, session);
    const headers = [...SECURITY_HEADERS, 'Cache-Control', 'no-store', ...(cookie ? ['Set-Cookie', cookie] : [])];
    if (location !== undefined) {
      writeWebSiteAnswer(exchange, 303, [...headers, 'Location', location], '');
      return;
    }
    const shown = cookie === undefined ? request : { ...request, username: null };
    const banners = await request.api.find<readonly Banner[]>('/broadcast_messages/displayed').catch(() => null);
    const document = await renderWebSiteDocument(page!, shown, banners ?? []);
    writeWebSiteAnswer(
      exchange,
      page!.status ?? 200,
      [...headers, 'Content-Type', 'text/html; charset=utf-8'],
      String(document),
    );
  }

  /** Calls of the API that end when the reader of the page has gone. */
  private createApiCalls(exchange: Exchange, token: string | null): ApiCalls {
    const gone = new AbortController();
    exchange.onGone(() => gone.abort());
    return new ApiCalls(this.handle, { token, address: exchange.address, signal: gone.signal });
  }

  private async answerPage(
    exchange: Exchange,
    request: WebSitePageRequest,
    session: Session | null,
  ): Promise<PageResult> {
    const { form, path } = request;
    const browser = toBrowserRequest(exchange, this.settings.deadlineMs);
    try {
      if (path === SIGN_IN) return await this.signIn(browser, exchange, request, session);
      if (session && !(await this.sessions.isLive(session, browser)))
        return this.redirectAndExpireCookie(signInPath(request));
      if (form && !session) return { location: signInPath(request) };
      if (form && !this.sessions.isFormToken(session!, form.get('form_token') ?? ''))
        return { page: renderRefusalPage(403, 'This form is too old. Load the page again.') };
      if (path === SIGN_OUT && !form) return { location: '/' };
      if (path === SIGN_OUT) return await this.endSession(session!, browser, session!.id);
      if (path === SESSIONS) return await this.answerSessionsPage(request, session, browser);
      return { page: await findWebSitePage(request, exchange.target.segments.map(decodeURIComponent)) };
    } catch (error) {
      if (error instanceof Redirect) return { location: error.location };
      if (error instanceof ApiRefused) return this.resultOfRefusal(request, session, error);
      if (error instanceof Unavailable)
        return { page: renderRefusalPage(503, 'A part of the server is restarting. Try again.') };
      throw error;
    }
  }

  private async answerSessionsPage(
    request: WebSitePageRequest,
    session: Session | null,
    browser: BrowserRequest,
  ): Promise<PageResult> {
    if (!session) return { location: signInPath(request) };
    // The API checks the token: sessions are shown to people who could still sign in with it.
    await request.api.get('/user');
    const ended = request.form?.get('session');
    if (ended) return this.endSession(session, browser, ended);
    const sessions = await this.sessions.list(session, browser);
    return { page: sessions === null ? renderRefusalPage(403, LACKS_SCOPE) : sessionsPage(request, sessions) };
  }

  private async endSession(session: Session, browser: BrowserRequest, endedId: string): Promise<PageResult> {
    if (!(await this.sessions.end(session, browser, endedId))) return { page: renderRefusalPage(403, LACKS_SCOPE) };
    return endedId === session.id ? this.redirectAndExpireCookie('/') : { location: SESSIONS };
  }

  private redirectAndExpireCookie(location: string): PageResult {
    return { location, cookie: this.sessions.expiredCookie() };
  }

  private async signIn(
    browser: BrowserRequest,
    exchange: Exchange,
    request: WebSitePageRequest,
    former: Session | null,
  ): Promise<PageResult> {
    const token = request.form?.get('token')?.trim();
    if (!token) return { page: signInPage(request, null) };
    // Headers take visible characters only.
    const isToken = /^[\x21-\x7e]{1,255}$/.test(token);
    const answer = isToken
      ? await this.createApiCalls(exchange, token).send<{ username: string }>('GET', '/user')
      : null;
    const invalid = { page: signInPage(request, 'This token is invalid, or has neither the scope api nor read_api.') };
    if (answer === null || answer.status === 401 || answer.status === 403) return invalid;
    if (answer.status !== 200) throw new ApiRefused(answer.status, 'Signing in is not possible now. Try again.');
    const { username } = answer.data;
    const cookie = await this.sessions.start({ token, username }, browser, former);
    return cookie === null ? invalid : { location: toSafeRedirectPath(request.form!.get('next')), cookie };
  }

  /** Hidden and missing look alike: both lead strangers to the sign-in page, and are 404 for others. */
  private resultOfRefusal(
    request: WebSitePageRequest,
    session: Session | null,
    { status, reason }: ApiRefused,
  ): PageResult {
    if (session === null && [401, 403, 404].includes(status) && !request.form) return { location: signInPath(request) };
    // The token was revoked or expired, or its user is blocked.
    if (status === 401) return this.redirectAndExpireCookie(signInPath(request));
    if (status === 404) return { page: renderRefusalPage(404, 'This page does not exist, or you may not see it.') };
    return { page: renderRefusalPage(status < 500 ? status : 503, reason) };
  }

  /** Browsers say where a form was sent from. */
  private isSameOriginForm({ request }: Exchange): boolean {
    const { origin, host } = request.headers;
    const site = request.headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin') return false;
    if (origin === undefined) return true;
    if (origin === this.origin || !URL.canParse(origin)) return origin === this.origin;
    // The site may be open under another address, but not without TLS where it has TLS.
    const { host: sender, protocol } = new URL(origin);
    return sender === host && protocol === new URL(this.origin).protocol;
  }

  /** Reads the form of a request. Returns undefined when the request was answered or its client left. */
  private async receiveForm(exchange: Exchange, session: Session | null): Promise<URLSearchParams | undefined> {
    const { request, head, target } = exchange;
    const limit = session ? MAX_FORM : MAX_FORM_OF_STRANGER;
    if (!this.isSameOriginForm(exchange)) exchange.refuse(ANOTHER_SITE);
    else if (head.contentLength > limit) exchange.refuse(REFUSALS.tooLarge);
    else if (!session && target.path !== SIGN_IN)
      writeWebSiteAnswer(exchange, 303, [...SECURITY_HEADERS, 'Location', signInPath(target)], '');
    else {
      exchange.sendContinue();
      // Waiting for a client is no load.
      this.tally.collecting += 1;
      const body = await collectBody(request, head.contentLength, this.settings.slowPeerMs, limit);
      this.tally.collecting -= 1;
      if (body !== null && isCollectedBody(body)) {
        if (countByteUpToMaxFields(body, AMPERSAND) < MAX_FIELDS) return new URLSearchParams(body.toString());
        exchange.refuse(REFUSALS.badRequest);
      } else if (body !== null) exchange.refuse(body);
    }
    return undefined;
  }
}

/** Counts how often a byte occurs, up to the most fields of a form. */
function countByteUpToMaxFields(body: Buffer, byte: number): number {
  let count = 0;
  for (let at = body.indexOf(byte); at >= 0 && count < MAX_FIELDS; at = body.indexOf(byte, at + 1)) count += 1;
  return count;
}

function toBrowserRequest({ address, request }: Exchange, deadlineMs: number): BrowserRequest {
  return { address, userAgent: request.headers['user-agent'] ?? null, deadline: Date.now() + deadlineMs };
}

function signInPath({ path }: { readonly path: string }): string {
  return `${SIGN_IN}?next=${encodeURIComponent(path)}`;
}

function renderRefusalPage(status: number, reason: string): WebSitePage {
  return {
    title: String(status),
    status,
    content: html`<h1>${status}</h1>
      <p class="problem" role="alert">${reason}</p>`,
  };
}

/** Writes an answer. The duration of redirects is rounded as that of refusals, so that hidden and missing addresses are alike. */
function writeWebSiteAnswer(exchange: Exchange, status: number, headers: readonly string[], body: string): void {
  if (exchange.isOver) return;
  const length = String(Buffer.byteLength(body));
  exchange.response.writeHead(status, [
    ...exchange.commonHeaders(status < 300 ? status : 404),
    ...headers,
    'Content-Length',
    length,
  ]);
  exchange.end(exchange.method === 'HEAD' ? null : Buffer.from(body).toString('latin1'));
}
