import { Refused } from '@rookery/kernel';
import type { Metadata, SnapshotVersion } from './metadata-xml';

const MAX_LISTED = 2000;

/** Name of the file that an entry of a snapshot's metadata stands for. */
export function fileNameOf(artifactId: string, { classifier, extension, value }: SnapshotVersion): string {
  return `${artifactId}-${value}${classifier === '' ? '' : `-${classifier}`}.${extension}`;
}

/** Names of all files that the metadata of a snapshot lists. Errors: Refused for more than 2,000. */
export function listedFilesOf({ artifactId, snapshotVersions }: Metadata): string[] {
  if (snapshotVersions.length > MAX_LISTED) throw new Refused(`maven-metadata.xml lists more than ${MAX_LISTED} files`);
  return snapshotVersions.map((one) => fileNameOf(artifactId, one));
}
