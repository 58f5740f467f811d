import type { JsonPageRow, PageRequest } from '@rookery/kernel';
import { COUNT_LIMIT } from '@rookery/kernel';
import { filter, isUsualPage, CachedStatements, ListQuery, statement } from '@rookery/persistence';
import type { AllFilters, DeclaredStatement, SqlDraft, Statement } from '@rookery/persistence';
import { groupAccessRowSql, projectAccessRowSql } from '../../base/noteables/access-sql';
import { jsonArraySql } from '../../base/noteables/json.shape';
import type { ShapeSql } from '../../base/noteables/json.shape';
import { canReadAllNoteablesSql, noteableOfAnyKindSql } from '../../base/noteables/noteable-kinds';
import type { PersonalDetailSql, NoteableKind, NoteableKinds } from '../../base/noteables/noteable-kinds';
import type { TodoAction, TodoState, TodoTargetType } from './todo-actions';
import { todoDetailShape, todoShape } from './todo.shape';
import { todoTargets } from './todo-targets';
import type { TodoTarget } from './todo-targets';

/** Filters of a list of to-dos, by their names in the API. */
export interface TodoFilter {
  readonly state: TodoState;
  readonly action?: TodoAction;
  readonly author_id?: number;
  readonly project_id?: number;
  readonly group_id?: number;
  readonly type?: TodoTargetType;
}

/** Values that every statement here needs. */
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
  /** Whether the viewer also has to-dos of groups. */
  readonly is_partial: boolean;
}

const VIEWER = ':viewer::bigint';
const person = { user: VIEWER, isAdmin: ':is_admin::boolean', isExternal: ':is_external::boolean' };
/** Access to the project of a to-do. Columns that only a group has are null. */
const PROJECT_ACCESS = `select p.project_id, null::bigint as group_id, p.name, p.path, p.full_path, p.name_with_namespace,
        p.description, p.created_at, null::bigint as parent_id, null as avatar_url, p.traversal_ids, p.is_member,
        p.reads_confidential, p.reads_internal, p.reads_issues, p.reads_merge_requests, p.reads_snippets, false as reads_epics
      from ${projectAccessRowSql('t.project_id', person)} p`;
/** Access to the project or the group of a to-do, which has one of them. */
const ACCESS = `${PROJECT_ACCESS}
      union all select null, its.group_id, its.name, its.path, its.full_path, null, null, null, its.parent_id,
        its.avatar_url, its.traversal_ids, its.is_member, its.reads_confidential, its.reads_internal, false, false, false,
        its.reads_epics
      from ${groupAccessRowSql('t.group_id', person, 'any')} its where t.group_id is not null`;

const TARGET = { type: 't.target_type', id: 't.target_id' };
/** A to-do is visible while its project, target and note are. Source: reference work-tracking 6.1; ADR 0080. */
const VISIBLE = `target.is_readable and (t.note_id is null or (n.id is not null and (not n.internal or a.reads_internal)))`;

/** Joins of the target of a to-do and its note: whether the viewer reads the target by the access `a`, and its length. */
function targetJoinsSql(targets: readonly TodoTarget[]): string {
  const columns = ({ readableSql, bytes }: TodoTarget): string =>
    `${readableSql('a', VIEWER)} as is_readable, ${bytes} as bytes`;
  const target = noteableOfAnyKindSql(targets, TARGET, columns);
  return `join lateral ${target} target on true
      left join notes n on n.id = t.note_id`;
}

const COLUMNS = `t.id, t.author_id, t.action, t.target_type, t.target_id, t.note_id, t.state, t.created_at, t.updated_at,
      a.project_id, a.group_id, a.name, a.path, a.full_path, a.name_with_namespace, a.description,
      a.created_at as project_created_at, a.parent_id, a.avatar_url, a.traversal_ids, a.reads_internal,
      target.bytes + coalesce(octet_length(n.body), 0) as bytes`;

/**
 * To-dos that a statement reads. Few users have to-dos of groups, and planning the joins for them costs as much as a page of
 * all others.
 */
type TodoScope = 'ofProjects' | 'all';

/**
 * SQL for to-dos about certain kinds. `from` joins the columns that the visibility condition needs; `jsonJoins` adds those
 * of the JSON answer.
 */
interface ScopeSql {
  readonly kinds: readonly NoteableKind[];
  readonly from: string;
  readonly jsonJoins: string;
}

/**
 * Hand-written statements on to-dos; the list is the measured read R3. The page is cut before its JSON is built. Visibility
 * is decided at each read, once for each project. Source: docs/performance.md 2, 5.1-5.3, 5.7, 5.18; ADR 0080.
 */
export class TodoStatements {
  private readonly kept = new CachedStatements();
  private readonly shape: ShapeSql;
  private readonly scopes: Readonly<Record<TodoScope, ScopeSql>>;
  readonly one: DeclaredStatement<ViewerParams & { readonly todo: number }, { readonly json: string }>;

  constructor(kinds: NoteableKinds, externalUrl: string) {
    const all = kinds.withAbility('todos');
    this.shape = todoShape.toSql({ externalUrl });
    const project = { fullPath: 't.full_path', above: 't.traversal_ids' };
    const sql = { externalUrl, ...project, readsInternal: 't.reads_internal', person, viewer: VIEWER };
    const ofProjects = all.filter(createParentTypePredicate('project'));
    this.scopes = {
      ofProjects: createTodoScopeSql(
        ofProjects,
        todoTargets(ofProjects).filter(createParentTypePredicate('project')),
        PROJECT_ACCESS,
        sql,
      ),
      all: createTodoScopeSql(all, todoTargets(all), ACCESS, sql),
    };
    const detailed = todoJsonJoinsSql(todoTargets(all), sql, 'detailed');
    const oneSql = `select ${todoDetailShape.toSql({ externalUrl }).sql} as json from (select ${COLUMNS} from ${this.scopes.all.from}
         where t.id = :todo::bigint and t.user_id = ${VIEWER} and ${VISIBLE}) t
       ${detailed}`;
    this.one = statement('todos_one', () => oneSql);
  }

  /**
   * Returns the statement of a page. Lists without filters are kept prepared. If the scope `ofProjects` does not
   * suffice, the page is empty and `is_partial` is true.
   */
  pageStatement(scope: TodoScope, wanted: TodoFilter, page: PageRequest, values: ViewerParams): Statement<TodoPageRow> {
    const { state, ...others } = wanted;
    const isPlain = isUsualPage(page) && Object.values(others).every((value) => value === undefined);
    const name = isPlain ? `todos_page_${scope}_${state}_${page.perPage}` : null;
    return this.kept.findOrCompose(name, values, () => this.todoPageSql(scope, wanted, page, values));
  }

  /**
   * Builds the statement of a page. It returns one row: the position of the directory's copy, the state of the caller, the
   * count and the page. The count stops past COUNT_LIMIT. In projects in which the caller reads everything the count uses
   * an index only; in others it checks single to-dos.
   */
  private todoPageSql(scope: TodoScope, wanted: TodoFilter, page: PageRequest, values: ViewerParams): SqlDraft {
    const { kinds, from, jsonJoins: joins } = this.scopes[scope];
    const list = new ListQuery<never>({
      name: 'todos',
      from: 'todos t',
      carries: COLUMNS,
      joins,
      bytes: 't.bytes',
      values,
    })
      .fromSource({ from })
      .where(`t.user_id = ${VIEWER} and t.state = '${wanted.state}'`)
      .narrow(FILTERS, wanted);
    const counted = countVisibleTodosSql(kinds, list.conditionSql, scope);
    const hasOfGroups = `exists (select 1 from todos other where other.user_id = ${VIEWER} and other.state = '${wanted.state}'
      and other.project_id is null)`;
    if (scope === 'ofProjects') list.where(`not ${hasOfGroups}`);
    // Ordering by id alone would let the planner scan the to-dos of all users for the newest ones of one user.
    return list
      .where(VISIBLE)
      .orderBy([['t.created_at', 'desc']])
      .jsonSql(page, {
        rows: (...rows) => jsonArraySql(this.shape, ...rows),
        counted,
        extraColumns: `state.version, state.epoch, ${scope === 'ofProjects' ? hasOfGroups : 'false'} as is_partial,
          (select u.state from directory_users u where u.id = ${VIEWER}) as viewer_state`,
        from: 'from directory_state state',
      });
  }
}

function createTodoScopeSql(
  kinds: readonly NoteableKind[],
  targets: readonly TodoTarget[],
  access: string,
  sql: PersonalDetailSql,
): ScopeSql {
  const from = `todos t
      join lateral (${access}) a on true
      ${targetJoinsSql(targets)}`;
  return { kinds, from, jsonJoins: todoJsonJoinsSql(targets, sql, 'listed') };
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

/** Joins for the JSON of a to-do. */
function todoJsonJoinsSql(
  targets: readonly TodoTarget[],
  sql: PersonalDetailSql,
  shape: 'listed' | 'detailed',
): string {
  const columns = (target: TodoTarget): string =>
    `${target.jsonSql(sql, shape)} as json, ${target.pathSql('t.full_path')} as path, ${target.titleSql('t.full_path')} as title`;
  return `join lateral ${noteableOfAnyKindSql(targets, TARGET, columns)} target on true left join notes n on n.id = t.note_id
        left join directory_users author on author.id = t.author_id`;
}

/**
 * SQL expression for the number of to-dos that the viewer may see; it stops past COUNT_LIMIT. It uses the parameters of
 * `ViewerParams`. `wanted` is a condition on `t`.
 */
export function countVisibleTodosSql(kinds: readonly NoteableKind[], wanted: string, scope: TodoScope = 'all'): string {
  const targets = todoTargets(kinds);
  const [ofProjects, ofGroups] = [
    targets.filter(createParentTypePredicate('project')),
    targets.filter(createParentTypePredicate('group')),
  ];
  // To-dos of groups are few and have their own index; they are checked one by one.
  const inGroups =
    scope === 'ofProjects'
      ? '0'
      : `(select count(*) from (select 1 from todos t
            join lateral ${groupAccessRowSql('t.group_id', person, 'any')} a on true ${targetJoinsSql(ofGroups)}
            where ${wanted} and t.project_id is null and ${VISIBLE} limit ${COUNT_LIMIT + 1}) seen)`;
  return `(select coalesce(sum(case when mine.project_id is null then ${inGroups} when a.project_id is null then 0
          when ${canReadAllNoteablesSql(kinds.filter(createParentTypePredicate('project')), 'a')} then mine.count else (
          select count(*) from (select 1 from todos t ${targetJoinsSql(ofProjects)}
            where ${wanted} and t.project_id = mine.project_id and ${VISIBLE} limit ${COUNT_LIMIT + 1}) seen) end), 0)::integer
        from (select t.project_id, count(*) as count from (select t.project_id from todos t where ${wanted}
          limit ${COUNT_LIMIT + 1}) t group by t.project_id) mine
        left join lateral ${projectAccessRowSql('mine.project_id', person)} a on true)`;
}

function createParentTypePredicate(parent: NoteableKind['parent']): (one: Pick<NoteableKind, 'parent'>) => boolean {
  return (one) => one.parent === parent;
}
