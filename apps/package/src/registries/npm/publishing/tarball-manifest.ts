import type { Readable } from 'node:stream';
import { Refused } from '@rookery/kernel';
import { clean } from 'semver';
import { readTarEntry } from '../../../packages/archives/tar-entry';
import type { Manifest } from './new-version';

/** The manifest in a tarball. `truth` are the fields by which clients install. */
export interface TarballManifest {
  readonly truth: Manifest;
}

/** A file in exactly one folder, whatever its name. */
const PLACE = /^(?:\.\/)?[^/]+\/package\.json$/;
const BOUNDS = {
  name: PLACE,
  maxEntryBytes: 4 * 1024 * 1024,
  // Icon sets have tens of thousands of files.
  maxEntries: 100_000,
  freeInflatedBytes: 64 * 1024 * 1024,
  maxRatio: 10,
} as const;

/** Fields that no client may learn otherwise than the package has them. */
const TRUE_FIELDS = [
  'dependencies',
  'optionalDependencies',
  'peerDependencies',
  'peerDependenciesMeta',
  'bundleDependencies',
  'bundledDependencies',
] as const;
/** Scripts that clients add to the manifest because of other files in the package. */
const INFERRED: Readonly<Record<string, string>> = { install: 'node-gyp rebuild', start: 'node server.js' };

/**
 * Reads the manifest in a tarball and compares it with that of the document. Returns null if the bytes are not a
 * tarball with a manifest.
 * Bounds: a manifest of 4 MiB behind 100,000 entries, and 64 MiB inflated or ten times the bytes of the tarball.
 * Errors: Refused `Package manifest is not coherent`, beyond the bounds too. Source: reference packages-and-admin 4.4.
 */
export async function checkedTarballManifest(bytes: Readable, sent: Manifest): Promise<TarballManifest | null> {
  const found = await readManifest(bytes);
  if (found === null) return null;
  const isSameName = cleanName(found['name']) === sent['name'];
  const isSameVersion = cleanVersion(found['version']) === cleanVersion(sent['version']);
  if (!isSameName || !isSameVersion || !haveSameManifestScripts(found['scripts'], sent['scripts']))
    throw differentManifestRefusal();
  return { truth: takeFieldsFromTarballManifest(found, sent) };
}

/** npm trims the name in the document, and keeps the file in the tarball as it is. */
function cleanName(name: unknown): unknown {
  return typeof name === 'string' ? name.trim() : name;
}

/**
 * Returns a version as npm states it in the document: without `v` or `=` before it, and without build metadata. The file
 * in the tarball keeps them. A text that is no version stays as it is.
 */
function cleanVersion(version: unknown): unknown {
  return typeof version === 'string' ? (clean(version, { loose: true }) ?? version) : version;
}

function differentManifestRefusal(): Refused {
  return new Refused('Package manifest is not coherent', { verbatim: true });
}

/** Bytes that are no tarball have no manifest. Errors: Refused beyond the bounds, behind which a manifest could hide. */
async function readManifest(bytes: Readable): Promise<Manifest | null> {
  const content = await readTarEntry(bytes, { ...BOUNDS, refusal: differentManifestRefusal });
  try {
    return content === null ? null : parseManifest(content.toString());
  } catch {
    return null;
  }
}

function parseManifest(text: string): Manifest | null {
  const value = JSON.parse(text.replace(/^\ufeff/, '')) as unknown;
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Manifest) : null;
}

/** Fields of the tarball in place of those of the document, also where the tarball has none. */
function takeFieldsFromTarballManifest(found: Manifest, sent: Manifest): Manifest {
  const truth: Record<string, unknown> = Object.fromEntries(TRUE_FIELDS.map((name) => [name, found[name]]));
  const { bin } = found;
  if (typeof bin === 'string') truth['bin'] = { [String(sent['name']).replace(/^.*\//, '')]: bin };
  else if (bin !== undefined) truth['bin'] = bin;
  // Without `bin` a client derives it from `directories.bin`.
  else if (typeof found['directories'] !== 'object') truth['bin'] = undefined;
  else truth['bin'] = sent['bin'];
  return truth;
}

function haveSameManifestScripts(found: unknown, sent: unknown): boolean {
  const [own, stated] = [parseManifestScripts(found), parseManifestScripts(sent)];
  for (const [name, text] of stated) {
    if (own.get(name) !== text && !(own.get(name) === undefined && INFERRED[name] === text)) return false;
  }
  return [...own.keys()].every((name) => stated.has(name));
}

/** Scripts as clients normalize them. */
function parseManifestScripts(scripts: unknown): ReadonlyMap<string, string> {
  const entries = typeof scripts === 'object' && scripts !== null ? Object.entries(scripts) : [];
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return new Map(texts.map(([name, text]) => [name, text.replace(/^(?:\.[/\\])?node_modules[/\\]\.bin[\\/]/, '')]));
}
