import type { ListedWebSession } from '@rookery/contracts';
import { html } from 'hono/html';
import { renderFormTokenField, renderTime } from '../page';
import type { Html, WebSitePage, WebSitePageRequest } from '../page';

/** Shows the browsers in which the person is signed in, each with a button that ends its session. */
export function sessionsPage(request: WebSitePageRequest, sessions: readonly ListedWebSession[]): WebSitePage {
  return {
    title: 'Sessions',
    content: html`<h1>Sessions</h1>
      <p>Browsers in which you are signed in. A session ends also when its access token is revoked or expires.</p>
      <ul class="list">
        ${sessions.map((session) => renderSession(request, session))}
      </ul>`,
  };
}

function renderSession(request: WebSitePageRequest, session: ListedWebSession): Html {
  const { id, user_agent: browser, ip, token_name: token, is_current: isCurrent } = session;
  return html`<li>
    <strong>${browser ?? 'Unknown browser'}</strong> ${isCurrent ? html`<span class="label">this browser</span>` : ''}
    <p class="soft">
      ${ip ?? 'Unknown address'}, with the access token “${token}”. Signed in ${renderTime(session.created_at)}, last
      seen ${renderTime(session.last_seen_at)}.
    </p>
    <form method="post" action="/-/profile/sessions">
      ${renderFormTokenField(request)}<input type="hidden" name="session" value="${id}" />
      <button>${isCurrent ? 'Sign out' : 'End this session'}</button>
    </form>
  </li>`;
}
