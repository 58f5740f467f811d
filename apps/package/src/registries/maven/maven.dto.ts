import { Text } from '@rookery/api-v4';

/** One or more names of folders, separated by slashes. No name is made of dots only. */
const PATH = /^@?(?:(?!\.+(?:\/|$))[\w.-]+\/)*(?!\.+$)[\w.+-]+$/;
const FILE_NAME = /^(?!\.+$)[A-Za-z0-9._+-]+$/;

/** Address of a file in a Maven repository. Source: reference packages-and-admin 4.6. */
export class IdentifyMavenFile {
  @Text({ in: 'path', max: 10_000, pattern: PATH, about: 'Group, artifact and version, separated by slashes.' })
  path: string;
  @Text({
    in: 'path',
    max: 10_000,
    pattern: FILE_NAME,
    about: 'The file, or the file and `.md5`, `.sha1`, `.sha256` or `.sha512`.',
  })
  file_name: string;
}
