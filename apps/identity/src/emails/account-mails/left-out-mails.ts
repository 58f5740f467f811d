import { Injectable } from '@nestjs/common';
import type { AccountMailRequest } from '@rookery/contracts';
import type { RowOf, Tx } from '@rookery/persistence';
import type { User } from '../../users/user.entity';
import type { AccountMailAnswers } from './account-mails.service';
import { AccountMailFactsService, mapAccountMailFacts } from './account-mails.service';

type Recipient = RowOf<User, 'id' | 'name' | 'email'>;

/** Recipients of e-mails about gists that were not imported. Source: requirements 2 §6. */
@Injectable()
export class LeftOutGistMailFacts {
  constructor(mails: AccountMailFactsService) {
    mails.registerSource(['gists_left_out'], (tx, questions) => this.findMailFacts(tx, questions));
  }

  private async findMailFacts(tx: Tx, questions: readonly AccountMailRequest[]): Promise<AccountMailAnswers> {
    const recipients = await findActiveMailRecipients(tx, questions);
    return mapAccountMailFacts(questions, ({ recipient_id: id }) => {
      const recipient = recipients.get(id);
      return recipient ? { address: recipient.email, name: recipient.name, link: null, token: null } : null;
    });
  }
}

/** Returns recipients with a confirmed address who may be notified, by their ids. */
export async function findActiveMailRecipients(
  tx: Tx,
  questions: readonly AccountMailRequest[],
): Promise<ReadonlyMap<number, Recipient>> {
  const rows = await tx.query<Recipient>(
    `select id, name, email from users where id = any($1) and state = 'active' and confirmed_at is not null`,
    [questions.map((one) => one.recipient_id)],
  );
  return new Map(rows.map((row) => [row.id, row]));
}
