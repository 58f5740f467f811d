import { Refused } from '@rookery/kernel';
import { isNpmPackageName, isNpmTagName, isNormalizedNpmVersion } from '../npm-names';
import type { PublishDocument, StoredTarball } from './document-reader';
import { invalidJsonRefusal } from './document-scanner';
import type { TarballManifest } from './tarball-manifest';

export type Manifest = Readonly<Record<string, unknown>>;

/** A version that a document asks to publish, not checked against its tarball. */
export interface NewNpmVersion {
  readonly name: string;
  readonly version: string;
  readonly tags: readonly string[];
  readonly manifest: Manifest;
  readonly readme: string | null;
}

/** Stored forms of a manifest, as JSON objects. */
export interface StoredManifest {
  readonly manifest: string;
  readonly brief: string;
}

const MAX_MANIFEST_CHARACTERS = 20_000;
/** Maximum length of a field that does not count towards the limit; a longer one is not stored. */
const MAX_FREE_CHARACTERS = 20_000;
const MAX_README_CHARACTERS = 64 * 1024;
const MAX_TAGS = 20;
/** Fields that do not count towards MAX_MANIFEST_CHARACTERS. Source: reference packages-and-admin 4.4. */
const FREE = ['contributors', 'exports'] as const;
/** Fields that answers compute, or that are stored elsewhere. */
const OWN = ['readme', 'readmeFilename', 'licenseText', 'dist', 'deprecated', '_id', '_npmUser', '_attachments'];
/** Fields that an installation needs, in the order of the answer. */
const BRIEF = [
  'name',
  'version',
  'dependencies',
  'optionalDependencies',
  'devDependencies',
  'bundleDependencies',
  'bundledDependencies',
  'peerDependencies',
  'peerDependenciesMeta',
  'bin',
  'directories',
  'engines',
  'os',
  'cpu',
  'libc',
  'funding',
  '_hasShrinkwrap',
  'hasInstallScript',
] as const;

const verbatimRefusal = (text: string): Refused => new Refused(text, { verbatim: true });

/**
 * Reads the version of a publish document. Errors: Refused for a document without a version, with an invalid or another
 * name than `name`, or with a manifest that is too large. Source: reference packages-and-admin 4.4.
 */
export function readSentVersion({ root, manifest }: PublishDocument, name: string): NewNpmVersion {
  const versions = root['versions'];
  if (versions === undefined) throw verbatimRefusal('Versions key is missing from the JSON upload');
  const [version = '', ...others] = Object.keys(requireJsonObject(versions));
  if (version === '') throw verbatimRefusal('Version is empty.');
  if (others.length > 0 || manifest === null) throw verbatimRefusal('Exactly one version can be published at a time.');
  if (!isNormalizedNpmVersion(version))
    throw verbatimRefusal('Validation failed: Version should follow SemVer: https://semver.org');
  if (![root['name'], manifest['name']].every((sent) => sent === name) || manifest['version'] !== version)
    throw verbatimRefusal('Package manifest is not coherent');
  const tags = Object.keys(requireJsonObject(root['dist-tags'] ?? {}));
  if (tags.length > MAX_TAGS) throw verbatimRefusal('Too many tags.');
  if (!tags.every(isNpmTagName)) throw verbatimRefusal('Tag name must not be a valid SemVer range');
  return { name, version, tags, manifest, readme: parseReadme(manifest['readme'] ?? root['readme']) };
}

/** Errors: Refused for a text that is no name of a package. */
export function checkNpmPackageName(name: string): void {
  if (isNpmPackageName(name)) return;
  throw verbatimRefusal(
    'Validation failed: Name should be a valid NPM package name: ' +
      'https://github.com/npm/validate-npm-package-name#naming-rules.',
  );
}

/** Returns the tarball of the document. Errors: Refused for a document without one. */
export function requireTarball({ root, tarballs }: PublishDocument): StoredTarball {
  const names = Object.keys(requireJsonObject(root['_attachments'])).filter((name) => tarballs.has(name));
  const found = tarballs.get(names.at(-1) ?? '');
  if (!found || found.content.size === 0) throw verbatimRefusal('Attachment data is empty.');
  return found;
}

/**
 * Compares digests that the document states with those of the bytes; values in no known form are ignored.
 * Errors: Refused `Package integrity check failed`.
 */
export function checkIntegrity({ manifest }: NewNpmVersion, { content, sha512 }: StoredTarball): void {
  const dist = manifest['dist'];
  if (typeof dist !== 'object' || dist === null) return;
  const { shasum, integrity } = dist as { shasum?: unknown; integrity?: unknown };
  const own: Readonly<Record<string, string>> = {
    sha1: Buffer.from(content.sha1, 'hex').toString('base64'),
    sha256: Buffer.from(content.sha256, 'hex').toString('base64'),
    sha512,
  };
  const stated = typeof integrity === 'string' ? integrity.split(/\s+/, 20) : [];
  const isWrong = stated.some((text) => {
    const [, algorithm, value] = /^(sha1|sha256|sha512)-([A-Za-z0-9+/]+={0,2})(?:\?.*)?$/.exec(text) ?? [];
    return algorithm !== undefined && own[algorithm] !== value;
  });
  const isSha1 = typeof shasum === 'string' && /^[0-9a-f]{40}$/i.test(shasum);
  if (isWrong || (isSha1 && shasum.toLowerCase() !== content.sha1))
    throw verbatimRefusal('Package integrity check failed');
}

/**
 * Returns the manifest as it is stored. Fields by which clients install come from the tarball if that is readable, so
 * that the registry never shows other dependencies than the package has. Errors: Refused for a manifest that is too large.
 */
export function toStoredManifest({ manifest }: NewNpmVersion, inTarball: TarballManifest | null): StoredManifest {
  const whole: Record<string, unknown> = { ...manifest, ...inTarball?.truth };
  for (const name of OWN) delete whole[name];
  if (hasInstallScript(manifest)) whole['hasInstallScript'] = true;
  const free = FREE.map((name) => [name, whole[name]] as const);
  for (const name of FREE) delete whole[name];
  if (JSON.stringify(whole).length > MAX_MANIFEST_CHARACTERS) {
    throw verbatimRefusal(
      `Validation failed: Package json structure is too large. Maximum size is ${MAX_MANIFEST_CHARACTERS} characters`,
    );
  }
  for (const [name, value] of free)
    if (value !== undefined && JSON.stringify(value).length <= MAX_FREE_CHARACTERS) whole[name] = value;
  const brief = Object.fromEntries(BRIEF.filter((name) => name in whole).map((name) => [name, whole[name]]));
  return { manifest: JSON.stringify(whole), brief: JSON.stringify(brief) };
}

/** Whether npm runs a script when it installs the package. */
function hasInstallScript({ scripts, gypfile }: Manifest): boolean {
  const named = typeof scripts === 'object' && scripts !== null ? Object.keys(scripts) : [];
  return gypfile === true || named.some((name) => /^(?:pre|post)?install$/.test(name));
}

/** Text of a readme that the database can hold. */
function parseReadme(sent: unknown): string | null {
  return typeof sent === 'string' && sent !== ''
    ? stripUnstorableCharacters(sent.slice(0, MAX_README_CHARACTERS))
    : null;
}

/** Returns the text without characters that PostgreSQL cannot store: NUL and halves of surrogate pairs. */
export function stripUnstorableCharacters(text: string): string {
  return text.replace(/[\0\p{Cs}]/gu, '');
}

function requireJsonObject(value: unknown): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidJsonRefusal();
  return value;
}
