import { Injectable } from '@nestjs/common';
import type { AccountMailRequest } from '@rookery/contracts';
import type { RowOf, Tx } from '@rookery/persistence';
import { Links } from '@rookery/platform';
import type { Email } from '../../users/addresses/email.entity';
import type { User } from '../../users/user.entity';
import type { AccountMailAnswers } from '../account-mails/account-mails.service';
import { AccountMailFactsService, mapAccountMailFacts } from '../account-mails/account-mails.service';
import { EmailConfirmationsService } from './email-confirmations.service';

type ConfirmationEmailRow = RowOf<Email, 'id' | 'userId' | 'email' | 'confirmedAt' | 'confirmationRequestedAt'> &
  RowOf<User, 'name'>;

/**
 * Facts for the e-mail that asks a user to confirm an address. Source: reference identity-and-import 10.5; reference
 * work-tracking 8.6.
 */
@Injectable()
export class ConfirmationMailFacts {
  constructor(
    mails: AccountMailFactsService,
    private readonly confirmations: EmailConfirmationsService,
    private readonly links: Links,
  ) {
    mails.registerSource(['email_confirmation'], (tx, questions) => this.findMailFacts(tx, questions));
  }

  private async findMailFacts(tx: Tx, questions: readonly AccountMailRequest[]): Promise<AccountMailAnswers> {
    const rows = await tx.query<ConfirmationEmailRow>(
      `select e.id, e.user_id, e.email, e.confirmed_at, e.confirmation_requested_at, u.name
       from emails e join users u on u.id = e.user_id and u.state = 'active' where e.id = any($1)`,
      [questions.map((one) => one.subject_id)],
    );
    const waiting = new Map(rows.map((row) => [row.id, row]));
    return mapAccountMailFacts(questions, ({ subject_id, recipient_id }) => {
      const row = waiting.get(subject_id);
      const path = row?.user_id === recipient_id ? this.confirmations.pathFor(row) : null;
      return row && path ? { address: row.email, name: row.name, link: this.links.webUrl(path), token: null } : null;
    });
  }
}
