import { Injectable } from '@nestjs/common';
import { NotFound } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import type { PackageFileRow } from '../../packages/listing/packages.queries';
import { INSTALLABLE_STATUSES, literalListSql, nameKeyOf } from '../../packages/package-types';
import { createNugetPlaceStatement, NugetPlaces } from './nuget-places';
import type { NugetPlace } from './nuget-places';
import { compareNugetVersionKeys } from './nuget-version';
import type { Nuspec } from './nuspec';

/** A version of a package. */
export interface NugetRow {
  readonly package_id: number;
  readonly project_id: number;
  readonly name_key: string;
  readonly name: string;
  readonly version: string;
  readonly version_key: string;
  readonly nuspec: Nuspec;
  readonly created_at: Date;
}

/** A search. `q` is the text that the client sent. */
export interface NugetSearch {
  readonly q: string;
  readonly skip: number;
  readonly take: number;
  readonly prerelease: boolean;
}

/** A package of the results. `newest` is the newest of `versions`, which begin with the oldest. */
export interface NugetPackageMatch {
  readonly newest: NugetRow;
  readonly versions: readonly string[];
}

interface NamePage {
  readonly total: number;
  readonly names: readonly string[];
}
/** A version without its description. */
export type VersionOfName = Pick<NugetRow, 'package_id' | 'name_key' | 'version' | 'version_key'>;

/** Newest versions of a package that documents show. */
const MAX_VERSIONS = 300;
/** Newest versions of a package that a search shows. */
const MAX_FOUND_VERSIONS = 10;

const COLUMNS = `p.id as package_id, p.project_id, v.name_key, p.name, p.version, v.version_key, p.created_at`;
const installableVersionsFromSql = (scope: string, condition: string): string =>
  `${scope}
   join nuget_versions v on v.project_id = scope.id ${condition}
   join packages p on p.id = v.package_id and p.status in (${literalListSql(INSTALLABLE_STATUSES)})`;

const VERSIONS = createNugetPlaceStatement<{ name: string }, NugetRow>(
  'versions',
  (scope) =>
    `select ${COLUMNS}, v.nuspec from ${installableVersionsFromSql(scope, 'and v.name_key = :name')}
     order by p.id desc limit ${MAX_VERSIONS}`,
);
const VERSION = createNugetPlaceStatement<{ name: string; version: string }, NugetRow>(
  'version',
  (scope) =>
    `select ${COLUMNS}, v.nuspec from ${installableVersionsFromSql(scope, 'and v.name_key = :name and v.version_key = :version')}
     order by p.id desc limit 1`,
);
const NAMES = createNugetPlaceStatement<{ q: string; prerelease: boolean; skip: number; take: number }, NamePage>(
  'names',
  (scope) =>
    // Each project is read by the index, however many others have packages.
    `with found as (
       select distinct named.name_key
       from ${scope}, lateral (
         select v.name_key from nuget_versions v
         join packages p on p.id = v.package_id and p.status in (${literalListSql(INSTALLABLE_STATUSES)})
         where v.project_id = scope.id and position(:q in v.name_key) > 0
           and (:prerelease::boolean or not v.is_prerelease)
         offset 0) named
     )
     select (select count(*)::int from found) as total,
       array(select name_key from found order by name_key offset :skip::int limit :take::int) as names`,
);
/** Versions without their descriptions, because only the description of the newest version is shown. */
const OF_NAMES = createNugetPlaceStatement<{ names: readonly string[]; prerelease: boolean }, VersionOfName>(
  'versions_of_names',
  (scope) =>
    `select found.* from unnest(:names::text[]) as asked (name), lateral (
       select p.id as package_id, v.name_key, p.version, v.version_key
       from ${installableVersionsFromSql(scope, 'and v.name_key = asked.name and (:prerelease::boolean or not v.is_prerelease)')}
       order by p.id desc limit ${MAX_VERSIONS}) found`,
);
const ROWS = statement<{ ids: readonly number[] }, NugetRow>(
  'nuget_rows',
  `select ${COLUMNS}, v.nuspec from nuget_versions v join packages p on p.id = v.package_id
   where v.package_id = any(:ids::bigint[])`,
);
const FILE = createNugetPlaceStatement<{ name: string; version: string; file: string }, PackageFileRow>(
  'file',
  (scope) =>
    `select f.id, f.package_id, f.file_name, f.size, f.sha256, f.sha1, f.md5, f.created_at, f.updated_at
     from ${installableVersionsFromSql(scope, 'and v.name_key = :name and v.version_key = :version')}
     join package_files f on f.package_id = p.id and md5(f.file_name) = md5(:file) and f.file_name = :file
       and not f.is_pending_destruction
     order by f.id desc limit 1`,
);

/**
 * NuGet packages of a project, or of the projects in a group whose packages the viewer may read.
 * Source: reference packages-and-admin 4.9.
 */
@Injectable()
export class NugetQueries {
  constructor(
    private readonly database: Database,
    private readonly places: NugetPlaces,
  ) {}

  /** The newest versions of a package, the oldest first; of equal ones in a group, the newest. Errors: NotFound. */
  async listVersions(place: NugetPlace, viewer: Viewer, name: string): Promise<readonly NugetRow[]> {
    const rows = await this.places.readRows(VERSIONS, place, viewer, { name: nameKeyOf('nuget', name) });
    if (rows.length === 0) throw new NotFound('Package');
    return sortDistinctNugetVersions(rows);
  }

  /** One version of a package, in a group the newest of equal ones. `version` is a key. Errors: NotFound. */
  async findVersion(place: NugetPlace, viewer: Viewer, name: string, version: string): Promise<NugetRow> {
    const [found] = await this.places.readRows(VERSION, place, viewer, { name: nameKeyOf('nuget', name), version });
    if (!found) throw new NotFound('Package');
    return found;
  }

  /** Packages of one page of results by name, and the number of all results. */
  async searchPackages(
    place: NugetPlace,
    viewer: Viewer,
    asked: NugetSearch,
  ): Promise<[number, readonly NugetPackageMatch[]]> {
    const [found] = await this.searchNames(place, viewer, asked);
    if (found === undefined || found.names.length === 0) return [found?.total ?? 0, []];
    const { names, total } = found;
    const rows = await this.listVersionsOfNames(place, viewer, names, asked.prerelease);
    const byName = names.map((name) => sortDistinctNugetVersions(rows.filter((row) => row.name_key === name)));
    const newest = byName.map((versions) => versions.at(-1)).filter((row) => row !== undefined);
    const described = await this.database.run(ROWS, { ids: newest.map((row) => row.package_id) });
    const packages = described.map((row) => ({
      newest: row,
      versions: byName[names.indexOf(row.name_key)]!.slice(-MAX_FOUND_VERSIONS).map(({ version }) => version),
    }));
    return [total, packages.sort((a, b) => names.indexOf(a.newest.name_key) - names.indexOf(b.newest.name_key))];
  }

  /** Names of one page of results in lower case. Returns one row. */
  searchNames(place: NugetPlace, viewer: Viewer, { q, ...asked }: NugetSearch): Promise<NamePage[]> {
    return this.places.readRows(NAMES, place, viewer, { q: q.toLowerCase(), ...asked });
  }

  /** The newest versions of several packages, the newest first. */
  listVersionsOfNames(
    place: NugetPlace,
    viewer: Viewer,
    names: readonly string[],
    prerelease: boolean,
  ): Promise<VersionOfName[]> {
    return this.places.readRows(OF_NAMES, place, viewer, { names, prerelease });
  }

  /** The newest versions of a package without descriptions, the oldest first; none for a missing package. */
  async versionsOfName(
    place: NugetPlace,
    viewer: Viewer,
    name: string,
    prerelease: boolean,
  ): Promise<readonly VersionOfName[]> {
    return sortDistinctNugetVersions(
      await this.listVersionsOfNames(place, viewer, [nameKeyOf('nuget', name)], prerelease),
    );
  }

  /** Returns the newest file of a version with this name. `version` is a key. Errors: NotFound. */
  async findFile(
    place: NugetPlace,
    viewer: Viewer,
    name: string,
    version: string,
    file: string,
  ): Promise<PackageFileRow> {
    const [found] = await this.places.readRows(FILE, place, viewer, { name: nameKeyOf('nuget', name), version, file });
    if (!found) throw new NotFound();
    return found;
  }
}

/** Sorts rows by version. Of equal versions the newest row stays, which is the first one. */
export function sortDistinctNugetVersions<R extends Pick<NugetRow, 'version_key'>>(
  newestFirst: readonly R[],
): readonly R[] {
  const byKey = new Map([...newestFirst].reverse().map((row) => [row.version_key, row]));
  return [...byKey.values()].sort((a, b) => compareNugetVersionKeys(a.version_key, b.version_key));
}
