import type { Condition } from '../sql/conditions';

/** The project or group that a thing lies in: the scope of a request has this form. */
export type Parent =
  | { readonly kind: 'project'; readonly id: number; readonly namespace: { readonly traversalIds: readonly number[] } }
  | { readonly kind: 'group'; readonly id: number; readonly traversalIds: readonly number[] };
/** A parent, or its id where there is one kind of parent only. */
export type Within = number | Parent;

/** Things that lie in projects and in groups. */
export interface Parents<P extends string = string> {
  /** Properties that hold the parent's id. */
  readonly project: P;
  readonly group: P;
  /** Which parents show what the groups above them have as well. */
  readonly inherit?: readonly Parent['kind'][];
  /** What is said to somebody who would change here what belongs to a group above. Default: NotFound. */
  readonly refuse?: (verb: 'update' | 'delete') => Error;
}

type Declared = string | Parents | undefined;

/**
 * The properties that put a row into its parent: one, or none for a collection without parents.
 * Errors: a plain Error for a scoped collection that is used without its parent, or rows of others would show.
 */
export function ownedBy(
  declared: Declared,
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
export function parentOf(declared: Declared, kind: Parent['kind'], name: string): string {
  if (declared === undefined) throw new Error(`${name} is not kept within a parent`);
  return typeof declared === 'string' ? declared : declared[kind];
}

/** Which counter numbers the rows of a parent. Projects and groups have one each: their ids may be equal. */
export function counterOf(declared: Declared, kind: Parent['kind'] | null, table: string): string {
  return typeof declared === 'object' && kind !== null ? `${kind}_${table}` : table;
}

/** The condition for the rows that a parent shows; `own` alone where it inherits nothing. */
export function isShownBy(
  declared: Declared,
  within: Within | undefined,
  own: string,
  column: (property: string) => string,
): Condition {
  if (typeof declared !== 'object' || typeof within !== 'object' || !declared.inherit?.includes(within.kind))
    return own;
  const above = within.kind === 'project' ? within.namespace.traversalIds : within.traversalIds;
  return (bind) => `(${own} or ${column(declared.group)} = any(${bind(above, 'groups')}::bigint[]))`;
}
