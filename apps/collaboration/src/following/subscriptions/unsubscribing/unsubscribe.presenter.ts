import type { WebPage } from '@rookery/api-v4';
import type { LinkedKind } from './unsubscribe.service';

const SETTINGS = `<p>To change what you get about a project, a group or everything, set your level of notification on
<a href="/-/profile/notifications">the page of your notifications</a>, or by the API (<code>PUT /api/v4/notification_settings</code>).</p>`;

/**
 * Page with a button. It exists because mail scanners open links but press no buttons. The page names no title and no user,
 * because links are forwarded with e-mails. Source: reference work-tracking 8.5.
 */
export function unsubscribePage({ word }: LinkedKind): WebPage {
  return {
    title: `Unsubscribe from this ${word}`,
    html: `<p>You will get no more e-mails about this ${word}, unless you are mentioned.</p>
<form method="post" action="unsubscribe"><button type="submit">Unsubscribe</button></form>
${SETTINGS}`,
  };
}

export function unsubscribedPage({ word }: LinkedKind): WebPage {
  return {
    title: 'You are unsubscribed',
    html: `<p>You get no more e-mails about this ${word}, unless you are mentioned. You may close this page.</p>
${SETTINGS}`,
  };
}

export const INVALID_LINK: WebPage = {
  title: 'This link does not work',
  html: '<p>The link is not complete, or its subject was deleted.</p>',
  status: 400,
};
