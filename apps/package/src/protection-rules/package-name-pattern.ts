import { lengthProblems, matchesWildcard } from '@rookery/kernel';

/**
 * Patterns of package names: `*` stands for any run of characters, `/` and none at all included; everything else is
 * itself. Matching takes the whole name and ignores case. Source: reference packages-and-admin 5.
 */

/** Kinds of packages that rules exist for. */
export const PROTECTED_PACKAGE_TYPES = ['npm', 'pypi', 'conan', 'maven', 'generic', 'nuget', 'helm'] as const;
export type ProtectedPackageType = (typeof PROTECTED_PACKAGE_TYPES)[number];

const NPM_SCOPE = /^[a-z0-9_.](?:[a-z0-9_.-]*[a-z0-9_-])?$/i;
const NPM_NAME = /^[a-z0-9._+*-]+$/i;
const PYPI_NAME = /^[a-z0-9*](?:[a-z0-9._*-]*[a-z0-9*])?$/i;

/** What is wrong with a pattern for this kind of package, in the words of the API; null when nothing is. */
export function problemOfPattern(type: ProtectedPackageType, pattern: string): string | null {
  if (pattern.trim() === '') return "Package name pattern can't be blank";
  const [tooLong] = lengthProblems(pattern, 255);
  if (tooLong !== undefined) return `Package name pattern ${tooLong}`;
  if (type === 'npm' && !isNpmPattern(pattern))
    return 'Package name pattern should be a valid NPM package name with optional wildcard characters.';
  if (type === 'pypi' && !PYPI_NAME.test(pattern))
    return 'Package name pattern should be a valid PyPI package name with optional wildcard characters.';
  return null;
}

function isNpmPattern(pattern: string): boolean {
  if (!pattern.startsWith('@')) return NPM_NAME.test(pattern);
  const slash = pattern.indexOf('/');
  return slash > 1 && NPM_SCOPE.test(pattern.slice(1, slash)) && NPM_NAME.test(pattern.slice(slash + 1));
}

/** Does a pattern cover a name? */
export function matchesPattern(pattern: string, name: string): boolean {
  return name !== '' && matchesWildcard(pattern.toLowerCase(), name.toLowerCase());
}
