import { Injectable } from '@nestjs/common';
import type { AccountMailFacts, AccountMailRequest } from '@rookery/contracts';
import type { RowOf, Tx } from '@rookery/persistence';
import type { AccountMailAnswers } from '../../emails/account-mails/account-mails.service';
import { AccountMailFactsService, mapAccountMailFacts } from '../../emails/account-mails/account-mails.service';
import type { User } from '../../users/user.entity';
import type { AccessToken } from '../access-token.entity';
import { TokenNoticeRecipients } from './token-recipients';

interface NotifiedToken extends RowOf<AccessToken, 'id' | 'name' | 'expiresOn' | 'revoked'> {
  readonly of: NonNullable<NonNullable<AccountMailFacts['token']>['of']> | null;
}
type Recipient = RowOf<User, 'id' | 'name' | 'email'>;

/** SQL: tokens with their group or project, because recipients may manage many of them. */
const TOKENS = `
  select t.id, t.name, t.expires_on, t.revoked, case
      when t.resource_type = 'group' then
        (select json_build_object('kind', 'group', 'path', n.full_path) from namespaces n where n.id = t.resource_id)
      when t.resource_type = 'project' then
        (select json_build_object('kind', 'project', 'path', n.full_path || '/' || p.path)
         from projects p join namespaces n on n.id = p.namespace_id where p.id = t.resource_id)
      when u.kind = 'service_account' then json_build_object('kind', 'service account', 'path', u.username)
    end as of
  from access_tokens t join users u on u.id = t.user_id where t.id = any($1)`;

/**
 * Facts for e-mails about tokens, for recipients who may still be notified. Source: reference identity-and-import 4.5;
 * reference work-tracking 8.6.
 */
@Injectable()
export class TokenMailFacts {
  constructor(
    mails: AccountMailFactsService,
    private readonly recipients: TokenNoticeRecipients,
  ) {
    mails.registerSource(['token_created', 'token_expires', 'token_rotated'], (tx, questions) =>
      this.findMailFacts(tx, questions),
    );
  }

  private async findMailFacts(tx: Tx, questions: readonly AccountMailRequest[]): Promise<AccountMailAnswers> {
    const ids = questions.map((one) => one.subject_id);
    const tokens = indexById(await tx.query<NotifiedToken>(TOKENS, [ids]));
    const people = indexById(
      await tx.query<Recipient>(
        `select id, name, email from users where id = any($1) and state = 'active' and confirmed_at is not null`,
        [questions.map((one) => one.recipient_id)],
      ),
    );
    const recipients = await this.recipients.listByToken(tx, ids);
    return mapAccountMailFacts(questions, ({ template, subject_id, recipient_id }) => {
      const token = tokens.get(subject_id);
      const person = people.get(recipient_id);
      if (!token || !person || !recipients.get(subject_id)?.includes(recipient_id)) return null;
      // The expiry of a revoked token is not worth a notice.
      if (template === 'token_expires' && token.revoked) return null;
      const { name, expires_on, of } = token;
      return { address: person.email, name: person.name, link: null, token: { name, expires_on, of } };
    });
  }
}

function indexById<T extends { readonly id: number }>(rows: readonly T[]): ReadonlyMap<number, T> {
  return new Map(rows.map((row) => [row.id, row]));
}
