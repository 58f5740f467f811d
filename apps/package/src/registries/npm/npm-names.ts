import { parse, validRange } from 'semver';

/** Name of a package, with or without a scope. Source: reference packages-and-admin 4.4. */
const NAME = /^(?:@[A-Za-z0-9_][A-Za-z0-9_.-]*\/)?[-+._A-Za-z0-9]+$/;
/** The part of a name behind its scope may not be a step in a path or a word of the routes. */
const RESERVED = /(?:^|\/)(?:-|-rev|\.+)$|\.\./;
const MAX_LENGTH = 255;

export function isNpmPackageName(name: string): boolean {
  return name.length <= MAX_LENGTH && NAME.test(name) && !RESERVED.test(name);
}

/** Whether a text is a version in its one form: without `v`, with all three numbers. */
export function isNormalizedNpmVersion(text: string): boolean {
  const found = parse(text);
  if (found === null || text.length > MAX_LENGTH) return false;
  return text === (found.build.length === 0 ? found.version : `${found.version}+${found.build.join('.')}`);
}

/** Whether a text may be a tag. npm takes a text that is a range of versions for that. */
export function isNpmTagName(text: string): boolean {
  return text.length <= MAX_LENGTH && text.trim() !== '' && !/\p{Cc}/u.test(text) && validRange(text) === null;
}

/** The version without build metadata, which npm ignores when it compares. */
export function stripBuildMetadata(version: string): string {
  return version.split('+', 1)[0]!;
}

/** `name` of `@scope/name`. */
export function stripNpmScope(name: string): string {
  return name.slice(name.indexOf('/') + 1);
}

/** `scope` of `@scope/name`; null without one. */
export function parseNpmScope(name: string): string | null {
  return name.startsWith('@') && name.includes('/') ? name.slice(1, name.indexOf('/')) : null;
}

/** Name under which a tarball is stored and listed. Packages without a scope have the same name in URLs. */
export function renderNpmTarballName(name: string, version: string): string {
  return `${name}-${version}.tgz`;
}

/**
 * Returns the version that a tarball's name in a URL means; null for another file. The name may have the scope of the
 * package, and build metadata may be missing.
 */
export function parseNpmTarballVersion(name: string, file: string): string | null {
  const start = `${stripNpmScope(name)}-`;
  const base = file.startsWith(`${name}-`) ? file.slice(file.indexOf('/') + 1) : file;
  if (!base.startsWith(start) || !base.endsWith('.tgz')) return null;
  return base.slice(start.length, -'.tgz'.length);
}

/** Resource that a path below the prefix of a registry names. */
export type NpmTarget =
  | { readonly kind: 'package'; readonly name: string }
  | { readonly kind: 'version'; readonly name: string; readonly versionOrTag: string };

/** Reads `name`, `@scope/name`, `name/version` or `@scope/name/version`; null for another path. */
export function parseNpmTarget(path: string): NpmTarget | null {
  const segments = path.split('/');
  const length = path.startsWith('@') ? 2 : 1;
  const name = segments.slice(0, length).join('/');
  if (segments[0] === '-' || segments.length < length) return null;
  if (segments.length === length) return { kind: 'package', name };
  return segments.length === length + 1 ? { kind: 'version', name, versionOrTag: segments[length]! } : null;
}
