import { int, presenter, text } from '@rookery/api-v4';
import type { ServiceAccountRow } from './service-accounts.queries';

/** A new service account. Source: requirements 2 §2 Service account user; reference identity-and-import 5. */
export const newServiceAccount = presenter<ServiceAccountRow>('NewServiceAccount').fields({
  id: [int, (account) => account.id],
  username: [text, (account) => account.username],
  name: [text, (account) => account.name],
  email: [text, (account) => account.email],
});

/** An existing service account, with its unconfirmed address. */
export const serviceAccount = newServiceAccount.extend<ServiceAccountRow>('ServiceAccount').fields({
  unconfirmed_email: [
    text,
    (account) => account.unconfirmed_email ?? '',
    { when: (account) => account.unconfirmed_email !== null, about: 'Only while a chosen address is unconfirmed.' },
  ],
});
