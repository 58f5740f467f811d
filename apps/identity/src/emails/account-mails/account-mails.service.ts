import { Injectable } from '@nestjs/common';
import type { AccountMailFacts, AccountMailRequest, AccountMailTemplate } from '@rookery/contracts';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';

/** Facts by question. A question without facts means that no e-mail is sent. */
export type AccountMailAnswers = ReadonlyMap<AccountMailRequest, AccountMailFacts>;
type MailFactsFinder = (tx: Tx, questions: readonly AccountMailRequest[]) => Promise<AccountMailAnswers>;

/**
 * Contents and recipients of account e-mails at the time of sending. Questions about settled matters, or for recipients
 * who may no longer be notified, have no facts, so their e-mail is not sent. Each wing registers a source for its own
 * templates. Source: reference work-tracking 8.6.
 */
@Injectable()
export class AccountMailFactsService {
  private readonly sources = new Map<AccountMailTemplate, MailFactsFinder>();

  constructor(private readonly work: Work) {}

  /** Registers the source of facts for these templates. */
  registerSource(templates: readonly AccountMailTemplate[], answers: MailFactsFinder): void {
    for (const template of templates) this.sources.set(template, answers);
  }

  /** Returns one answer per question, in order. */
  async answerQuestions(questions: readonly AccountMailRequest[]): Promise<(AccountMailFacts | null)[]> {
    const facts = await this.work.run(async (tx) => {
      const found = new Map<AccountMailRequest, AccountMailFacts>();
      for (const source of new Set(this.sources.values())) {
        const own = questions.filter(({ template }) => this.sources.get(template) === source);
        if (own.length > 0) for (const [question, answer] of await source(tx, own)) found.set(question, answer);
      }
      return found;
    });
    return questions.map((question) => facts.get(question) ?? null);
  }
}

/** Maps each question to its facts and leaves out those without. */
export function mapAccountMailFacts(
  questions: readonly AccountMailRequest[],
  answer: (question: AccountMailRequest) => AccountMailFacts | null,
): AccountMailAnswers {
  return new Map(
    questions.flatMap((question) => {
      const facts = answer(question);
      return facts ? [[question, facts] as const] : [];
    }),
  );
}
