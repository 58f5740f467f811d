import { Injectable } from '@nestjs/common';
import type { AccountMailFacts, AccountMailQuestion, AccountMailTemplate } from '@rookery/contracts';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';

/** Facts by question; a question that is settled meanwhile has none. */
export type AccountMailAnswers = ReadonlyMap<AccountMailQuestion, AccountMailFacts>;
type Answers = (tx: Tx, questions: readonly AccountMailQuestion[]) => Promise<AccountMailAnswers>;

/**
 * What an e-mail about an account says and where it goes, at the moment when it is sent: what is settled meanwhile,
 * and people who may no longer hear of it, have no answer. Each wing answers for its own templates.
 * Source: reference work-tracking 8.6.
 */
@Injectable()
export class AccountMailsService {
  private readonly sources = new Map<AccountMailTemplate, Answers>();

  constructor(private readonly work: Work) {}

  /** Says who knows the facts of e-mails with these templates. */
  answerFor(templates: readonly AccountMailTemplate[], answers: Answers): void {
    for (const template of templates) this.sources.set(template, answers);
  }

  /** Shape: one answer for each question, in order. */
  async answer(questions: readonly AccountMailQuestion[]): Promise<(AccountMailFacts | null)[]> {
    const facts = await this.work.run(async (tx) => {
      const found = new Map<AccountMailQuestion, AccountMailFacts>();
      for (const source of new Set(this.sources.values())) {
        const own = questions.filter(({ template }) => this.sources.get(template) === source);
        if (own.length > 0) for (const [question, answer] of await source(tx, own)) found.set(question, answer);
      }
      return found;
    });
    return questions.map((question) => facts.get(question) ?? null);
  }
}

/** Answers one by one, leaving out those without facts. */
export function answersTo(
  questions: readonly AccountMailQuestion[],
  answer: (question: AccountMailQuestion) => AccountMailFacts | null,
): AccountMailAnswers {
  return new Map(
    questions.flatMap((question) => {
      const facts = answer(question);
      return facts ? [[question, facts] as const] : [];
    }),
  );
}
