import { Injectable } from '@nestjs/common';
import type { Page, PageRequest } from '@rookery/kernel';
import { Database, prepared } from '@rookery/persistence';
import { containing, ListStatement } from '../listing/list-statement';
import type { TopicFilters } from './topic-input';
import type { Topic } from './topic.entity';

const ONE = prepared('topics-one', `select t.* from topics t where t.id = $1`);

/** Reads of topics; everybody may see them. Source: reference identity-and-import 9. */
@Injectable()
export class TopicsQueries {
  constructor(private readonly db: Database) {}

  async one(id: number): Promise<Topic | null> {
    return (await this.db.prepared<Topic>(ONE, [id]))[0] ?? null;
  }

  /** By number of projects that are not private; what is searched for comes by nearness of its name first. */
  page(params: TopicFilters, request: PageRequest): Promise<Page<Topic>> {
    const { statement, order } = topicsStatement(params);
    return statement.page<Topic>(this.db, topicsList(order), request);
  }
}

export function topicsStatement(params: TopicFilters): { statement: ListStatement; order: string } {
  const statement = new ListStatement();
  if (params.without_projects) statement.filter('t.total_projects_count = 0');
  if (params.organization_id !== undefined) {
    statement.filter(`t.organization_id = ${statement.bind(params.organization_id)}`);
  }
  const byCount = 't.open_projects_count desc, t.id asc';
  if (!params.search) return { statement, order: byCount };
  const pattern = statement.bind(containing(params.search));
  statement.filter(`(t.name ilike ${pattern} or t.title ilike ${pattern})`);
  return { statement, order: `${nearness(statement.bind(params.search))}, ${byCount}` };
}

/** Equal, then beginning so, then the rest. */
function nearness(text: string): string {
  return `case when lower(t.name) = lower(${text}) then 0 when starts_with(lower(t.name), lower(${text})) then 1 else 2 end`;
}

export function topicsList(order: string) {
  const show = (ids: string) => `select t.* from (${ids}) cut join topics t on t.id = cut.id order by cut.position`;
  return { name: 'topics', from: 'topics t', key: 't.id', order, show };
}
