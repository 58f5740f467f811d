import { int, presenter, text } from '@rookery/api-v4';
import type { ServiceAccountRow } from './service-accounts.queries';

/** A new account. Source: requirements 2 §2 Service account user; reference identity-and-import 5. */
export const newServiceAccount = presenter<ServiceAccountRow>('NewServiceAccount').fields({
  id: [int, (account) => account.id],
  username: [text, (account) => account.username],
  name: [text, (account) => account.name],
  email: [text, (account) => account.email],
});

/** An account that was there before: also the address that it may have one day. */
export const serviceAccount = newServiceAccount.extend<ServiceAccountRow>('ServiceAccount').fields({
  unconfirmed_email: [
    text,
    (account) => account.unconfirmed_email ?? '',
    { when: (account) => account.unconfirmed_email !== null, about: 'While a chosen address awaits its confirmation.' },
  ],
});
