import type { FileAnswer } from '@rookery/api-v4';
import type { PackageFiles } from '../../packages/package-files';
import type { CoreMetadata } from './simple-index.queries';

/** The download of the core metadata of a wheel (PEP 658). `name` is the suggested file name. */
export function toWheelMetadataDownload(files: PackageFiles, metadata: CoreMetadata, name: string): FileAnswer {
  return {
    stream: (range) => files.openAttached(metadata.sha256, range),
    mediaType: 'application/octet-stream',
    length: metadata.size,
    lastModified: metadata.created_at,
    version: metadata.sha256,
    filename: name,
    isImmutable: true,
    headers: { 'x-checksum-sha256': metadata.sha256 },
  };
}
