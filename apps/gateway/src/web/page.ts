import { html } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';
import type { ApiCalls } from './api-calls';
import { renderMarkdown } from './markdown';
import { STYLE_PATH } from './style';

/** HTML in which values are escaped. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

/** A page without its frame. */
export interface WebSitePage {
  readonly title: string;
  readonly content: Html;
  /** Default 200. */
  readonly status?: number;
  /** Loads the page again after so many seconds. */
  readonly refreshAfter?: number;
}

/** A request for a page. */
export interface WebSitePageRequest {
  readonly api: ApiCalls;
  /** Path without the query, as the browser sent it. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Fields of the form; null for a read. */
  readonly form: URLSearchParams | null;
  readonly username: string | null;
  /** Hidden field of every form. */
  readonly formToken: string;
}

/** Leads the browser to another page, for instance after a form was handled. */
export class Redirect extends Error {
  constructor(readonly location: string) {
    super(`redirect to ${location}`);
  }
}

/** A broadcast message. */
export interface Banner {
  readonly message: string;
}

/** The whole document around a page. */
export function renderWebSiteDocument(
  { title, content, refreshAfter }: WebSitePage,
  request: WebSitePageRequest,
  banners: readonly Banner[],
): Html {
  const { username, path } = request;
  const account = username
    ? html`<form method="post" action="/-/sign_out">
        ${renderFormTokenField(request)}<span>${username}</span> <button>Sign out</button>
      </form>`
    : html`<a href="/-/sign_in?next=${encodeURIComponent(path)}">Sign in</a>`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width,initial-scale=1" />
        ${refreshAfter ? html`<meta http-equiv="refresh" content="${refreshAfter}" />` : ''}
        <title>${title} · Rookery</title>
        <link rel="stylesheet" href="${STYLE_PATH}" />
      </head>
      <body>
        <a class="skip" href="#content">To the content</a>
        <header class="site">
          <div>
            <strong><a href="/">Rookery</a></strong>
            <nav aria-label="Main">
              ${username ? html`<a href="/-/todos">To-do items</a><a href="/-/profile/notifications">Notifications</a><a href="/-/profile/sessions">Sessions</a>` : ''}<a
                href="/-/projects"
                >Projects</a
              >
            </nav>
            ${account}
          </div>
        </header>
        <main id="content">
          ${banners.map(({ message }) => html`<div class="banner" role="note">${renderMarkdown(message)}</div>`)}${content}
        </main>
        <footer>Served through the <a href="/api/v4/openapi.json">API</a> of this instance.</footer>
      </body>
    </html>`;
}

export function renderFormTokenField({ formToken }: WebSitePageRequest): Html {
  return html`<input type="hidden" name="form_token" value="${formToken}" />`;
}

/** Renders a time to the minute, with the exact one as an attribute. */
export function renderTime(instant: string | null | undefined): Html {
  if (!instant) return html``;
  const shown = `${instant.slice(0, 10)} ${instant.slice(11, 16)} UTC`;
  return html`<time datetime="${instant}">${shown}</time>`;
}

/** Links to the pages before and after, by the headers of a list of the API. */
export function pagesNav({ path, query }: WebSitePageRequest, headers: Readonly<Record<string, string>>): Html {
  const link = (page: string | undefined, words: string): Html => {
    if (!page) return html``;
    const params = new URLSearchParams(query);
    params.set('page', page);
    return html`<a href="${path}?${params.toString()}">${words}</a>`;
  };
  const before = headers['x-prev-page'];
  const after = headers['x-next-page'];
  if (!before && !after) return html``;
  return html`<nav class="pages" aria-label="Pages">
    ${link(before, '← Earlier page')}${link(after, 'Next page →')}
  </nav>`;
}

/** Page number in the query; 1 by default. */
export function pageNumber({ query }: WebSitePageRequest): number {
  const page = Number(query.get('page'));
  return Number.isInteger(page) && page > 0 && page < 1_000_000 ? page : 1;
}

/** A user as the API shows one in other objects. */
export interface UserSummary {
  readonly username: string;
  readonly name: string;
}

export function userLink(user: UserSummary | null): Html {
  return user ? html`<a href="/${user.username}">${user.name}</a>` : html`a former user`;
}

/** A path of the site: each segment is encoded, slashes stay. */
export function sitePath(...parts: readonly string[]): string {
  return `/${parts
    .flatMap((part) => part.split('/'))
    .map(encodeURIComponent)
    .join('/')}`;
}
