import { Injectable } from '@nestjs/common';
import type { GroupScope, ProjectScope } from '@rookery/api-v4';
import { Directory, withinGroupSql } from '@rookery/directory';
import { ACCESS_LEVELS, NotFound } from '@rookery/kernel';
import type { Page, PageRequest, Viewer } from '@rookery/kernel';
import { likePattern, Database, ListQuery, containsSql, statement } from '@rookery/persistence';
import type { Bind, Filters } from '@rookery/persistence';
import { tagsOfPackages } from '../indexing/package-tags';
import type { PackageTagRow } from '../indexing/package-tags';
import { canDeletePackages } from '../packages.policy';
import { LISTED_STATUSES, literalListSql, PACKAGE_TYPES, SHOWN_STATUSES } from '../package-types';
import type { PackageStatus, PackageType } from '../package-types';
import type { FileListing, GroupListing, ProjectListing } from './package-listing';
import { viewerProjectLevelSql as levelSql, canReadProjectPackagesSql } from './readable-packages';

/** A package as lists and single reads show it. */
export interface PackageRow {
  readonly id: number;
  readonly project_id: number;
  readonly name: string;
  readonly name_key: string;
  readonly version: string | null;
  readonly package_type: PackageType;
  readonly status: PackageStatus;
  readonly creator_id: number | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly last_downloaded_at: Date | null;
  /** Full path of the project. */
  readonly project_path: string;
  readonly can_delete: boolean;
  readonly tags: readonly PackageTagRow[];
}

/** Another version of a package. */
export interface SiblingRow {
  readonly id: number;
  readonly version: string | null;
  readonly created_at: Date;
  readonly tags: readonly PackageTagRow[];
}

export interface PackageFileRow {
  readonly id: number;
  readonly package_id: number;
  readonly file_name: string;
  /** Units: bytes. */
  readonly size: number;
  readonly sha256: string;
  readonly sha1: string;
  readonly md5: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

type StoredPackageRow = Omit<PackageRow, 'project_path' | 'can_delete' | 'tags'>;
type GroupPackageRow = Omit<PackageRow, 'tags'>;
type PackageListing = ProjectListing | GroupListing;
type RequestedFilters = Pick<ProjectListing, 'package_type' | 'package_name' | 'package_version'>;

const COLUMNS = `p.id, p.project_id, p.name, p.name_key, p.version, p.package_type, p.status, p.creator_id, p.created_at, p.updated_at,
  p.last_downloaded_at`;
const FILE_COLUMNS = `f.id, f.package_id, f.file_name, f.size, f.sha256, f.sha1, f.md5, f.created_at, f.updated_at`;
const ORDER_BY = {
  created_at: 'p.created_at',
  name: 'p.name',
  version: 'p.version',
  type: `array_position(array[${literalListSql(PACKAGE_TYPES)}], p.package_type)`,
  project_path: 'p.project_path',
} as const;

/** Packages of the project that a row of `scope` names. */
const IN_SCOPE = '(select p.*, scope.path as project_path from packages p where p.project_id = scope.id) p';

const FILTERS: Filters<RequestedFilters> = {
  package_type: (type, bind) => `p.package_type = ${bind(type)}`,
  package_name: (name, bind) =>
    splitSearchTerms(name)
      .map((term) => containsSql(['p.name'], bind(likePattern(term))))
      .join(' and ') || false,
  package_version: (version, bind) => `p.version = ${bind(version)}`,
};

const ONE = statement<{ id: number; project: number }, StoredPackageRow>(
  'packages_one',
  `select ${COLUMNS} from packages p where p.id = :id::bigint and p.project_id = :project::bigint`,
);

/** Bounds: 5,000 versions. */
const SIBLINGS = statement<{ id: number }, Omit<SiblingRow, 'tags'>>(
  'packages_siblings',
  `select p.id, p.version, p.created_at from packages own
   join packages p on p.project_id = own.project_id and p.package_type = own.package_type
     and p.name_key = own.name_key and p.id <> own.id and p.status in (${literalListSql(LISTED_STATUSES)})
   where own.id = :id::bigint
   order by p.version, p.id limit 5000`,
);

/** Lists and single reads of packages and their files. Source: reference packages-and-admin 3.4, 3.5. */
@Injectable()
export class PackagesQueries {
  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
  ) {}

  async ofProject(
    project: ProjectScope,
    viewer: Viewer,
    asked: ProjectListing,
    page: PageRequest,
  ): Promise<Page<PackageRow>> {
    const query = new ListQuery<StoredPackageRow>({ name: 'packages', from: 'packages p', columns: COLUMNS })
      .where((bind) => `p.project_id = ${bind(project.id, 'project')}`)
      .where(packageStatusConditionSql(asked))
      .where(packageHasVersionConditionSql(asked))
      .narrow(FILTERS, asked)
      .orderBy([[ORDER_BY[asked.order_by], asked.sort]]);
    const found = await query.readPage(this.database, page);
    const rows = await this.withTags(found.rows);
    return { ...found, rows: rows.map((row) => toPackageOfProject(row, project, viewer)) };
  }

  /** Packages of the projects in a group that the viewer may read packages of. */
  async ofGroup(group: GroupScope, viewer: Viewer, asked: GroupListing, page: PageRequest): Promise<Page<PackageRow>> {
    await this.directory.requireFresh(viewer);
    const query = new ListQuery<GroupPackageRow>({
      name: 'group_packages',
      from: 'packages p',
      columns: `${COLUMNS}, home.full_path || '/' || project.path as project_path,
        (:isAdmin::boolean or ${levelSql()} >= ${ACCESS_LEVELS.maintainer}) and not project.archived as can_delete`,
      joins: `join directory_projects project on project.id = p.project_id
        join directory_namespaces home on home.id = project.namespace_id`,
      values: {
        viewer: viewer.userId,
        isAdmin: viewer.isAdmin,
        isExternal: viewer.isExternal,
        group: group.id,
        below: group.traversalIds,
      },
    });
    query
      .where(packageStatusConditionSql(asked))
      .where(packageHasVersionConditionSql(asked))
      .where(`p.package_type <> 'terraform_module'`)
      .narrow(FILTERS, asked)
      .orderBy([[ORDER_BY[asked.order_by], asked.sort]]);
    const found = await query.fromEach([readablePackageProjectsSql(asked), IN_SCOPE]).readPage(this.database, page);
    return { ...found, rows: await this.withTags(found.rows) };
  }

  /**
   * One package with a status that the API shows. Errors: NotFound; for a package that failed, with the text
   * `Package not found` or that of `failedAs`.
   */
  async findPackage(
    project: ProjectScope,
    viewer: Viewer,
    id: number,
    failedAs = new NotFound('Package not found', { verbatim: true }),
  ): Promise<PackageRow> {
    const [row] = await this.database.run(ONE, { id, project: project.id });
    if (row?.status === 'error') throw failedAs;
    if (!row || !SHOWN_STATUSES.includes(row.status)) throw new NotFound();
    return toPackageOfProject((await this.withTags([row]))[0]!, project, viewer);
  }

  /** Other versions of a package, by version. */
  async listSiblings(id: number): Promise<SiblingRow[]> {
    return this.withTags(await this.database.run(SIBLINGS, { id }));
  }

  listFiles(packageId: number, asked: FileListing, page: PageRequest): Promise<Page<PackageFileRow>> {
    return new ListQuery<PackageFileRow>({ name: 'package_files', from: 'package_files f', columns: FILE_COLUMNS })
      .where((bind) => `f.package_id = ${bind(packageId, 'package')}`)
      .where('not f.is_pending_destruction')
      .orderBy([[`f.${asked.order_by}`, asked.sort]])
      .readPage(this.database, page);
  }

  private async withTags<R extends { readonly id: number }>(
    rows: readonly R[],
  ): Promise<(R & { readonly tags: readonly PackageTagRow[] })[]> {
    const tags = await tagsOfPackages(
      this.database,
      rows.map(({ id }) => id),
    );
    return rows.map((row) => ({ ...row, tags: tags.get(row.id) ?? [] }));
  }
}

function toPackageOfProject(
  row: StoredPackageRow & Pick<PackageRow, 'tags'>,
  project: ProjectScope,
  viewer: Viewer,
): PackageRow {
  return { ...row, project_path: project.fullPath, can_delete: canDeletePackages(viewer, project) };
}

/** Splits a search text at blanks and keeps phrases in double quotes together. */
function splitSearchTerms(text: string): readonly string[] {
  return [...text.matchAll(/"([^"]+)"|(\S+)/g)].map(([, phrase, word]) => (phrase ?? word)!);
}

function packageStatusConditionSql({ status }: PackageListing): string | ((bind: Bind) => string) {
  if (status === undefined) return `p.status in (${literalListSql(LISTED_STATUSES)})`;
  return (bind) => `p.status = ${bind(status, 'status')}`;
}

function packageHasVersionConditionSql({
  include_versionless: isComplete,
  package_version: version,
}: PackageListing): string {
  return isComplete && version === undefined ? 'true' : 'p.version is not null';
}

/** Parameters of `readablePackageProjectsSql`. `below` are the traversal ids of the group. */
export type ReadableProjectsParams = {
  readonly group: number;
  readonly below: readonly number[];
  readonly viewer: number | null;
  readonly isAdmin: boolean;
  readonly isExternal: boolean;
};

/**
 * FROM item `scope` with the columns `id` and `path` of the projects of the group whose packages the viewer may read.
 * Its parameters are ReadableProjectsParams.
 */
export function readablePackageProjectsSql({
  exclude_subgroups: isDirect,
}: Pick<GroupListing, 'exclude_subgroups'>): string {
  const place = isDirect ? 'home.id = :group::bigint' : withinGroupSql({ namespace: 'home', traversalIds: ':below' });
  return `(select project.id, project.path from directory_projects project
    join directory_namespaces home on home.id = project.namespace_id
    where ${place} and ${canReadProjectPackagesSql()} offset 0) scope`;
}
