import { instant, int, nullable, presenter, text } from '@rookery/api-v4';
import type { EmailRow } from './emails.queries';

/** Source: issue identity 6; ADR 0131. */
export const email = presenter<EmailRow>('Email').fields({
  id: [int, (row) => row.id],
  email: [text, (row) => row.email],
  confirmed_at: [nullable(instant), (row) => row.confirmed_at],
});
