import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { nameKeyOf } from '../package-types';
import type { PackageType } from '../package-types';

/** A package name of a project, over all versions. */
export interface PackageNameKey {
  readonly projectId: number;
  readonly type: PackageType;
  readonly name: string;
}

type IndexKeyParams = { readonly project: number; readonly type: string; readonly key: string; readonly now: Date };

/** The row lock lasts until the commit, so changes of one name follow each other. */
const RAISE = statement<IndexKeyParams, { generation: number }>(
  'package_indexes_raise',
  `insert into package_indexes (project_id, package_type, name_key, changed_at)
   values (:project::bigint, :type, :key, :now::timestamptz)
   on conflict (project_id, package_type, name_key) do update
     set generation = package_indexes.generation + 1, changed_at = :now::timestamptz
   returning generation`,
);
const RAISE_EXISTING = statement<IndexKeyParams, never>(
  'package_indexes_raise_existing',
  `update package_indexes set generation = generation + 1, changed_at = :now::timestamptz
   where package_type = :type and name_key = :key and project_id = :project::bigint`,
);

/**
 * Raises the generation of a name and locks it until the commit. Formats with documents call it first in every
 * transaction that changes what the documents show. Returns the new generation.
 */
export async function raisePackageIndexGeneration(tx: Tx, named: PackageNameKey, now: Date): Promise<number> {
  const [row] = await tx.run(RAISE, toIndexKeyParams(named, now));
  return row!.generation;
}

/** Raises the generation of a name of any format. Has no effect for formats without documents. */
export async function raiseExistingPackageIndexGeneration(tx: Tx, named: PackageNameKey, now: Date): Promise<void> {
  await tx.run(RAISE_EXISTING, toIndexKeyParams(named, now));
}

function toIndexKeyParams({ projectId: project, type, name }: PackageNameKey, now: Date): IndexKeyParams {
  return { project, type, key: nameKeyOf(type, name), now };
}
