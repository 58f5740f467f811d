import { instant, int, nullable, presenter, text } from '@rookery/api-v4';
import type { EmailRow } from './emails.queries';
import type { WebPage } from '@rookery/api-v4';
import { escapeHtml } from '@rookery/kernel';

/** Source: reference identity-and-import 10.5. */
export const email = presenter<EmailRow>('Email').fields({
  id: [int, (row) => row.id],
  email: [text, (row) => row.email],
  confirmed_at: [nullable(instant), (row) => row.confirmed_at],
});

export const CONFIRMED: WebPage = {
  title: 'Your e-mail address is confirmed',
  html: '<p>You may close this page.</p>',
};

/**
 * Page with a confirmation button. It exists because mail scanners open links but press no buttons. The page shows
 * nothing but the address. Source: reference identity-and-import 10.5.
 */
export function renderEmailConfirmationPage(address: string, token: string): WebPage {
  return {
    title: 'Confirm your e-mail address',
    html: `<p>Somebody gave <strong>${escapeHtml(address)}</strong> for an account here. Is it your address?</p>
<form method="post" action="confirmation">
<input type="hidden" name="confirmation_token" value="${escapeHtml(token)}">
<button type="submit">Confirm the address</button>
</form>
<p>If you know nothing of it, close this page: the address will not be used.</p>`,
  };
}

export function renderEmailConfirmationRefusalPage(reason: string): WebPage {
  return {
    title: 'This link does not work',
    html: `<p>${escapeHtml(reason)}.</p>
<p>It works once and for three days, and the newest e-mail ends the former ones. If the address is not confirmed yet,
remove it and give it again: then another e-mail is sent.</p>`,
    status: 400,
  };
}
