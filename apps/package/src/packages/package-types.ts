import { normalizedPypiName } from '../protection-rules/package-name-pattern';

/**
 * Types and statuses of packages. Source: reference packages-and-admin 3.3.
 */

/** In the order that `order_by=type` sorts by. */
export const PACKAGE_TYPES = [
  'maven',
  'npm',
  'conan',
  'nuget',
  'pypi',
  'composer',
  'generic',
  'golang',
  'debian',
  'rubygems',
  'helm',
  'terraform_module',
  'rpm',
  'ml_model',
] as const;
export type PackageType = (typeof PACKAGE_TYPES)[number];

/** Groups do not list Terraform modules. */
export type GroupPackageType = Exclude<PackageType, 'terraform_module'>;
export const GROUP_PACKAGE_TYPES = PACKAGE_TYPES.filter(
  (type): type is GroupPackageType => type !== 'terraform_module',
);

export const PACKAGE_STATUSES = [
  'default',
  'hidden',
  'processing',
  'error',
  'pending_destruction',
  'deprecated',
] as const;
export type PackageStatus = (typeof PACKAGE_STATUSES)[number];

/** Statuses that a list shows unless it is asked for another one. */
export const LISTED_STATUSES: readonly PackageStatus[] = ['default', 'deprecated', 'error'];
/** Statuses of a package that the API shows on its own. */
export const SHOWN_STATUSES: readonly PackageStatus[] = ['default', 'deprecated'];
/** Statuses whose files package managers can download. */
export const INSTALLABLE_STATUSES: readonly PackageStatus[] = ['default', 'hidden', 'deprecated'];

/**
 * Returns the form of a name by which packages of a type are equal. PyPI ignores case and runs of `-`, `_` and `.`;
 * NuGet ignores case.
 */
export function nameKeyOf(type: PackageType, name: string): string {
  if (type === 'pypi') return normalizedPypiName(name);
  return type === 'nuget' ? name.toLowerCase() : name;
}

/** A list of SQL literals. For values of this file only. */
export function literalListSql(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(', ');
}
