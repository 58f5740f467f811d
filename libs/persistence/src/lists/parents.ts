import type { Condition } from '../sql/conditions';

/** The project or group that contains a resource: the scope of a request has this form. */
export type Parent =
  | { readonly kind: 'project'; readonly id: number; readonly namespace: { readonly traversalIds: readonly number[] } }
  | { readonly kind: 'group'; readonly id: number; readonly traversalIds: readonly number[] };
/** A parent, or its id if there is only one kind of parent. */
export type Within = number | Parent;

/** Declaration of a resource that belongs to projects or to groups. */
export interface Parents<P extends string = string> {
  /** Properties that hold the parent's id. */
  readonly project: P;
  readonly group: P;
  /** The kinds of parents that also show the rows of the groups above them. */
  readonly inherit?: readonly Parent['kind'][];
  /** The error for changing an inherited row through the lower parent. Default: NotFound. */
  readonly refuse?: (verb: 'update' | 'delete') => Error;
}

type DeclaredParent = string | Parents | undefined;

/**
 * The property and id that put a row into its parent, or none for a collection without parents.
 * Errors: a plain Error for a scoped collection without its parent, which would show rows of other parents.
 */
export function parentIdByProperty(
  declared: DeclaredParent,
  within: Within | undefined,
  name: string,
): Readonly<Record<string, number>> {
  if ((declared === undefined) !== (within === undefined)) {
    throw new Error(`${name} is ${declared === undefined ? 'not ' : ''}kept within a parent`);
  }
  if (declared === undefined || within === undefined) return {};
  if (typeof declared === 'string') return { [declared]: typeof within === 'number' ? within : within.id };
  if (typeof within === 'number') throw new Error(`${name} is kept within projects and groups, not within a number`);
  return { [declared[within.kind]]: within.id };
}

/** The property that holds the ids of parents of a kind. Errors: a plain Error for a collection without parents. */
export function findParentProperty(declared: DeclaredParent, kind: Parent['kind'], name: string): string {
  if (declared === undefined) throw new Error(`${name} is not kept within a parent`);
  return typeof declared === 'string' ? declared : declared[kind];
}

/**
 * The name of the counter that numbers the rows of a parent. Projects and groups have one each: their ids may be equal.
 */
export function counterNameOf(declared: DeclaredParent, kind: Parent['kind'] | null, table: string): string {
  return typeof declared === 'object' && kind !== null ? `${kind}_${table}` : table;
}

/** The condition for the rows that a parent shows; just `own` if it inherits nothing. */
export function shownByParentCondition(
  declared: DeclaredParent,
  within: Within | undefined,
  own: string,
  column: (property: string) => string,
): Condition {
  if (typeof declared !== 'object' || typeof within !== 'object' || !declared.inherit?.includes(within.kind))
    return own;
  const above = within.kind === 'project' ? within.namespace.traversalIds : within.traversalIds;
  return (bind) => `(${own} or ${column(declared.group)} = any(${bind(above, 'groups')}::bigint[]))`;
}
