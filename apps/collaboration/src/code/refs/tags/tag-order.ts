import { coerce, compare, parse } from 'semver';
import type { SemVer } from 'semver';
import type { ListedRef } from '../listing/ref-page';

const SHORT_VERSION = /^v?\d+(?:\.\d+)?$/i;

/**
 * Orders tags by semantic version, whether or not it begins with `v`. Tags without a version are last in both
 * directions, by name. Source: reference repositories 5.2.
 */
export function sortTagsByVersion(refs: readonly ListedRef[], sort: 'asc' | 'desc'): ListedRef[] {
  const versions = new Map(refs.map((ref) => [ref, parseTagNameAsVersion(ref.shortName)]));
  const sign = sort === 'asc' ? 1 : -1;
  return [...refs].sort((a, b) => {
    const [left, right] = [versions.get(a) ?? null, versions.get(b) ?? null];
    if (left === null || right === null) {
      if (left === right) return compareTagNames(a, b);
      return left === null ? 1 : -1;
    }
    return sign * (compare(left, right) || compareTagNames(a, b));
  });
}

function parseTagNameAsVersion(name: string): SemVer | null {
  return parse(name.replace(/^V/, 'v'), { loose: true }) ?? (SHORT_VERSION.test(name) ? coerce(name) : null);
}

function compareTagNames(a: ListedRef, b: ListedRef): number {
  return a.shortName < b.shortName ? -1 : 1;
}
