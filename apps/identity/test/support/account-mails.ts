import type { AccountMailRequest, AccountMailsAnswer } from '@rookery/contracts';
import { INTERNAL_PATHS } from '@rookery/contracts';
import type { IdentityApp } from './app';
import { internalCall } from './internal-calls';

/** Requests the facts of account e-mails from identity, as the mailer of collaboration does. */
export async function mailFacts(
  identity: IdentityApp,
  ...mails: readonly AccountMailRequest[]
): Promise<AccountMailsAnswer['mails']> {
  return (await internalCall<AccountMailsAnswer>(identity, INTERNAL_PATHS.accountMails, { mails }, 'collaboration'))
    .mails;
}

export interface ConfirmationEvent {
  readonly email_id: number;
  readonly user_id: number;
  readonly requested_at: string;
}

/** Returns the events that requested links to a user's addresses, oldest first. */
export async function confirmationsOf({ db }: IdentityApp, userId: number): Promise<ConfirmationEvent[]> {
  const rows = await db.query<{ payload: ConfirmationEvent }>(
    `select payload from outbox where subject = 'identity.email.confirmation_requested.v1'
       and (payload ->> 'user_id')::bigint = $1 order by id`,
    [userId],
  );
  return rows.map((row) => row.payload);
}

/** Returns path and query of the link in the newest e-mail to a user's addresses, relative to the root. */
export async function newestLink(identity: IdentityApp, userId: number): Promise<string> {
  const newest = (await confirmationsOf(identity, userId)).at(-1)!;
  const [facts] = await mailFacts(identity, {
    template: 'email_confirmation',
    recipient_id: userId,
    subject_id: newest.email_id,
  });
  const { pathname, search } = new URL(facts!.link!);
  return `${pathname}${search}`;
}
