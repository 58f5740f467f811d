import { Injectable } from '@nestjs/common';
import { Invalid, NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { violates, Work } from '@rookery/persistence';
import { Avatars } from '../avatars/avatars.service';
import { holdAssignments } from './project-topics';
import type { NewTopic, TopicChange } from './topic-input';
import { problemsOfTopic } from './topic-rules';
import { Topic } from './topic.entity';

const TAKEN = { name: ['has already been taken'] };

/** Making, changing and removing topics. Source: reference identity-and-import 9. */
@Injectable()
export class TopicsService {
  constructor(
    private readonly work: Work,
    private readonly avatars: Avatars,
  ) {}

  /** Errors: Invalid by field; NotFound for an organization that there is not. */
  create(params: NewTopic): Promise<Topic> {
    if ((params.organization_id ?? 1) !== 1) throw new NotFound('Organization');
    this.refuseProblems(params, true);
    return this.namedFailures(() =>
      this.work.run(async (tx) => {
        const [made] = (await tx.query(
          `insert into topics (name, title, description) values ($1, $2, $3) returning *`,
          [params.name, params.title, params.description ?? null],
        )) as [Topic];
        const avatar_url = await this.avatars.change(tx, 'topic', made.id, params.avatar ?? undefined);
        if (avatar_url !== undefined) await tx.manager.update(Topic, made.id, { avatar_url });
        return { ...made, avatar_url: avatar_url ?? null };
      }),
    );
  }

  /** Errors: NotFound; Invalid by field. */
  update(id: number, params: TopicChange): Promise<Topic> {
    return this.namedFailures(() =>
      this.work.run(async (tx) => {
        if (params.name !== undefined) await holdAssignments(tx);
        const old = await locked(tx, id);
        this.refuseProblems(params, false);
        const avatar_url = await this.avatars.change(tx, 'topic', id, params.avatar);
        const { name = old.name, description = old.description } = params;
        const title = params.title === undefined ? old.title : params.title.trim() === '' ? null : params.title;
        const changed = { name, title, description, updated_at: new Date() };
        const columns = avatar_url === undefined ? changed : { ...changed, avatar_url };
        await tx.manager.update(Topic, id, columns);
        return { ...old, ...columns };
      }),
    );
  }

  /** Takes it from its projects too. Shape: `unchanged` is asked with the time of the last change first. */
  async remove(id: number, unchanged: (at: Date) => void): Promise<void> {
    await this.work.run(async (tx) => {
      await holdAssignments(tx);
      unchanged((await locked(tx, id)).updated_at);
      await tx.query(`delete from topics where id = $1`, [id]);
    });
  }

  private refuseProblems(params: TopicChange, isNew: boolean): void {
    const avatar = this.avatars.problemsOf(params.avatar);
    const problems = { ...problemsOfTopic(params, isNew), ...(avatar.length > 0 ? { avatar } : {}) };
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
  }

  private async namedFailures(use: () => Promise<Topic>): Promise<Topic> {
    try {
      return await use();
    } catch (error) {
      throw violates(error, 'uq_topics_name') ? new Invalid(TAKEN) : error;
    }
  }
}

/** Errors: NotFound. */
async function locked(tx: Tx, id: number): Promise<Topic> {
  const [row] = await tx.query<Topic>(`select * from topics where id = $1 for update`, [id]);
  if (!row) throw new NotFound();
  return row;
}
