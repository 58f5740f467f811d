import type { ImportedKind, UnimportedObject } from '@rookery/contracts';
import { Invalid } from '@rookery/kernel';
import { statement } from '@rookery/persistence';
import type { Database, Tx } from '@rookery/persistence';

/** Kinds of objects that are found by their upstream ids. The others are found by their names. */
type IdMappedKind = Exclude<ImportedKind, 'label' | 'protected_branch'>;

/** An object that passed the checks. `index` is its place in the request. */
export interface CheckedObject<T> {
  readonly index: number;
  readonly object: T;
}

export interface CheckedObjects<T> {
  readonly valid: readonly CheckedObject<T>[];
  readonly failed: readonly UnimportedObject[];
}

interface MappingParams {
  readonly project: number;
  readonly kind: IdMappedKind;
}

const FIND = statement<MappingParams & { ids: readonly number[] }, { upstream_id: number; object_id: number }>(
  'imported_objects_find',
  `select upstream_id, object_id from imported_objects
   where project_id = :project::bigint and kind = :kind and upstream_id = any(:ids::bigint[])`,
);
const ADD = statement<MappingParams & { ids: readonly number[]; objects: readonly number[] }, never>(
  'imported_objects_add',
  `insert into imported_objects (project_id, kind, upstream_id, object_id)
   select :project::bigint, :kind, o.upstream_id, o.object_id
   from unnest(:ids::bigint[], :objects::bigint[]) as o (upstream_id, object_id)`,
);

/** Returns the local ids of imported objects by their upstream ids. */
export async function findImportedObjectIds(
  tx: Pick<Tx | Database, 'run'>,
  of: MappingParams,
  ids: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const rows = await tx.run(FIND, { ...of, ids });
  return new Map(rows.map((row) => [row.upstream_id, row.object_id]));
}

/** Stores the upstream ids of new objects. */
export async function addImportedObjects(
  tx: Tx,
  of: MappingParams,
  added: readonly { readonly upstreamId: number; readonly id: number }[],
): Promise<void> {
  const objects = added.map(({ id }) => id);
  await tx.run(ADD, { ...of, ids: added.map(({ upstreamId }) => upstreamId), objects });
}

/**
 * Leaves out objects that were imported before, and repetitions of one upstream object in the request, of which the first
 * counts.
 */
export async function omitAlreadyImportedObjects<T>(
  tx: Tx,
  of: MappingParams,
  objects: readonly CheckedObject<T>[],
  idOf: (object: T) => number,
): Promise<readonly CheckedObject<T>[]> {
  const known = new Set(
    (
      await findImportedObjectIds(
        tx,
        of,
        objects.map(({ object }) => idOf(object)),
      )
    ).keys(),
  );
  return objects.filter(({ object }) => {
    const id = idOf(object);
    return known.has(id) ? false : known.add(id);
  });
}

/** Converts each object, and collects those that break a rule. */
export function checkImportObjects<T, R>(objects: readonly T[], check: (object: T) => R): CheckedObjects<R> {
  const valid: CheckedObject<R>[] = [];
  const failed: UnimportedObject[] = [];
  objects.forEach((object, index) => {
    try {
      valid.push({ index, object: check(object) });
    } catch (error) {
      if (!(error instanceof Invalid)) throw error;
      failed.push({ index, message: renderFieldProblemsAsSentence(error.fields) });
    }
  });
  return { valid, failed };
}

function renderFieldProblemsAsSentence(problems: Invalid['fields']): string {
  const texts = Object.entries(problems).flatMap(([field, list]) => list.map((text) => `${field} ${text}`));
  return `${texts.join(', ')}.`.replace(/^./, (letter) => letter.toUpperCase());
}
