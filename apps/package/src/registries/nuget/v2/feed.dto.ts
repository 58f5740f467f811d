import { Flag, Int, Text } from '@rookery/api-v4';

const QUOTED = 'may be in quotation marks';

/** Source: reference packages-and-admin 4.9. */
export class ShowNugetFeed {
  @Text({
    in: 'path',
    max: 600,
    about: "`FindPackagesById()`, `Search()`, `Packages()`, `Packages(Id='…',Version='…')` or `$metadata`.",
  })
  operation: string;
  @Text({ optional: true, alias: 'id', max: 260, about: `Name of a package for \`FindPackagesById()\`; ${QUOTED}.` })
  package_name?: string;
  @Text({ optional: true, default: '', max: 260, about: `Part of the name for \`Search()\`; ${QUOTED}.` })
  searchTerm: string;
  @Flag({ optional: true, default: false, about: 'Whether `Search()` finds prereleases.' }) includePrerelease: boolean;
  @Text({ optional: true, default: '', max: 4096, about: 'Conditions on `Id`, `Version` and the newest version.' })
  $filter: string;
  @Text({ optional: true, default: '', max: 255, about: '`Version desc` lists the newest version first.' })
  $orderby: string;
  @Int({ optional: true, default: 0, min: 0, about: 'Versions to leave out.' }) $skip: number;
  @Int({ optional: true, min: 0, about: 'Largest number of versions; at most 100 count.' }) $top?: number;
  @Text({ optional: true, max: 20, about: '`allpages` adds the number of all versions.' }) $inlinecount?: string;
}
