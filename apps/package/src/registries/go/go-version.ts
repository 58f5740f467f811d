import { compare, parse, prerelease } from 'semver';
import type { GoModule } from './go-module';

/** A version of a tag. `tag` is the tag without its folder; `text` has `+incompatible` where that applies. */
export interface GoTagVersion {
  readonly text: string;
  readonly tag: string;
  readonly major: number;
  readonly isIncompatible: boolean;
}

/**
 * A version that names a commit. `base` is the version of the preceding tag, or null without one. `time` is a result of
 * `renderPseudoVersionTime`.
 */
export interface GoPseudoVersion {
  readonly text: string;
  readonly major: number;
  readonly base: string | null;
  readonly time: string;
  /** The first 12 digits of the commit. */
  readonly rev: string;
}

const CANONICAL = /^v(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?$/;
const PSEUDO = /^v(\d+)\.(\d+)\.(\d+)-(?:(?:([0-9A-Za-z.-]+)\.)?(0)\.)?(\d{14})-([0-9a-f]{12})$/;
const INCOMPATIBLE = '+incompatible';

/** Whether the paths of a module may have versions of this major version. */
export function canGoModuleHaveMajor({ major }: Pick<GoModule, 'major'>, majorVersion: number): boolean {
  return major === null ? majorVersion < 2 : majorVersion === major;
}

/** Reads a version that a tag may have. Returns null for another text, and for a version that names a commit. */
export function parseTagVersion(text: string): GoTagVersion | null {
  const isIncompatible = text.endsWith(INCOMPATIBLE);
  const tag = isIncompatible ? text.slice(0, -INCOMPATIBLE.length) : text;
  const [, major] = CANONICAL.exec(tag) ?? [];
  if (major === undefined || parse(tag)?.version !== tag.slice(1) || PSEUDO.test(tag)) return null;
  return { text, tag, major: Number(major), isIncompatible };
}

/** Reads a version that names a commit. Returns null for another text. */
export function parsePseudoVersion(text: string): GoPseudoVersion | null {
  const [, major, minor, patch, label, zero, time, rev] = PSEUDO.exec(text) ?? [];
  if (rev === undefined || parse(text)?.version !== text.slice(1)) return null;
  const common = { text, major: Number(major), time: time!, rev };
  if (zero === undefined) return minor === '0' && patch === '0' ? { ...common, base: null } : null;
  if (label !== undefined) return { ...common, base: `v${major}.${minor}.${patch}-${label}` };
  return patch === '0' ? null : { ...common, base: `v${major}.${minor}.${Number(patch) - 1}` };
}

/** Returns the version that names a commit. `base` is the highest version before it, or null without one. */
export function createPseudoVersion(
  { major }: Pick<GoModule, 'major'>,
  base: string | null,
  commit: { readonly id: string; readonly committed_at: string },
): string {
  const end = `${renderPseudoVersionTime(commit.committed_at)}-${commit.id.slice(0, 12)}`;
  if (base === null) return `v${major ?? 0}.0.0-${end}`;
  if (prerelease(base) !== null) return `${base}.0.${end}`;
  const [, first, second, third] = CANONICAL.exec(base)!;
  return `v${first}.${second}.${Number(third) + 1}-0.${end}`;
}

/** Renders a time as `yyyymmddhhmmss` in UTC. Units: seconds. */
export function renderPseudoVersionTime(iso: string): string {
  return new Date(iso).toISOString().slice(0, 19).replace(/[-T:]/g, '');
}

/** Returns the highest release, or else the highest prerelease; null without versions. */
export function findLatestGoVersion(versions: readonly string[]): string | null {
  const releases = versions.filter((version) => prerelease(version) === null);
  return findHighestGoVersion(releases.length > 0 ? releases : versions);
}

/** Returns the highest version; null without versions. */
export function findHighestGoVersion(versions: readonly string[]): string | null {
  return [...versions].sort(compare).at(-1) ?? null;
}
