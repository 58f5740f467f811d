import { Injectable } from '@nestjs/common';
import { Invalid } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { topicNameProblems } from './topic-rules';

/** Assigns topics to projects. Source: reference identity-and-import 9; ADR 0110. */
@Injectable()
export class ProjectTopicsService {
  /**
   * Replaces the topics of a project, in this order. Names are compared case-insensitively, blank ones are ignored, and
   * missing topics are created with their name as title. Locks the project, then topics by id. Errors: Invalid `topics`
   * for an invalid name.
   */
  async assignTopics(tx: Tx, projectId: number, names: readonly string[]): Promise<void> {
    const given = names.map((name) => name.trim()).filter((name) => name !== '');
    const problems = [...new Set(given.flatMap(topicNameProblems))];
    if (problems.length > 0) throw new Invalid({ topics: problems });
    await tx.query(`select 1 from projects where id = $1 for no key update`, [projectId]);
    // Until the end of the transaction no topic is renamed, merged or removed (lockTopicAssignments).
    await tx.query(`lock table project_topics in row exclusive mode`);
    const ids = await this.lockTopics(tx, projectId, await this.removeDuplicateNames(tx, given));
    await tx.query(`delete from project_topics where project_id = $1 and topic_id <> all($2::bigint[])`, [
      projectId,
      ids,
    ]);
    await tx.query(
      `insert into project_topics (project_id, topic_id, position, is_open)
         select p.id, t.id, t.position, p.visibility <> 'private'
         from projects p, unnest($2::bigint[]) with ordinality t (id, position) where p.id = $1
       on conflict (project_id, topic_id) do update set position = excluded.position
         where project_topics.position <> excluded.position`,
      [projectId, ids],
    );
  }

  /** Removes duplicates. The database folds case, because it is also the one that compares names. */
  private async removeDuplicateNames(tx: Tx, names: readonly string[]): Promise<string[]> {
    if (names.length < 2) return [...names];
    const rows = await tx.query<{ name: string }>(
      `select name from (select distinct on (lower(name)) name, position
         from unnest($1::text[]) with ordinality w (name, position) order by lower(name), position) first
       order by position`,
      [names],
    );
    return rows.map((row) => row.name);
  }

  /**
   * Locks topics and returns their ids in the order of the names. Topics that the project loses are locked too, because
   * their counters change as well.
   */
  private async lockTopics(tx: Tx, projectId: number, names: readonly string[]): Promise<number[]> {
    await this.createMissingTopics(tx, names);
    const rows = await tx.query<{ id: number; position: number | null }>(
      `select t.id, array_position(array(select lower(w) from unnest($2::text[]) w), lower(t.name)) as position
       from topics t
       where t.id in (select topic_id from project_topics where project_id = $1)
         or t.id in (select same.id from topics same join unnest($2::text[]) w
           on lower(same.name) = lower(w) and same.organization_id = 1)
       order by t.id for no key update of t`,
      [projectId, names],
    );
    const found = rows.flatMap(({ id, position }) => (position === null ? [] : [{ id, position }]));
    return found.sort((a, b) => a.position - b.position).map(({ id }) => id);
  }

  /** Inserts in one order everywhere, so that concurrent transactions that create the same topics cannot deadlock. */
  private async createMissingTopics(tx: Tx, names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    await tx.query(
      `insert into topics (name, title)
         select w, w from unnest($1::text[]) w
         where not exists (select 1 from topics t where lower(t.name) = lower(w) and t.organization_id = 1)
         order by lower(w)
       on conflict (lower(name), organization_id) do nothing`,
      [names],
    );
  }
}

/** Waits for running assignments and blocks new ones. Must be called before topics are renamed, merged or removed. */
export async function lockTopicAssignments(tx: Tx): Promise<void> {
  await tx.query(`lock table project_topics in share row exclusive mode`);
}
