import { OneOf, Text } from '@rookery/api-v4';
import type { UploadOptions } from './generic.service';

/** One or more names, separated by slashes. A name neither begins nor ends with `~` and is not made of dots only. */
const NAME = String.raw`(?!~|\.+(?:/|$))[\w.+~@-]+(?<!~)`;
const FILE_PATH = new RegExp(`^${NAME}(?:/${NAME})*$`);

/** A file of a generic package. Source: reference packages-and-admin 4.3. */
export class IdentifyGenericFile {
  @Text({ in: 'path', max: 255, pattern: /^(?!.*\.\.)[A-Za-z0-9._+-]+$/ }) package_name: string;
  @Text({ in: 'path', max: 255, pattern: /^(?!.*\.\.)[\w.+-]+$/ }) package_version: string;
  @Text({ in: 'path', max: 1000, pattern: FILE_PATH, about: 'A slash, encoded as `%2F`, separates folders.' })
  file_name: string;
}

/** Path parameters of a file below folders. */
export class IdentifyGenericFileInFolder extends IdentifyGenericFile {
  @Text({ in: 'path', max: 1000, pattern: FILE_PATH }) path: string;
}

const SELECTIONS = ['package_file'] as const;
const UPLOAD_STATUSES = ['default', 'hidden'] as const;

export class UploadGenericFile extends IdentifyGenericFile implements UploadOptions {
  @OneOf(UPLOAD_STATUSES, { optional: true, about: 'Changes the status of a package that exists.' })
  status?: 'default' | 'hidden';
  @OneOf(SELECTIONS, { optional: true, about: 'Answers 200 with the file instead of 201 with a message.' })
  select?: 'package_file';
}

export class UploadGenericFileInFolder extends IdentifyGenericFileInFolder implements UploadOptions {
  @OneOf(UPLOAD_STATUSES, { optional: true, about: 'Changes the status of a package that exists.' })
  status?: 'default' | 'hidden';
  @OneOf(SELECTIONS, { optional: true, about: 'Answers 200 with the file instead of 201 with a message.' })
  select?: 'package_file';
}
