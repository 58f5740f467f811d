import { Flag, OneOf, Text } from '@rookery/api-v4';
import { IsFilePath } from '../contents/is-file-path';
import { MatchesEncodingField } from './base64-content';
import type { ContentEncoding } from './base64-content';

/** Largest body of requests that change files. Units: bytes. Source: reference repositories 3.6. */
export const CHANGE_BODY_LIMIT = 64 * 1024 * 1024;

class FileChangeFields {
  @IsFilePath()
  @Text({ in: 'path', about: 'Path of the file.' })
  file_path: string;
  @Text({ blank: 'refused', about: 'Branch that gets the commit.' }) branch: string;
  @Text({ blank: 'refused', about: 'Message of the commit.' }) commit_message: string;
  @Text({ default: '', about: 'Branch on which the commit builds. Default: `branch`.' }) start_branch: string;
  @Text({ optional: true, about: 'E-mail address of the author, together with a name.' }) author_email?: string;
  @Text({ optional: true, about: 'Name of the author, together with an e-mail address.' }) author_name?: string;
}

export class CreateFile extends FileChangeFields {
  @OneOf(['text', 'base64'], { default: 'text', about: 'Encoding of the content.' }) encoding: ContentEncoding;
  @MatchesEncodingField()
  @Text({ about: 'Content of the file.' })
  content: string;
  @Flag({ optional: true, about: 'Whether the file is executable.' }) execute_filemode?: boolean;
}

export class UpdateFile extends CreateFile {
  @Text({ optional: true, about: 'Last commit of the file that the caller knows.' }) last_commit_id?: string;
}

export class RemoveFile extends FileChangeFields {
  @Text({ optional: true, about: 'Last commit of the file that the caller knows.' }) last_commit_id?: string;
}
