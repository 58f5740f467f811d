import { Injectable } from '@nestjs/common';
import type { AccountMailRequest } from '@rookery/contracts';
import type { Tx } from '@rookery/persistence';
import { Links } from '@rookery/platform';
import type { AccountMailAnswers } from './account-mails.service';
import { AccountMailFactsService, mapAccountMailFacts } from './account-mails.service';
import { findActiveMailRecipients } from './left-out-mails';

/**
 * Facts for e-mails about finished exports of dependencies. The link gives nothing away: a download needs a token of the
 * author, whose permission is checked again. Source: reference packages-and-admin 6.2; reference work-tracking 8.6.
 */
@Injectable()
export class DependencyExportMailFacts {
  constructor(
    mails: AccountMailFactsService,
    private readonly links: Links,
  ) {
    mails.registerSource(['dependency_list_exported'], (tx, questions) => this.findMailFacts(tx, questions));
  }

  private async findMailFacts(tx: Tx, questions: readonly AccountMailRequest[]): Promise<AccountMailAnswers> {
    const recipients = await findActiveMailRecipients(tx, questions);
    return mapAccountMailFacts(questions, ({ subject_id: id, recipient_id }) => {
      const recipient = recipients.get(recipient_id);
      if (!recipient) return null;
      const link = this.links.apiUrl(`dependency_list_exports/${id}/download`);
      return { address: recipient.email, name: recipient.name, link, token: null };
    });
  }
}
