import { html } from 'hono/html';
import type { WebSitePage, WebSitePageRequest } from '../page';

/** Shows the form in which a user signs in with an access token. `problem` says why the last token was refused. */
export function signInPage({ query, form }: WebSitePageRequest, problem: string | null): WebSitePage {
  const next = toSafeRedirectPath(form?.get('next') ?? query.get('next'));
  return {
    title: 'Sign in',
    ...(problem === null ? {} : { status: 422 }),
    content: html`<h1>Sign in</h1>
      <p>
        Sign in with a personal access token that has the scope <code>api</code>. With <code>read_api</code> you can
        read, but not write.
      </p>
      ${problem === null ? '' : html`<p class="problem" role="alert">${problem}</p>`}
      <form method="post" action="/-/sign_in">
        <input type="hidden" name="next" value="${next}" />
        <p>
          <label
            >Personal access token<input type="password" name="token" autocomplete="current-password" required
          /></label>
        </p>
        <button class="main">Sign in</button>
      </form>`,
  };
}

/** Returns the path to go on to: only one of this site. */
export function toSafeRedirectPath(next: string | null): string {
  return next !== null && /^\/(?![/\\])[\x21-\x7e]*$/.test(next) && !next.includes('\\') ? next : '/';
}
