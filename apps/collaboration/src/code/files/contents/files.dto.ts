import { Flag, HashOf, Int, Text } from '@rookery/api-v4';
import { IsFilePath } from './is-file-path';

/** A file at a revision. */
export class IdentifyFile {
  @IsFilePath()
  @Text({ in: 'path', about: 'Path of the file.' })
  file_path: string;
  @Text({ blank: 'refused', about: 'Branch, tag or commit.' }) ref: string;
}

export class ShowRawFile {
  @IsFilePath({ mayBeginWithSlash: true })
  @Text({ in: 'path', about: 'Path of the file.' })
  file_path: string;
  @Text({ default: '', about: 'Branch, tag or commit. Default: the default branch.' }) ref: string;
  @Flag({ default: false, hasNoEffect: true, about: 'Git LFS is not offered.' }) lfs: boolean;
}

export class ShowLineRange {
  @Int({ min: 1, about: 'First line.' }) start: number;
  @Int({ min: 1, about: 'Last line.' }) end: number;
}

export class ShowBlamedFile extends IdentifyFile {
  @HashOf(() => ShowLineRange, { optional: true, about: 'Lines to read. Default: all.' }) range?: ShowLineRange;
}
