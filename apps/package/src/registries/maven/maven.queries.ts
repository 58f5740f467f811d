import { Injectable } from '@nestjs/common';
import type { GroupScope } from '@rookery/api-v4';
import { Directory, withinGroupSql } from '@rookery/directory';
import type { Viewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import type { DeclaredStatement } from '@rookery/persistence';
import type { PackageFileRow } from '../../packages/listing/packages.queries';
import type { ReadableProjectsParams } from '../../packages/listing/packages.queries';
import { canReadProjectPackagesSql } from '../../packages/listing/readable-packages';
import { INSTALLABLE_STATUSES, literalListSql } from '../../packages/package-types';
import type { MavenFilePath } from './maven-path';

/** Packages that a request looks among: those of a project, or those of a group that the viewer may read. */
export type MavenPlace =
  | { readonly kind: 'project'; readonly id: number }
  | { readonly kind: 'group'; readonly group: GroupScope; readonly viewer: Viewer };

/** A file with its digests. */
export interface MavenFileRow extends PackageFileRow {
  /** Null for a file without a row in `maven_files`. */
  readonly sha512: string | null;
}

/** The metadata of a snapshot as it was uploaded. `missing` has the listed files that were deleted. */
export interface SnapshotMetadataRow extends MavenFileRow {
  readonly missing: readonly string[];
}

/** A version of an artifact. `published` orders versions by their first file. */
export interface VersionRow {
  readonly published: number;
  readonly version: string;
  /** Upload of its newest file. */
  readonly uploaded_at: Date;
}

export interface PluginRow {
  readonly artifact_id: string;
  readonly prefix: string;
  readonly name: string;
}

type NameParams = { readonly name: string };
type ProjectParams = { readonly project: number };
type GroupParams = Omit<ReadableProjectsParams, 'group'>;
type PlaceStatements<P extends object, Row> = {
  readonly project: DeclaredStatement<P & ProjectParams, Row>;
  readonly group: DeclaredStatement<P & GroupParams, Row>;
};

const FILE_COLUMNS = `f.id, f.package_id, f.file_name, f.size, f.sha256, f.sha1, f.md5, f.created_at, f.updated_at, m.sha512`;
const INSTALLABLE = `p.package_type = 'maven' and p.name_key = :name and p.status in (${literalListSql(INSTALLABLE_STATUSES)})`;

/** The packages of the name are found before the projects are joined: there are few of them. */
const PLACES = {
  project: (condition: string) =>
    `(select p.id, p.version from packages p where p.project_id = :project::bigint and ${condition}) p`,
  group: (condition: string) =>
    `(select p.id, p.version, p.project_id from packages p where ${condition} offset 0) p
     join directory_projects project on project.id = p.project_id
     join directory_namespaces home on home.id = project.namespace_id
       and ${withinGroupSql({ namespace: 'home', traversalIds: ':below' })}
       and ${canReadProjectPackagesSql()}`,
} as const;

/** Declares a statement for both places. `sql` receives the FROM item `p` with the columns `id` and `version`. */
function declareProjectAndGroupStatements<P extends object, Row>(
  name: string,
  condition: string,
  sql: (packages: string) => string,
): PlaceStatements<P, Row> {
  return {
    project: statement<P & ProjectParams, Row>(`maven_${name}`, sql(PLACES.project(condition))),
    group: statement<P & GroupParams, Row>(`maven_${name}_in_group`, sql(PLACES.group(condition))),
  };
}

const ONE_VERSION = `${INSTALLABLE} and coalesce(p.version, '') = :version`;
const FILE_OF_PACKAGE = `join package_files f on f.package_id = p.id and md5(f.file_name) = md5(:file)
    and f.file_name = :file and not f.is_pending_destruction
  left join maven_files m on m.file_id = f.id`;
type FileParams = NameParams & { readonly version: string; readonly file: string };

const NEWEST = declareProjectAndGroupStatements<FileParams, MavenFileRow>(
  'newest_file',
  ONE_VERSION,
  (packages) => `select ${FILE_COLUMNS} from ${packages} ${FILE_OF_PACKAGE} order by p.id desc, f.id desc limit 1`,
);
/**
 * The look-up of each listed file is a subquery with a limit, so that other files of the package are not read.
 * Older rows may list names of more than 5,000 characters. They are skipped, because no stored file has such a name.
 */
const SNAPSHOT_METADATA = declareProjectAndGroupStatements<FileParams, SnapshotMetadataRow>(
  'snapshot_metadata',
  ONE_VERSION,
  (packages) => `select found.*, array(
      select listed.name from unnest(found.listed_files) as listed (name)
      where char_length(listed.name) <= 5000 and (select f.id from package_files f where f.package_id = found.package_id
        and md5(f.file_name) = md5(listed.name) and f.file_name = listed.name and not f.is_pending_destruction
        limit 1) is null
    ) as missing
    from (select ${FILE_COLUMNS}, m.listed_files from ${packages} ${FILE_OF_PACKAGE}
      order by p.id desc, f.id desc limit 1) found`,
);
/** Bounds: the newest 5,000 versions. */
const VERSIONS = declareProjectAndGroupStatements<NameParams, VersionRow>(
  'versions',
  `${INSTALLABLE} and p.version is not null`,
  (packages) => `select p.id as published, p.version, newest.created_at as uploaded_at from ${packages}
    cross join lateral (select f.created_at from package_files f
      where f.package_id = p.id and not f.is_pending_destruction order by f.id desc limit 1) newest
    order by p.id desc limit 5000`,
);
/** Bounds: 5,000 plugins. */
const PLUGINS = declareProjectAndGroupStatements<NameParams, PluginRow>(
  'plugins',
  `${INSTALLABLE} and p.version is null`,
  (packages) => `select distinct on (plugin.artifact_id) plugin.artifact_id, plugin.prefix, plugin.name from ${packages}
    join maven_plugins plugin on plugin.package_id = p.id
    order by plugin.artifact_id, p.id desc limit 5000`,
);

const EXISTS = statement<ProjectParams & NameParams, { found: boolean }>(
  'maven_package_exists',
  `select exists (select 1 from packages p where p.project_id = :project::bigint and ${INSTALLABLE}) as found`,
);

/** Reads of Maven packages in a project or a group. Source: reference packages-and-admin 4.6. */
@Injectable()
export class MavenQueries {
  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
  ) {}

  /** The newest file with this name, of the newest package that has one. Null without one. */
  async findNewest(place: MavenPlace, path: MavenFilePath): Promise<MavenFileRow | null> {
    return (await this.readRows(place, NEWEST, toFileParams(path)))[0] ?? null;
  }

  /** The uploaded metadata of a snapshot. Null without one. */
  async snapshotMetadata(place: MavenPlace, path: MavenFilePath): Promise<SnapshotMetadataRow | null> {
    return (await this.readRows(place, SNAPSHOT_METADATA, toFileParams(path)))[0] ?? null;
  }

  /** Versions of an artifact, the last published first. */
  listVersions(place: MavenPlace, name: string): Promise<VersionRow[]> {
    return this.readRows(place, VERSIONS, { name });
  }

  /** Plugins of a group, by artifact. */
  listPlugins(place: MavenPlace, name: string): Promise<PluginRow[]> {
    return this.readRows(place, PLUGINS, { name });
  }

  /** Whether the project has a package with this name. */
  async hasPackage(project: number, name: string): Promise<boolean> {
    return (await this.database.run(EXISTS, { project, name }))[0]!.found;
  }

  private async readRows<P extends object, Row>(
    place: MavenPlace,
    statements: PlaceStatements<P, Row>,
    params: P,
  ): Promise<Row[]> {
    if (place.kind === 'project') return this.database.run(statements.project, { ...params, project: place.id });
    const { group, viewer } = place;
    await this.directory.requireFresh(viewer);
    const { userId, isAdmin, isExternal } = viewer;
    return this.database.run(statements.group, {
      ...params,
      ...{ below: group.traversalIds, viewer: userId, isAdmin, isExternal },
    });
  }
}

function toFileParams({ name, version, fileName }: MavenFilePath): FileParams {
  return { name, version: version ?? '', file: fileName };
}
