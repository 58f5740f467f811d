import type { FileAnswer } from '@rookery/api-v4';
import type { PackageFileRow } from './listing/packages.queries';
import type { PackageFiles } from './package-files';

/** The download of a package file. `name` is the suggested file name. */
export function packageDownload(files: PackageFiles, file: PackageFileRow, name: string): FileAnswer {
  return {
    stream: (range) => files.openFile(file, range),
    mediaType: 'application/octet-stream',
    length: file.size,
    lastModified: file.created_at,
    version: file.sha256,
    filename: name,
    headers: { 'x-checksum-sha256': file.sha256 },
  };
}
