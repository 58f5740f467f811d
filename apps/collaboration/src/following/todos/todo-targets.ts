import { noteablePagePathSql, canReadNoteableRowSql } from '../../base/noteables/noteable-kinds';
import type { PersonalDetailSql, NoteableKind } from '../../base/noteables/noteable-kinds';
import { placeTargetShapes } from './todo.shape';

/**
 * Targets of to-dos of one type, as SQL over the row `i` of `table`. `titleSql` is the body of a to-do without a note.
 * `pathSql` is the path of the target's page below the base URL. Both require the full path of the project or group.
 */
export interface TodoTarget {
  readonly type: string;
  readonly table: string;
  readonly parent: 'project' | 'group';
  /** Whether a user with the access `access` may see the target. */
  readableSql(access: string, viewer: string): string;
  /** Size of its texts. Units: bytes. */
  readonly bytes: string;
  titleSql(fullPath: string): string;
  pathSql(fullPath: string): string;
  jsonSql(sql: PersonalDetailSql, shape: 'listed' | 'detailed'): string;
}

function createTodoTarget(kind: NoteableKind): TodoTarget {
  return {
    type: kind.type,
    table: kind.table,
    parent: kind.parent,
    readableSql: (access, viewer) => canReadNoteableRowSql(kind, access, viewer),
    bytes: kind.listedBytes,
    titleSql: () => 'i.title',
    pathSql: (fullPath) => noteablePagePathSql(kind, fullPath),
    jsonSql: (sql, shape) => kind[shape].toSql(sql).sql,
  };
}

/** Projects and groups are targets of access requests. Only members see them. */
const PLACES: readonly TodoTarget[] = [
  {
    type: 'Project',
    table: 'directory_projects',
    parent: 'project',
    readableSql: (access) => `${access}.is_member`,
    bytes: '0',
    titleSql: (fullPath) => fullPath,
    pathSql: (fullPath) => `${fullPath} || '/-/project_members?tab=access_requests'`,
    jsonSql: (sql) => placeTargetShapes.Project.toSql(sql).sql,
  },
  {
    type: 'Namespace',
    table: 'directory_namespaces',
    parent: 'group',
    readableSql: (access) => `${access}.is_member`,
    bytes: '0',
    titleSql: (fullPath) => fullPath,
    pathSql: (fullPath) => `'groups/' || ${fullPath} || '/-/group_members?tab=access_requests'`,
    jsonSql: (sql) => placeTargetShapes.Namespace.toSql(sql).sql,
  },
];

/** Targets of all to-dos: noteables of these kinds, projects and groups. */
export function todoTargets(kinds: readonly NoteableKind[]): readonly TodoTarget[] {
  return [...kinds.map(createTodoTarget), ...PLACES];
}
