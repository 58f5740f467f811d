import { Flag, Int, Text } from '@rookery/api-v4';

const NAME = /^(?!.*\.\.)[A-Za-z0-9._+-]+$/;
const VERSION = /^(?!.*\.\.)[A-Za-z0-9._+-]+$/;

/** Source: reference packages-and-admin 4.9. */
export class ShowNugetService {
  @Text({ in: 'path', max: 1000, about: 'Id or path; the answer does not depend on whether it exists.' }) id: string;
}

export class ListNugetPackages {
  @Text({ optional: true, default: '', max: 255, about: 'Part of the name; case does not matter.' }) q: string;
  @Int({ optional: true, default: 0, min: 0, about: 'Results to leave out.' }) skip: number;
  @Int({ optional: true, default: 20, min: 0, max: 30, about: 'Largest number of results.' }) take: number;
  @Flag({ optional: true, default: true, about: 'Whether prereleases count.' }) prerelease: boolean;
}

export class ListNugetNames extends ListNugetPackages {
  @Text({ optional: true, alias: 'id', max: 255, about: 'Lists the versions of this package instead of names.' })
  package_name?: string;
}

export class ShowNugetPackage {
  @Text({ in: 'path', max: 255, pattern: NAME, about: 'Id of the package; case does not matter.' })
  package_name: string;
}

export class IdentifyNugetVersion extends ShowNugetPackage {
  @Text({ in: 'path', max: 260, pattern: VERSION, about: 'Version, in any of its spellings.' })
  package_version: string;
}

export class IdentifyNugetFile extends IdentifyNugetVersion {
  @Text({ in: 'path', max: 600, pattern: NAME, about: '`<id>.<version>.nupkg`, `.snupkg`, or `<id>.nuspec`.' })
  file_name: string;
}

const SYMBOLS = /^[^\u0000-\u001f\u007f/\\]+$/;

export class ShowNugetSymbols {
  @Text({ in: 'path', max: 255, pattern: SYMBOLS, about: 'Name of the file; case does not matter.' }) file_name: string;
  @Text({ in: 'path', max: 255, about: 'GUID of the compilation in hexadecimal and `FFFFFFFF`.' }) signature: string;
  @Text({ in: 'path', max: 255, about: 'The same name again.' }) same_file_name: string;
  @Text({
    in: 'header',
    header: 'symbolchecksum',
    optional: true,
    max: 4096,
    about: '`SHA256:` and the digest of the file with zeros in place of its id; several with semicolons.',
  })
  checksums?: string;
}
