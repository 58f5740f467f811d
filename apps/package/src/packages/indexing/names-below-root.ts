import type { ProjectScope } from '@rookery/api-v4';
import { statement } from '@rookery/persistence';
import type { SqlReader, Tx } from '@rookery/persistence';
import { nameKeyOf } from '../package-types';
import type { PackageType } from '../package-types';

/** A name, or a version of it, that one project alone may have below its top-level namespace. */
export interface PackageNameBelowRoot {
  readonly project: ProjectScope;
  readonly type: PackageType;
  readonly name: string;
  /** Absent: any version. */
  readonly version?: string;
}

const LOCK = statement<{ key: string }, never>(
  'package_names_lock_below_root',
  `select pg_advisory_xact_lock(hashtextextended(:key, 0))`,
);
const IN_OTHER_PROJECT = statement<
  { project: number; root: number; type: string; name: string; version: string | null },
  { id: number }
>(
  'package_names_in_other_project',
  `select p.id from package_indexes i
   join directory_projects project on project.id = i.project_id
   join directory_namespaces home on home.id = project.namespace_id and home.traversal_ids[1] = :root::bigint
   join packages p on p.project_id = i.project_id and p.package_type = i.package_type and p.name_key = i.name_key
     and (:version::text is null or coalesce(p.version, '') = :version) and p.status <> 'pending_destruction'
   where i.package_type = :type and i.name_key = :name and i.project_id <> :project::bigint limit 1`,
);

/** Lets publications of a name follow each other until the commit, so that two projects cannot both begin it. */
export async function lockPackageNameBelowRoot(tx: Tx, { project, type, name }: PackageNameBelowRoot): Promise<void> {
  await tx.run(LOCK, { key: `${type} ${rootNamespaceId(project)} ${nameKeyOf(type, name)}` });
}

/** Whether another project below the same top-level namespace has the name. */
export async function isPackageInOtherProject(
  reads: SqlReader,
  { project, type, name, version }: PackageNameBelowRoot,
): Promise<boolean> {
  const asked = { project: project.id, root: rootNamespaceId(project), type, name: nameKeyOf(type, name) };
  return (await reads.run(IN_OTHER_PROJECT, { ...asked, version: version ?? null })).length > 0;
}

function rootNamespaceId({ namespace }: ProjectScope): number {
  return namespace.traversalIds[0]!;
}
