import { Inject, Injectable } from '@nestjs/common';
import type { InstanceAnswer } from '@rookery/contracts';
import { Database, prepared } from '@rookery/persistence';

const READ = prepared('instance_answer_read', 'select answer from instance_answers');
/**
 * $1 and $2 the answer, $3 the version that its reader knew before. A lower version takes the place of a higher one only
 * from a reader who knew that one: then admin's database was restored, else an answer was late.
 */
const KEEP = prepared(
  'instance_answer_keep',
  `insert into instance_answers as kept (id, version, answer) values (1, $1::bigint, $2::jsonb)
   on conflict (id) do update set version = excluded.version, answer = excluded.answer
   where kept.version < excluded.version or kept.version <= $3::bigint`,
);

/** What admin said last, in the service's own database: all its replicas and roles share it. Source: ADR 0180. */
@Injectable()
export class KeptAnswers {
  constructor(@Inject(Database) private readonly database: Database) {}

  /** Null when the service has never heard of admin. */
  async read(): Promise<InstanceAnswer | null> {
    const [kept] = await this.database.prepared<{ readonly answer: InstanceAnswer }>(READ, []);
    return kept?.answer ?? null;
  }

  /** Shape: `before` is what the reader knew when it asked. */
  async keep(answer: InstanceAnswer, before: number): Promise<void> {
    await this.database.prepared(KEEP, [answer.version, JSON.stringify(answer), before]);
  }
}
