import { Injectable } from '@nestjs/common';
import type { Page, PageRequest } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { ListStatement } from '../listing/list-statement';
import type { BadgeRow, BadgeSource } from './badge-row';

export const SHOWN = `b.id, case when b.project_id is null then 'group' else 'project' end as kind, b.name, b.link_url,
  b.image_url, b.updated_at`;

/** A project has its own badges and those of all groups above it; a group has its own. Shape: `bind` gives places. */
export function badgesOfSql(source: BadgeSource, bind: (value: unknown) => string): string {
  if (source.kind === 'group') return `b.namespace_id = ${bind(source.id)}`;
  return `(b.project_id = ${bind(source.id)} or b.namespace_id = any(${bind(source.namespace.traversalIds)}::bigint[]))`;
}

/** Reads of badges. Source: reference identity-and-import 8. */
@Injectable()
export class BadgesQueries {
  constructor(private readonly db: Database) {}

  /** Oldest first. Shape: `name` is the whole name. */
  page(source: BadgeSource, name: string | undefined, request: PageRequest): Promise<Page<BadgeRow>> {
    const statement = new ListStatement();
    statement.where(badgesOfSql(source, (value) => statement.bind(value)));
    if (name !== undefined) statement.filter(`b.name = ${statement.bind(name)}`);
    const list = {
      name: `badges-of-${source.kind}`,
      from: 'badges b',
      key: 'b.id',
      order: 'b.created_at, b.id',
      show: (ids: string) => `select ${SHOWN} from (${ids}) cut join badges b on b.id = cut.id order by cut.position`,
    };
    return statement.page<BadgeRow>(this.db, list, request);
  }

  /** Errors: NotFound, also for a badge of something else. */
  async one(source: BadgeSource, id: number): Promise<BadgeRow> {
    const values: unknown[] = [id];
    const found = badgesOfSql(source, (value) => `$${values.push(value)}`);
    const [badge] = await this.db.query<BadgeRow>(`select ${SHOWN} from badges b where b.id = $1 and ${found}`, values);
    if (!badge) throw new NotFound();
    return badge;
  }
}
