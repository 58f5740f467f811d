import type { AccountMailFacts, AccountMailQuestion } from '@rookery/contracts';
import { INTERNAL_PATHS } from '@rookery/contracts';
import { TEST_INTERNAL_SECRET } from '@rookery/testing';
import type { IdentityApp } from './identity-app';

/** Asks as the mailer does. */
export async function mailFacts(
  { app }: IdentityApp,
  ...mails: readonly AccountMailQuestion[]
): Promise<(AccountMailFacts | null)[]> {
  const response = await fetch(`${app.baseUrl}${INTERNAL_PATHS.accountMails}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_INTERNAL_SECRET}`, 'content-type': 'application/json' },
    body: JSON.stringify({ mails }),
  });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return ((await response.json()) as { mails: (AccountMailFacts | null)[] }).mails;
}

export interface ConfirmationEvent {
  readonly email_id: number;
  readonly user_id: number;
  readonly requested_at: string;
}

/** The events that had links sent to a user's addresses, oldest first. */
export async function confirmationsOf({ db }: IdentityApp, userId: number): Promise<ConfirmationEvent[]> {
  const rows = await db.query<{ payload: ConfirmationEvent }>(
    `select payload from outbox where subject = 'identity.email.confirmation_requested.v1'
       and (payload ->> 'user_id')::bigint = $1 order by id`,
    [userId],
  );
  return rows.map((row) => row.payload);
}

/** Path and query of the link that the newest e-mail to a user's addresses holds, from the root on. */
export async function newestLink(identity: IdentityApp, userId: number): Promise<string> {
  const newest = (await confirmationsOf(identity, userId)).at(-1)!;
  const [facts] = await mailFacts(identity, {
    template: 'email_confirmation',
    recipient_id: userId,
    subject_id: newest.email_id,
  });
  const { pathname, search } = new URL(facts!.link!);
  return `/${pathname}${search}`;
}
