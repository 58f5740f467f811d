import { Injectable } from '@nestjs/common';
import type { GroupScope, ProjectScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import type { Viewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import type { DeclaredStatement } from '@rookery/persistence';
import { readablePackageProjectsSql } from '../../packages/listing/packages.queries';
import type { ReadableProjectsParams } from '../../packages/listing/packages.queries';
import type { PackageFileRow } from '../../packages/listing/packages.queries';
import { INSTALLABLE_STATUSES, literalListSql, nameKeyOf } from '../../packages/package-types';

/** A file on the page of its package. */
export interface IndexedFile {
  readonly file_name: string;
  readonly sha256: string;
  /** Units: bytes. */
  readonly size: number;
  readonly created_at: Date;
  readonly requires_python: string | null;
  readonly metadata_sha256: string | null;
  readonly yanked: string | null;
}

/** A package in the index. `name` has the spelling of one of its uploads. */
export interface IndexedName {
  readonly name_key: string;
  readonly name: string;
}

/** Core metadata of a stored file. Units: bytes. */
export interface CoreMetadata {
  readonly sha256: string;
  readonly size: number;
  readonly created_at: Date;
}

interface DownloadRow extends PackageFileRow {
  readonly metadata_sha256: string | null;
  readonly metadata_size: number | null;
}

type IndexPlace = ProjectScope | GroupScope;
type ProjectParams = { readonly project: number };

/** Rows of one statement. Pages continue with the next ones. */
const BATCH = 2000;
const INSTALLABLE = `p.status in (${literalListSql(INSTALLABLE_STATUSES)})`;

/**
 * One statement over the packages of a project, and of the projects in a group. The FROM item `scope` has the column
 * `id`.
 */
interface PlaceStatements<P extends object, R> {
  readonly ofProject: DeclaredStatement<ProjectParams & P, R>;
  readonly ofGroup: DeclaredStatement<ReadableProjectsParams & P, R>;
}

function declareProjectAndGroupStatements<P extends object, R>(
  name: string,
  compose: (scope: string) => string,
): PlaceStatements<P, R> {
  return {
    ofProject: statement(`pypi_${name}_of_project`, compose('(select :project::bigint as id) scope')),
    ofGroup: statement(`pypi_${name}_of_group`, compose(readablePackageProjectsSql({ exclude_subgroups: false }))),
  };
}

/** FROM clause of the packages with one name. */
const packagesByNameFromSql = (scope: string): string =>
  `${scope} join packages p on p.project_id = scope.id and p.package_type = 'pypi' and p.name_key = :name and ${INSTALLABLE}`;
const packageFilesByNameFromSql = (scope: string): string =>
  `${packagesByNameFromSql(scope)}
   join package_files f on f.package_id = p.id and not f.is_pending_destruction
   left join pypi_files m on m.file_id = f.id`;
const nextPackageNameSql = (after: string): string =>
  `(select p.name_key, p.name from packages p
    where p.project_id = scope.id and p.package_type = 'pypi' and p.name_key > ${after} and ${INSTALLABLE}
    order by p.name_key limit 1)`;

const DIGEST = declareProjectAndGroupStatements<{ name: string }, { files: number; digest: string }>(
  'digest',
  (scope) => `select count(*)::int as files,
     md5(coalesce(string_agg(f.id || coalesce('y' || m.yanked, ''), ',' order by f.id), '')) as digest
   from ${packageFilesByNameFromSql(scope)}`,
);
const FILES = declareProjectAndGroupStatements<{ name: string; after: string }, IndexedFile>(
  'files',
  (scope) => `select distinct on (f.file_name) f.file_name, f.sha256, f.size, f.created_at, m.requires_python,
     m.metadata_sha256, m.yanked
   from ${packageFilesByNameFromSql(scope)}
   where f.file_name > :after
   order by f.file_name, f.id desc limit ${BATCH}`,
);
const VERSIONS = declareProjectAndGroupStatements<{ name: string; after: string }, { version: string }>(
  'versions',
  (scope) =>
    `select distinct p.version from ${packagesByNameFromSql(scope)} ` +
    `where p.version > :after order by p.version limit ${BATCH}`,
);
/** Jumps from name to name, however many versions each has. */
const NAMES = declareProjectAndGroupStatements<{ after: string }, IndexedName>(
  'names',
  (scope) => `select distinct on (names.name_key) names.name_key, names.name
   from ${scope}, lateral (
     with recursive found as (
       ${nextPackageNameSql(':after')}
       union all
       select next.name_key, next.name from found, lateral ${nextPackageNameSql('found.name_key')} next
     )
     select name_key, name from found limit ${BATCH}
   ) names
   order by names.name_key, names.name limit ${BATCH}`,
);
const DOWNLOAD = declareProjectAndGroupStatements<{ sha256: string; file: string }, DownloadRow>(
  'download',
  (scope) => `select f.id, f.package_id, f.file_name, f.size, f.sha256, f.sha1, f.md5, f.created_at, f.updated_at,
     m.metadata_sha256, m.metadata_size
   from ${scope}
   join package_files f on f.sha256 = :sha256 and f.project_id = scope.id and f.file_name = :file
     and not f.is_pending_destruction
   join packages p on p.id = f.package_id and p.package_type = 'pypi' and ${INSTALLABLE}
   left join pypi_files m on m.file_id = f.id
   order by f.id desc limit 1`,
);

/**
 * Packages and files of a project, or of the projects in a group whose packages the viewer may read.
 * Source: reference packages-and-admin 4.5.
 */
@Injectable()
export class PypiSimpleIndexQueries {
  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
  ) {}

  /** Returns a text that changes with the files of a package. Errors: NotFound for a package without files. */
  async computeDigest(place: IndexPlace, viewer: Viewer, packageName: string): Promise<string> {
    const name = nameKeyOf('pypi', packageName);
    const [row] = await this.readRows(DIGEST, place, viewer, { name });
    if (!row || row.files === 0) throw new NotFound('Package');
    return row.digest;
  }

  /** Files of a package by name, of equal names the newest. */
  listFiles(place: IndexPlace, viewer: Viewer, packageName: string): AsyncGenerator<readonly IndexedFile[]> {
    const name = nameKeyOf('pypi', packageName);
    return readBatches(
      (after) => this.readRows(FILES, place, viewer, { name, after }),
      (row) => row.file_name,
    );
  }

  /** Versions of a package, as text. */
  listVersions(place: IndexPlace, viewer: Viewer, packageName: string): AsyncGenerator<readonly { version: string }[]> {
    const name = nameKeyOf('pypi', packageName);
    return readBatches(
      (after) => this.readRows(VERSIONS, place, viewer, { name, after }),
      (row) => row.version,
    );
  }

  /** All packages by normalized name. */
  listNames(place: IndexPlace, viewer: Viewer): AsyncGenerator<readonly IndexedName[]> {
    return readBatches(
      (after) => this.readRows(NAMES, place, viewer, { after }),
      (row) => row.name_key,
    );
  }

  /** Returns the newest file with this name and content. Errors: NotFound. */
  findDownload(place: IndexPlace, viewer: Viewer, sha256: string, file: string): Promise<PackageFileRow> {
    return this.requireFile(place, viewer, sha256, file);
  }

  /** Returns the core metadata of a file. Errors: NotFound, also for a file without any. */
  async findMetadata(place: IndexPlace, viewer: Viewer, sha256: string, file: string): Promise<CoreMetadata> {
    const { metadata_sha256, metadata_size, created_at } = await this.requireFile(place, viewer, sha256, file);
    if (metadata_sha256 === null || metadata_size === null) throw new NotFound();
    return { sha256: metadata_sha256, size: metadata_size, created_at };
  }

  private async requireFile(place: IndexPlace, viewer: Viewer, sha256: string, file: string): Promise<DownloadRow> {
    const [row] = await this.readRows(DOWNLOAD, place, viewer, { sha256, file });
    if (!row) throw new NotFound();
    return row;
  }

  private async readRows<P extends object, R>(
    statements: PlaceStatements<P, R>,
    place: IndexPlace,
    viewer: Viewer,
    params: P,
  ): Promise<R[]> {
    if (place.kind === 'project') return this.database.run(statements.ofProject, { ...params, project: place.id });
    await this.directory.requireFresh(viewer);
    const { userId, isAdmin, isExternal } = viewer;
    const group = { group: place.id, below: place.traversalIds, viewer: userId, isAdmin, isExternal };
    return this.database.run(statements.ofGroup, { ...params, ...group });
  }
}

/** Yields rows in batches, each of which continues after the key of the last row. */
async function* readBatches<R>(
  read: (after: string) => Promise<readonly R[]>,
  keyOf: (row: R) => string,
): AsyncGenerator<readonly R[]> {
  for (let after = ''; ;) {
    const rows = await read(after);
    if (rows.length > 0) yield rows;
    if (rows.length < BATCH) return;
    after = keyOf(rows.at(-1)!);
  }
}
