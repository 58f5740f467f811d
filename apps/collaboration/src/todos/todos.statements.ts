import type { PageRequest } from '@rookery/kernel';
import { COUNT_LIMIT, offsetOf } from '@rookery/kernel';
import { prepared } from '@rookery/persistence';
import type { Prepared } from '@rookery/persistence';
import { projectAccessSql, readerOfAccess } from '../audience/access-sql';
import { arraySql } from '../json-rows/json-shape';
import { visibleIssueSql } from '../noteables/noteable-kinds';
import type { TodoAction, TodoState, TodoTargetType } from './todo-actions';
import { todoShape } from './todo.shape';

export interface TodoFilter {
  readonly state: TodoState;
  readonly action?: TodoAction | undefined;
  readonly authorId?: number | undefined;
  readonly projectId?: number | undefined;
  readonly groupId?: number | undefined;
  readonly type?: TodoTargetType | undefined;
}

/** Units: rows. Page sizes whose statement is kept by name; others are sent unnamed. */
const NAMED_PAGE_SIZES: readonly number[] = [20, 50, 100];

// The first three values of every statement here.
const VIEWER = '$1::bigint';
const person = { user: VIEWER, isAdmin: '$2::boolean', isExternal: '$3::boolean' };
const access = projectAccessSql('t.project_id', person);

/** An item may be seen while its project, its issue and its note may be. Source: reference work-tracking 6.1; ADR 0080. */
const VISIBLE = `a.reads_issues and t.target_type = 'Issue' and ${visibleIssueSql('i', readerOfAccess('a', VIEWER))}
      and (t.note_id is null or (n.id is not null and (not n.internal or a.reads_internal)))`;
const SEEN = `todos t
      join lateral ${access} a on true
      join issues i on i.id = t.target_id
      left join notes n on n.id = t.note_id`;
/** Not by id alone: the planner would walk the ids of everybody's items to find the newest of one person. */
const NEWEST = 't.created_at desc, t.id desc';
const COLUMNS = `t.id, t.author_id, t.action, t.target_type, t.target_id, t.note_id, t.state, t.created_at, t.updated_at,
      a.project_id, a.name, a.path, a.full_path, a.name_with_namespace, a.description,
      a.created_at as project_created_at, a.reads_internal`;

/**
 * The statements on to-dos, by hand: R3 is one of them. The page is cut before its JSON is built; what a person may
 * see is decided anew at each read, per project once. Source: performance R3, learnt 1-3, 7; ADR 0080.
 */
export class TodoStatements {
  readonly one: Prepared;
  private readonly pages = new Map<number, { [S in TodoState]?: Prepared }>();
  private readonly listed;

  constructor(externalUrl: string) {
    this.listed = todoShape({ externalUrl, viewer: null });
    const detail = todoShape({ externalUrl, viewer: VIEWER });
    this.one = prepared(
      'todos_one',
      `select ${detail.sql} as json from (select ${COLUMNS} from ${SEEN}
         where t.id = $4::bigint and t.user_id = ${VIEWER} and ${VISIBLE}) t
       ${JOINED}`,
    );
  }

  /** Shape: `name` is null when the statement must not be kept. Adds the values of the filter. */
  page(
    filter: TodoFilter,
    page: PageRequest,
    values: unknown[],
  ): { readonly name: string | null; readonly text: string } {
    const { state, ...others } = filter;
    const isPlain = Object.values(others).every((value) => value === undefined);
    const isKept = isPlain && page.page === 1 && NAMED_PAGE_SIZES.includes(page.perPage);
    if (!isKept) return { name: null, text: this.pageSql(filter, page, values) };
    const kept = this.pages.get(page.perPage) ?? {};
    this.pages.set(page.perPage, kept);
    return (kept[state] ??= prepared(`todos_page_${state}_${page.perPage}`, this.pageSql(filter, page, values)));
  }

  /**
   * One row: where the copy of the directory stands, whether the caller is still active, the count and the page.
   * The count stops past COUNT_LIMIT. It reads an index alone for projects in which the caller reads everything, and
   * looks at items one by one only in the others.
   */
  private pageSql(filter: TodoFilter, page: PageRequest, values: unknown[]): string {
    const wanted = conditions(filter, values);
    const offset = offsetOf(page);
    const cut = `(select ${COLUMNS} from ${SEEN} where ${wanted} and ${VISIBLE}
        order by ${NEWEST} limit ${page.perPage}${offset > 0 ? ` offset ${offset}` : ''}) t`;
    const more = `exists (select 1 from ${SEEN} where ${wanted} and ${VISIBLE}
        order by ${NEWEST} limit 1 offset ${offset + page.perPage})`;
    const hasMore = offset + page.perPage < COUNT_LIMIT ? 'null' : more;
    return `select state.version, state.epoch,
        (select u.state from directory_users u where u.id = ${VIEWER}) as viewer_state,
        ${countedTodosSql(wanted)} as counted, ${hasMore}::boolean as has_more,
        ${arraySql(this.listed, `from ${cut} ${JOINED}`, NEWEST)} as json
      from directory_state state`;
  }

  get presenter() {
    return this.listed.presenter;
  }
}

const JOINED = `join issues i on i.id = t.target_id left join notes n on n.id = t.note_id
        left join directory_users author on author.id = t.author_id`;

/**
 * How many items of the viewer may be seen; stops past COUNT_LIMIT. Shape: an SQL expression for a statement whose first
 * values are those of a list; `wanted` is a condition on `t`.
 */
export function countedTodosSql(wanted: string): string {
  return `(select coalesce(sum(case when a.reads_issues and a.reads_internal then mine.count else (
          select count(*) from (select 1 from todos t join issues i on i.id = t.target_id left join notes n on n.id = t.note_id
            where ${wanted} and t.project_id = mine.project_id and ${VISIBLE} limit ${COUNT_LIMIT + 1}) seen) end), 0)::integer
        from (select t.project_id, count(*) as count from (select t.project_id from todos t where ${wanted}
          limit ${COUNT_LIMIT + 1}) t group by t.project_id) mine
        join lateral ${projectAccessSql('mine.project_id', person)} a on true)`;
}

/** What the list is narrowed by, before anything is judged. Things that nobody knows narrow it to nothing. */
function conditions(filter: TodoFilter, values: unknown[]): string {
  const parts = [`t.user_id = ${VIEWER}`, `t.state = '${filter.state}'`];
  const add = (sql: (parameter: string) => string, value: unknown): void => {
    if (value === undefined) return;
    values.push(value);
    parts.push(sql(`$${values.length}`));
  };
  add((p) => `t.action = ${p}::text`, filter.action);
  add((p) => `t.author_id = ${p}::bigint`, filter.authorId);
  add((p) => `t.project_id = ${p}::bigint`, filter.projectId);
  add((p) => `t.target_type = ${p}::text`, filter.type);
  add(
    (p) => `exists (select 1 from directory_projects p join directory_namespaces home on home.id = p.namespace_id
      where p.id = t.project_id and ${p}::bigint = any(home.traversal_ids))`,
    filter.groupId,
  );
  return parts.join(' and ');
}

/** Only for the document: the statements build the JSON. */
const documented = 'http://localhost';
export const todoPresenter = todoShape({ externalUrl: documented, viewer: null }).presenter;
export const todoDetailPresenter = todoShape({ externalUrl: documented, viewer: 'null' }).presenter;
