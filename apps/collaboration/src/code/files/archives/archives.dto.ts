import { Flag, ListOf, OneOf, Text } from '@rookery/api-v4';
import { ARCHIVE_SUFFIXES } from './archive-formats';
import type { ArchiveSuffix } from './archive-formats';

class ArchiveContent {
  @Text({ default: '', about: 'Branch, tag or commit. Default: the default branch.' }) sha: string;
  @Text({ default: '', about: 'Path of a folder. Default: the whole repository.' }) path: string;
  @ListOf('text', { default: [], max: 100, about: 'Paths that are left out.' }) exclude_paths: readonly string[];
  @Flag({ default: true, hasNoEffect: true, about: 'Git LFS is not offered.' }) include_lfs_blobs: boolean;
}

export class ShowArchive extends ArchiveContent {
  @OneOf(ARCHIVE_SUFFIXES, { default: 'tar.gz', about: 'Format of the archive.' }) format: ArchiveSuffix;
}

export class ShowArchiveOfFormat extends ArchiveContent {
  @OneOf(ARCHIVE_SUFFIXES, { in: 'path', about: 'Format of the archive.' }) format: ArchiveSuffix;
}
