import { statement } from '@rookery/persistence';
import type { SqlReader, Tx } from '@rookery/persistence';
import { nameKeyOf } from '../package-types';
import type { PackageNameKey } from './package-index';

/** A tag as lists of packages show it. */
export interface PackageTagRow {
  readonly id: number;
  readonly package_id: number;
  readonly name: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const SET = statement<{ package: number; project: number; type: string; key: string; name: string; now: Date }, never>(
  'package_tags_set',
  `insert into package_tags (package_id, project_id, package_type, name_key, name, created_at, updated_at)
   values (:package::bigint, :project::bigint, :type, :key, :name, :now::timestamptz, :now::timestamptz)
   on conflict (project_id, package_type, name_key, name) do update
     set package_id = :package::bigint, updated_at = :now::timestamptz`,
);
const REMOVE = statement<{ project: number; type: string; key: string; name: string }, { id: number }>(
  'package_tags_remove',
  `delete from package_tags
   where project_id = :project::bigint and package_type = :type and name_key = :key and name = :name returning id`,
);
const OF_PACKAGES = statement<{ packages: readonly number[] }, PackageTagRow>(
  'package_tags_of_packages',
  `select id, package_id, name, created_at, updated_at from package_tags
   where package_id = any(:packages::bigint[]) order by name, id`,
);

/** Lets a tag name a package. A tag of the same name moves. */
export async function setTag(tx: Tx, named: PackageNameKey, tag: string, packageId: number, now: Date): Promise<void> {
  const { projectId: project, type, name } = named;
  await tx.run(SET, { package: packageId, project, type, key: nameKeyOf(type, name), name: tag, now });
}

/** Returns whether there was such a tag. */
export async function removeTag(tx: Tx, { projectId, type, name }: PackageNameKey, tag: string): Promise<boolean> {
  const key = { project: projectId, type, key: nameKeyOf(type, name), name: tag };
  return (await tx.run(REMOVE, key)).length > 0;
}

/** Maps the ids of packages to their tags, ordered by name. Packages without tags are missing. */
export async function tagsOfPackages(
  reads: SqlReader,
  packages: readonly number[],
): Promise<ReadonlyMap<number, readonly PackageTagRow[]>> {
  const found = new Map<number, PackageTagRow[]>();
  if (packages.length === 0) return found;
  for (const tag of await reads.run(OF_PACKAGES, { packages })) {
    const known = found.get(tag.package_id);
    if (known) known.push(tag);
    else found.set(tag.package_id, [tag]);
  }
  return found;
}
