import { Refused } from '@rookery/kernel';

/**
 * Addresses of files in a Maven repository. Source: reference packages-and-admin 4.6.
 */

/** The document that lists versions, builds of a snapshot, or plugins. */
export const METADATA_FILE = 'maven-metadata.xml';

export type MavenDigest = 'md5' | 'sha1' | 'sha256' | 'sha512';

/** Place of a file. `version` is null for metadata of an artifact or a group. */
export interface MavenFilePath {
  /** Group and artifact, separated by slashes. */
  readonly name: string;
  readonly version: string | null;
  readonly fileName: string;
}

/** A requested address. `digest` is set if the address is that of a digest of the file. */
export interface MavenAddress extends MavenFilePath {
  readonly digest: MavenDigest | null;
}

/** Units: characters. */
const MAX_FILE_NAME = 5000;
/** Longest name and version of a package. Units: characters. */
const MAX_NAME = 255;

const DIGEST_SUFFIX = /^(.+)\.(md5|sha1|sha256|sha512)$/;
const VERSION = /^(?!.*\.\.)[\w.+-]+$/;

/**
 * Returns the address of a path. A path that no file can have gives a name or version that no package has. `path`
 * excludes the file name. Slashes separate its segments.
 */
export function parseMavenPath(path: string, file: string): MavenAddress {
  const [, base, suffix] = DIGEST_SUFFIX.exec(file) ?? [];
  const fileName = base ?? file;
  const digest = (suffix as MavenDigest | undefined) ?? null;
  if (fileName === METADATA_FILE && !path.endsWith('-SNAPSHOT')) return { name: path, version: null, fileName, digest };
  const at = path.lastIndexOf('/');
  return { name: path.slice(0, Math.max(0, at)), version: path.slice(at + 1), fileName, digest };
}

/** Errors: Refused for a name, version or file name that cannot be stored. */
export function refuseUnstorable({ name, version, fileName }: MavenFilePath): void {
  if (fileName.length > MAX_FILE_NAME) throw new Refused('File name is too long');
  if (name === '') throw new Refused('Validation failed: Name is invalid', { verbatim: true });
  if (version !== null && !VERSION.test(version))
    throw new Refused('Validation failed: Version is invalid', { verbatim: true });
  for (const [field, value] of Object.entries({ Name: name, Version: version ?? '' }))
    if (value.length > MAX_NAME)
      throw new Refused(`Validation failed: ${field} is too long (maximum is ${MAX_NAME} characters)`, {
        verbatim: true,
      });
}

/** Whether the file is the list of builds of a snapshot. */
export function isSnapshotMetadata({ version, fileName }: MavenFilePath): boolean {
  return version !== null && fileName === METADATA_FILE;
}
