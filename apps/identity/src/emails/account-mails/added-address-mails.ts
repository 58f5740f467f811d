import { Injectable } from '@nestjs/common';
import type { AccountMailRequest } from '@rookery/contracts';
import type { RowOf, Tx } from '@rookery/persistence';
import type { Email } from '../../users/addresses/email.entity';
import type { AccountMailAnswers } from './account-mails.service';
import { AccountMailFactsService, mapAccountMailFacts } from './account-mails.service';

interface AddedAddress extends RowOf<Email, 'id' | 'userId'> {
  readonly added: string;
  readonly primary: string;
  readonly name: string;
}

/**
 * Facts for the e-mail to the primary address of a user that an address was added to the account. None if the address is
 * removed meanwhile, or is the primary one by now. Source: reference work-tracking 8.4 (security).
 */
@Injectable()
export class AddedAddressMailFacts {
  constructor(mails: AccountMailFactsService) {
    mails.registerSource(['email_added'], (tx, questions) => this.findMailFacts(tx, questions));
  }

  private async findMailFacts(tx: Tx, questions: readonly AccountMailRequest[]): Promise<AccountMailAnswers> {
    const rows = await tx.query<AddedAddress>(
      `select e.id, e.user_id, e.email as added, u.email as primary, u.name from emails e
       join users u on u.id = e.user_id and u.state = 'active' and u.confirmed_at is not null
       where e.id = any($1) and lower(e.email) <> lower(u.email)`,
      [questions.map((one) => one.subject_id)],
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    return mapAccountMailFacts(questions, ({ subject_id, recipient_id }) => {
      const row = byId.get(subject_id);
      if (row?.user_id !== recipient_id) return null;
      return { address: row.primary, name: row.name, link: null, token: null, added: row.added };
    });
  }
}
