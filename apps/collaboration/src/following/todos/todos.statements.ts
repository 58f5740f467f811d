import type { JsonPageRow, PageRequest } from '@rookery/kernel';
import { COUNT_LIMIT } from '@rookery/kernel';
import { filter, isUsualPage, KeptStatements, ListQuery, statement } from '@rookery/persistence';
import type { AllFilters, DeclaredStatement, Draft, Statement } from '@rookery/persistence';
import { groupAccessSql, projectAccessSql } from '../../base/noteables/access-sql';
import { arraySql } from '../../base/noteables/json.shape';
import type { WrittenShape } from '../../base/noteables/json.shape';
import { pagePathSql, readableSql, readsAllSql, subjectSql } from '../../base/noteables/noteable-kinds';
import type { NoteableKind, NoteableKinds } from '../../base/noteables/noteable-kinds';
import type { TodoAction, TodoState, TodoTargetType } from './todo-actions';
import { todoDetailShape, todoShape } from './todo.shape';

/** Filters of a list of to-dos, by their names in the API. */
export interface TodoFilter {
  readonly state: TodoState;
  readonly action?: TodoAction;
  readonly author_id?: number;
  readonly project_id?: number;
  readonly group_id?: number;
  readonly type?: TodoTargetType;
}

/** Values of every statement here. */
export interface ViewerParams {
  readonly viewer: number;
  readonly is_admin: boolean;
  readonly is_external: boolean;
}

/** A page of to-dos, with the position of the directory's copy. */
export interface TodoPageRow extends JsonPageRow {
  readonly version: number;
  readonly epoch: string;
  readonly viewer_state: string | null;
  /** The viewer also has to-dos of groups. */
  readonly is_partial: boolean;
}

const VIEWER = ':viewer::bigint';
const person = { user: VIEWER, isAdmin: ':is_admin::boolean', isExternal: ':is_external::boolean' };
/** The access to its project. What that to its group would say is null. */
const PROJECT_ACCESS = `select p.project_id, null::bigint as group_id, p.name, p.path, p.full_path, p.name_with_namespace,
        p.description, p.created_at, null::bigint as parent_id, null as avatar_url, p.traversal_ids, p.is_member,
        p.reads_confidential, p.reads_internal, p.reads_issues, p.reads_merge_requests, p.reads_snippets, false as reads_epics
      from ${projectAccessSql('t.project_id', person)} p`;
/** The access to its project, or to its group: an item has one of them. */
const ACCESS = `${PROJECT_ACCESS}
      union all select null, its.group_id, its.name, its.path, its.full_path, null, null, null, its.parent_id,
        its.avatar_url, its.traversal_ids, its.is_member, its.reads_confidential, its.reads_internal, false, false, false,
        its.reads_epics
      from ${groupAccessSql('t.group_id', person)} its where t.group_id is not null`;

const TARGET = { type: 't.target_type', id: 't.target_id' };
/** An item may be seen while its project, its target and its note may be. Source: reference work-tracking 6.1; ADR 0080. */
const VISIBLE = `target.is_readable and (t.note_id is null or (n.id is not null and (not n.internal or a.reads_internal)))`;

/** Joins of the target of a to-do and its note: whether the viewer reads the target by the access `a`, and its length. */
function targetJoins(kinds: readonly NoteableKind[]): string {
  const columns = (kind: NoteableKind): string =>
    `${readableSql(kind, 'a', VIEWER)} as is_readable, ${kind.listedBytes} as bytes`;
  const target = subjectSql(kinds, TARGET, columns);
  return `join lateral ${target} target on true
      left join notes n on n.id = t.note_id`;
}

const COLUMNS = `t.id, t.author_id, t.action, t.target_type, t.target_id, t.note_id, t.state, t.created_at, t.updated_at,
      a.project_id, a.group_id, a.name, a.path, a.full_path, a.name_with_namespace, a.description,
      a.created_at as project_created_at, a.parent_id, a.avatar_url, a.traversal_ids, a.reads_internal,
      target.bytes + coalesce(octet_length(n.body), 0) as bytes`;

/**
 * To-dos that a statement reads. Few people have to-dos of groups, and preparing for them costs as much as the page of
 * all others.
 */
type Scope = 'ofProjects' | 'all';

/** FROM clauses of a scope: to-dos with the columns that decide on their visibility, and joins for their JSON. */
interface Known {
  readonly kinds: readonly NoteableKind[];
  readonly seen: string;
  readonly joined: string;
}

/**
 * The statements on to-dos, by hand: R3 is one of them. The page is cut before its JSON is built; what a person may
 * see is decided anew at each read, per project once. Source: docs/performance.md 2, 5.1-5.3, 5.7, 5.18; ADR 0080.
 */
export class TodoStatements {
  private readonly kept = new KeptStatements();
  private readonly shape: WrittenShape;
  private readonly known: Readonly<Record<Scope, Known>>;
  readonly one: DeclaredStatement<ViewerParams & { readonly todo: number }, { readonly json: string }>;

  constructor(kinds: NoteableKinds, externalUrl: string) {
    const all = kinds.able('todos');
    this.shape = todoShape.over({ externalUrl });
    const project = { fullPath: 't.full_path', above: 't.traversal_ids' };
    const sql = { externalUrl, ...project, readsInternal: 't.reads_internal', person };
    const listed = (kind: NoteableKind): string => kind.listed.over(sql).sql;
    this.known = {
      ofProjects: knownOf(all.filter(isOf('project')), PROJECT_ACCESS, listed),
      all: knownOf(all, ACCESS, listed),
    };
    const detailed = joined(all, (kind) => kind.detailed.over({ ...sql, viewer: VIEWER }).sql);
    const oneSql = `select ${todoDetailShape.over({ externalUrl }).sql} as json from (select ${COLUMNS} from ${this.known.all.seen}
         where t.id = :todo::bigint and t.user_id = ${VIEWER} and ${VISIBLE}) t
       ${detailed}`;
    this.one = statement('todos_one', () => oneSql);
  }

  /** Lists without filters are kept prepared. Shape: an empty page with `is_partial` if `ofProjects` is not enough. */
  page(scope: Scope, wanted: TodoFilter, page: PageRequest, values: ViewerParams): Statement<TodoPageRow> {
    const { state, ...others } = wanted;
    const isPlain = isUsualPage(page) && Object.values(others).every((value) => value === undefined);
    const name = isPlain ? `todos_page_${scope}_${state}_${page.perPage}` : null;
    return this.kept.statement(name, values, () => this.listed(scope, wanted, page, values));
  }

  /**
   * One row: where the copy of the directory stands, whether the caller is still active, the count and the page.
   * The count stops past COUNT_LIMIT. It reads an index alone for projects in which the caller reads everything, and
   * looks at items one by one only in the others.
   */
  private listed(scope: Scope, wanted: TodoFilter, page: PageRequest, values: ViewerParams): Draft {
    const { kinds, seen, joined: joins } = this.known[scope];
    const list = new ListQuery<never>({
      name: 'todos',
      from: 'todos t',
      carries: COLUMNS,
      joins,
      bytes: 't.bytes',
      values,
    })
      .among({ from: seen })
      .where(`t.user_id = ${VIEWER} and t.state = '${wanted.state}'`)
      .narrow(FILTERS, wanted);
    const counted = countedTodosSql(kinds, list.conditionSql);
    const hasOfGroups = `exists (select 1 from todos other where other.user_id = ${VIEWER} and other.state = '${wanted.state}'
      and other.project_id is null)`;
    if (scope === 'ofProjects') list.where(`not ${hasOfGroups}`);
    // Not by id alone: the planner would walk the ids of everybody's items to find the newest of one person.
    return list
      .where(VISIBLE)
      .orderBy([['t.created_at', 'desc']])
      .json(page, {
        rows: (...rows) => arraySql(this.shape, ...rows),
        counted,
        besides: `state.version, state.epoch, ${scope === 'ofProjects' ? hasOfGroups : 'false'} as is_partial,
          (select u.state from directory_users u where u.id = ${VIEWER}) as viewer_state`,
        from: 'from directory_state state',
      });
  }
}

function knownOf(kinds: readonly NoteableKind[], access: string, jsonOf: (kind: NoteableKind) => string): Known {
  const seen = `todos t
      join lateral (${access}) a on true
      ${targetJoins(kinds)}`;
  return { kinds, seen, joined: joined(kinds, jsonOf) };
}

/** Filters of the list, applied before visibility is decided. An unknown project or author matches no to-do. */
const FILTERS: AllFilters<Omit<TodoFilter, 'state'>> = {
  action: filter.equals('t.action'),
  author_id: filter.equals('t.author_id'),
  project_id: filter.equals('t.project_id'),
  type: filter.equals('t.target_type'),
  group_id: (
    id,
    bind,
  ) => `exists (select 1 from directory_namespaces home left join directory_projects p on p.id = t.project_id
    where home.id = coalesce(t.group_id, p.namespace_id) and ${bind(id)}::bigint = any(home.traversal_ids))`,
};

/** Joins for the JSON of a to-do. Shape: `jsonOf` writes a target of a kind, over the row `i`. */
function joined(kinds: readonly NoteableKind[], jsonOf: (kind: NoteableKind) => string): string {
  const columns = (kind: NoteableKind): string =>
    `${jsonOf(kind)} as json, ${pagePathSql(kind, 't.full_path')} as path, i.title`;
  return `join lateral ${subjectSql(kinds, TARGET, columns)} target on true left join notes n on n.id = t.note_id
        left join directory_users author on author.id = t.author_id`;
}

/**
 * Number of to-dos that the viewer may see; it stops past COUNT_LIMIT. Shape: an SQL expression with the parameters of
 * `ViewerParams`; `wanted` is a condition on `t`.
 */
export function countedTodosSql(kinds: readonly NoteableKind[], wanted: string): string {
  const [ofProjects, ofGroups] = [kinds.filter(isOf('project')), kinds.filter(isOf('group'))];
  // Those of groups have an index of their own, are few, and are looked at one by one.
  const inGroups =
    ofGroups.length === 0
      ? '0'
      : `(select count(*) from (select 1 from todos t
            join lateral ${groupAccessSql('t.group_id', person)} a on true ${targetJoins(ofGroups)}
            where ${wanted} and t.project_id is null and ${VISIBLE} limit ${COUNT_LIMIT + 1}) seen)`;
  return `(select coalesce(sum(case when mine.project_id is null then ${inGroups} when a.project_id is null then 0
          when ${readsAllSql(ofProjects, 'a')} then mine.count else (
          select count(*) from (select 1 from todos t ${targetJoins(ofProjects)}
            where ${wanted} and t.project_id = mine.project_id and ${VISIBLE} limit ${COUNT_LIMIT + 1}) seen) end), 0)::integer
        from (select t.project_id, count(*) as count from (select t.project_id from todos t where ${wanted}
          limit ${COUNT_LIMIT + 1}) t group by t.project_id) mine
        left join lateral ${projectAccessSql('mine.project_id', person)} a on true)`;
}

function isOf(parent: NoteableKind['parent']): (kind: NoteableKind) => boolean {
  return (kind) => kind.parent === parent;
}
