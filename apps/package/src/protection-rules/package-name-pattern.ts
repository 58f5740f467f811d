import { lengthProblems, matchesWildcard } from '@rookery/kernel';

/**
 * Patterns of package names. `*` matches any run of characters, including `/` and the empty one; all other characters
 * match themselves. A match covers the whole name and ignores case. Source: reference packages-and-admin 5.
 */

/** Package types that rules support. */
export const PROTECTED_PACKAGE_TYPES = [
  'npm',
  'pypi',
  'conan',
  'maven',
  'generic',
  'nuget',
  'helm',
  'terraform_module',
] as const;
export type ProtectedPackageType = (typeof PROTECTED_PACKAGE_TYPES)[number];

const NPM_SCOPE = /^[a-z0-9_.](?:[a-z0-9_.-]*[a-z0-9_-])?$/i;
const NPM_NAME = /^[a-z0-9._+*-]+$/i;
const PYPI_NAME = /^[a-z0-9*](?:[a-z0-9._*-]*[a-z0-9*])?$/i;

/**
 * Returns the problem of a pattern for this package type, as an API error message. Returns null for a valid pattern.
 */
export function findPackageNamePatternProblem(type: ProtectedPackageType, pattern: string): string | null {
  if (pattern.trim() === '') return "Package name pattern can't be blank";
  const [tooLong] = lengthProblems(pattern, 255);
  if (tooLong !== undefined) return `Package name pattern ${tooLong}`;
  if (type === 'npm' && !isValidNpmNamePattern(pattern))
    return 'Package name pattern should be a valid NPM package name with optional wildcard characters.';
  if (type === 'pypi' && !PYPI_NAME.test(pattern))
    return 'Package name pattern should be a valid PyPI package name with optional wildcard characters.';
  return null;
}

function isValidNpmNamePattern(pattern: string): boolean {
  if (!pattern.startsWith('@')) return NPM_NAME.test(pattern);
  const slash = pattern.indexOf('/');
  return slash > 1 && NPM_SCOPE.test(pattern.slice(1, slash)) && NPM_NAME.test(pattern.slice(slash + 1));
}

/** Whether a pattern matches a name of a package of this type. Patterns for PyPI are normalized as names are. */
export function matchesPackageNamePattern(pattern: string, name: string, type: string): boolean {
  const comparable = type === 'pypi' ? normalizedPypiName : (text: string) => text.toLowerCase();
  return name !== '' && matchesWildcard(comparable(pattern), comparable(name));
}

/** Form of a PyPI name by which names are equal: lower case, each run of `-`, `_` and `.` is one `-` (PEP 503). */
export function normalizedPypiName(name: string): string {
  return name.replace(/[-_.]+/g, '-').toLowerCase();
}
