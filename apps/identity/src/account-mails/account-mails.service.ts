import { Injectable } from '@nestjs/common';
import type { AccountMailFacts, AccountMailQuestion } from '@rookery/contracts';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { Links } from '@rookery/platform';
import { EmailConfirmations } from '../emails/email-confirmations.service';
import { TokenRecipients } from '../token-notices/token-recipients';

interface WaitingRow {
  readonly id: number;
  readonly user_id: number;
  readonly email: string;
  readonly name: string;
  readonly confirmed_at: Date | null;
  readonly confirmation_requested_at: Date | null;
}
interface TokenRow {
  readonly id: number;
  readonly name: string;
  readonly expires_on: string | null;
  readonly revoked: boolean;
  readonly of: NonNullable<NonNullable<AccountMailFacts['token']>['of']> | null;
}
interface PersonRow {
  readonly id: number;
  readonly name: string;
  readonly email: string;
}
/** With whose token it is: whoever looks after many groups has to find it. */
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

type Answers = ReadonlyMap<AccountMailQuestion, AccountMailFacts>;

/**
 * What an e-mail about an account says and where it goes, at the moment when it is sent: what is settled meanwhile,
 * and whoever may no longer hear of it, has no answer. Source: ADR 0132.
 */
@Injectable()
export class AccountMails {
  constructor(
    private readonly work: Work,
    private readonly confirmations: EmailConfirmations,
    private readonly recipients: TokenRecipients,
    private readonly links: Links,
  ) {}

  /** Shape: one answer for each question, in order. */
  async answer(questions: readonly AccountMailQuestion[]): Promise<(AccountMailFacts | null)[]> {
    const isAddress = (one: AccountMailQuestion): boolean => one.template === 'email_confirmation';
    const answers = await this.work.run(async (tx) => [
      await this.ofAddresses(tx, questions.filter(isAddress)),
      await this.ofTokens(
        tx,
        questions.filter((one) => !isAddress(one)),
      ),
    ]);
    return questions.map((question) => answers.map((some) => some.get(question)).find(Boolean) ?? null);
  }

  private async ofAddresses(tx: Tx, questions: readonly AccountMailQuestion[]): Promise<Answers> {
    if (questions.length === 0) return new Map();
    const rows = await tx.query<WaitingRow>(
      `select e.id, e.user_id, e.email, e.confirmed_at, e.confirmation_requested_at, u.name
       from emails e join users u on u.id = e.user_id and u.state = 'active' where e.id = any($1)`,
      [questions.map((one) => one.subject_id)],
    );
    const waiting = new Map(rows.map((row) => [row.id, row]));
    return answered(questions, ({ subject_id, recipient_id }) => {
      const row = waiting.get(subject_id);
      const path = row?.user_id === recipient_id ? this.confirmations.pathFor(row) : null;
      return row && path ? { address: row.email, name: row.name, link: this.links.web(path), token: null } : null;
    });
  }

  private async ofTokens(tx: Tx, questions: readonly AccountMailQuestion[]): Promise<Answers> {
    if (questions.length === 0) return new Map();
    const ids = questions.map((one) => one.subject_id);
    const tokens = byId(await tx.query<TokenRow>(TOKENS, [ids]));
    const people = byId(
      await tx.query<PersonRow>(
        `select id, name, email from users where id = any($1) and state = 'active' and confirmed_at is not null`,
        [questions.map((one) => one.recipient_id)],
      ),
    );
    const told = await this.recipients.of(tx, ids);
    return answered(questions, ({ template, subject_id, recipient_id }) => {
      const token = tokens.get(subject_id);
      const person = people.get(recipient_id);
      if (!token || !person || !told.get(subject_id)?.includes(recipient_id)) return null;
      // The end of what is ended already is no news.
      if (template === 'token_expires' && token.revoked) return null;
      const { name, expires_on, of } = token;
      return { address: person.email, name: person.name, link: null, token: { name, expires_on, of } };
    });
  }
}

function answered(
  questions: readonly AccountMailQuestion[],
  answer: (question: AccountMailQuestion) => AccountMailFacts | null,
): Answers {
  return new Map(
    questions.flatMap((question) => {
      const facts = answer(question);
      return facts ? [[question, facts] as const] : [];
    }),
  );
}

function byId<T extends { readonly id: number }>(rows: readonly T[]): ReadonlyMap<number, T> {
  return new Map(rows.map((row) => [row.id, row]));
}
