import type { NoteableType } from '@rookery/contracts';

/** SQL expressions that a visibility rule is built from: parameters such as `$3`, or columns of a longer list. */
export interface ReaderSql {
  /** User id, null for an anonymous caller. */
  readonly viewer: string;
  readonly isMember: string;
  readonly readsConfidential: string;
}

/** Things that can be talked about: one row a kind. Source: reference work-tracking 2.1, 2.4. */
export interface NoteableKind {
  readonly type: NoteableType;
  /** As a refusal names it: "404 Issue Not Found". */
  readonly resource: string;
  readonly table: string;
  /** Column that the path names the thing by. */
  readonly pathColumn: 'id' | 'iid';
  readonly iidColumn: 'iid' | null;
  readonly allowsInternal: boolean;
  /** Boolean SQL: may the reader know of the row? Shape: `row` is the alias of the kind's table. */
  visibleSql(row: string, reader: ReaderSql): string;
}

export const ISSUE: NoteableKind = {
  type: 'Issue',
  resource: 'Issue',
  table: 'issues',
  pathColumn: 'iid',
  iidColumn: 'iid',
  allowsInternal: true,
  visibleSql: visibleIssueSql,
};

/**
 * Confidential issues are known to those who read them by role, to their author while he has a role, and to assignees.
 * `in` and not `exists`: PostgreSQL would gather everything that a person is assigned to in any project.
 * Source: reference work-tracking 9.1.
 */
export function visibleIssueSql(issue: string, reader: ReaderSql): string {
  return `(not ${issue}.confidential or ${reader.readsConfidential}
    or (${issue}.author_id = ${reader.viewer} and ${reader.isMember})
    or ${reader.viewer} in (select seen.user_id from issue_assignees seen where seen.issue_id = ${issue}.id))`;
}
