import { Controller } from '@nestjs/common';
import type { InternalRequest } from '@rookery/api-v4';
import { InternalRoute } from '@rookery/api-v4';
import type { AccountMailRequest, AccountMailsAnswer, AccountMailTemplate } from '@rookery/contracts';
import { ACCOUNT_MAIL_TEMPLATES, MAX_ACCOUNT_MAILS, INTERNAL_CALLERS, INTERNAL_PATHS } from '@rookery/contracts';
import { InvalidParameters } from '@rookery/kernel';
import { AccountMailFactsService } from './account-mails.service';

/** Internal endpoint for the mailer. It requires an internal key and is not reachable from outside. */
@Controller()
export class AccountMailsController {
  constructor(private readonly mails: AccountMailFactsService) {}

  @InternalRoute('POST', INTERNAL_PATHS.accountMails, INTERNAL_CALLERS.accountMails)
  async facts({ body }: InternalRequest): Promise<AccountMailsAnswer> {
    return { mails: await this.mails.answerQuestions(parseMailRequests(body['mails'])) };
  }
}

function parseMailRequests(sent: unknown): AccountMailRequest[] {
  if (!Array.isArray(sent) || sent.length > MAX_ACCOUNT_MAILS) throw new InvalidParameters(['mails is invalid']);
  return sent.map((one: Partial<AccountMailRequest> | null) => {
    const { template, recipient_id, subject_id } = one ?? {};
    if (
      !ACCOUNT_MAIL_TEMPLATES.includes(template as AccountMailTemplate) ||
      !isPositiveId(recipient_id) ||
      !isPositiveId(subject_id)
    ) {
      throw new InvalidParameters(['mails is invalid']);
    }
    return { template: template!, recipient_id: recipient_id!, subject_id: subject_id! };
  });
}

function isPositiveId(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
