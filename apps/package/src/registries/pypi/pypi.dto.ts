import { Text } from '@rookery/api-v4';

const ABOUT_ACCEPT =
  'Chooses between `text/html`, `application/vnd.pypi.simple.v1+html` and `application/vnd.pypi.simple.v1+json`.';

/** Parameters for listing packages: the content type of the page. Source: reference packages-and-admin 4.5. */
export class ListPypiPackages {
  @Text({ optional: true, in: 'header', header: 'accept', about: ABOUT_ACCEPT }) accept?: string;
}

export class ShowPypiPackage extends ListPypiPackages {
  @Text({ in: 'path', max: 255, pattern: /^[A-Za-z0-9._-]+$/, about: 'Case and runs of `-`, `_`, `.` do not matter.' })
  package_name: string;
}

export class IdentifyPypiFile {
  @Text({ in: 'path', pattern: /^[0-9a-f]{64}$/, about: 'SHA-256 digest of the file, in hexadecimal.' })
  sha256: string;
  @Text({ in: 'path', max: 300, pattern: /^[A-Za-z0-9._+!-]+$/, about: '`.metadata` after it asks for core metadata.' })
  file_identifier: string;
}
