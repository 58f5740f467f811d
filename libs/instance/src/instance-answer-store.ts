import { Inject, Injectable } from '@nestjs/common';
import type { InstanceAnswer } from '@rookery/contracts';
import { Database, prepareStatement } from '@rookery/persistence';

const READ = prepareStatement('instance_answer_read', 'select answer from instance_answers');
/**
 * $1 and $2 the answer, $3 the version that the reader knew before. A lower version replaces a higher one only when the
 * reader knew the higher one: then admin's database was restored. Otherwise the answer was merely late.
 */
const KEEP = prepareStatement(
  'instance_answer_keep',
  `insert into instance_answers as kept (id, version, answer) values (1, $1::bigint, $2::jsonb)
   on conflict (id) do update set version = excluded.version, answer = excluded.answer
   where kept.version < excluded.version or kept.version <= $3::bigint`,
);

/** The last answer of admin in the service's own database, shared by all its replicas and roles. Source: ADR 0180. */
@Injectable()
export class InstanceAnswerStore {
  constructor(@Inject(Database) private readonly database: Database) {}

  /** Null when the service never received an answer from admin. */
  async readAnswer(): Promise<InstanceAnswer | null> {
    const [kept] = await this.database.prepared<{ readonly answer: InstanceAnswer }>(READ, []);
    return kept?.answer ?? null;
  }

  /** `before` is the version that the reader knew when it asked. */
  async keepAnswer(answer: InstanceAnswer, before: number): Promise<void> {
    await this.database.prepared(KEEP, [answer.version, JSON.stringify(answer), before]);
  }
}
