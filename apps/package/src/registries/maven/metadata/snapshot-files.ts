import { Refused } from '@rookery/kernel';
import type { MavenMetadata, SnapshotVersion } from './metadata-xml';

const MAX_LISTED = 2000;
/** Longest part of a listed name, since each name repeats that of the artifact. Units: characters. */
const MAX_TEXT = 255;

/** Name of the file that an entry of a snapshot's metadata stands for. */
export function renderMavenSnapshotFileName(
  artifactId: string,
  { classifier, extension, value }: SnapshotVersion,
): string {
  return `${artifactId}-${value}${classifier === '' ? '' : `-${classifier}`}.${extension}`;
}

/**
 * Names of all files that the metadata of a snapshot lists.
 * Errors: Refused for more than 2,000, and for a part of a name with more than 255 characters.
 */
export function listMavenSnapshotFileNames({ artifactId, snapshotVersions }: MavenMetadata): string[] {
  if (snapshotVersions.length > MAX_LISTED) throw new Refused(`maven-metadata.xml lists more than ${MAX_LISTED} files`);
  const texts = snapshotVersions.flatMap(({ classifier, extension, value }) => [classifier, extension, value]);
  if ([artifactId, ...texts].some((text) => text.length > MAX_TEXT))
    throw new Refused(`maven-metadata.xml has a text with more than ${MAX_TEXT} characters`);
  return snapshotVersions.map((one) => renderMavenSnapshotFileName(artifactId, one));
}
