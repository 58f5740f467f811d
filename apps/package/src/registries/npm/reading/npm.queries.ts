import { Injectable } from '@nestjs/common';
import { Directory, withinGroupSql } from '@rookery/directory';
import { NotFound } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import type { SqlReader } from '@rookery/persistence';
import type { PackageFileRow } from '../../../packages/listing/packages.queries';
import { canReadProjectPackagesSql } from '../../../packages/listing/readable-packages';
import { INSTALLABLE_STATUSES, literalListSql } from '../../../packages/package-types';
import { parseNpmScope } from '../npm-names';
import type { SizedManifest } from './manifest-parts';
import type { NpmPlace } from './npm-place';

/** A project that has packages of a name. */
export interface NpmSource {
  readonly project_id: number;
  readonly generation: number;
  readonly changed_at: Date;
}

/** A version of an npm package. Units: `createdAt` in ms since the epoch. */
export interface NpmVersionRow {
  readonly id: number;
  readonly project_id: number;
  readonly version: string;
  readonly createdAt: number;
}

export interface NpmTagRow {
  readonly name: string;
  readonly version: string;
  readonly package_id: number;
  readonly project_id: number;
}

/** A version as a document shows it. `id` is that of its package. `manifest` is JSON. */
export interface NpmManifestRow {
  readonly id: number;
  readonly manifest: string;
  readonly integrity: string;
  readonly shasum: string;
  readonly deprecation: string | null;
}

/** The short form holds what an installation needs. */
export type NpmForm = 'full' | 'short';

interface FindSourcesParams {
  name: string;
  viewer: number | null;
  isAdmin: boolean;
  isExternal: boolean;
}

const SOURCE = 'i.project_id, i.generation, i.changed_at';
const PACKAGE = `p.package_type = 'npm' and p.name_key = :name and p.status in (${literalListSql(INSTALLABLE_STATUSES)})`;

const IN_PROJECT = statement<{ name: string; project: number }, NpmSource>(
  'npm_source_of_project',
  `select ${SOURCE} from package_indexes i
   where i.package_type = 'npm' and i.name_key = :name and i.project_id = :project::bigint`,
);
/** Projects of the group that have the name, few of all. Bounds: 1,000 projects. */
const IN_GROUP = statement<FindSourcesParams & { below: readonly number[] }, NpmSource>(
  'npm_sources_of_group',
  `select ${SOURCE} from package_indexes i
   join directory_projects project on project.id = i.project_id
   join directory_namespaces home on home.id = project.namespace_id
   where i.package_type = 'npm' and i.name_key = :name
     and ${withinGroupSql({ namespace: 'home', traversalIds: ':below' })} and ${canReadProjectPackagesSql()}
   order by i.project_id limit 1000`,
);
/** The scope of the name is the path of the top-level namespace. Bounds: 1,000 projects. */
const IN_INSTANCE = statement<FindSourcesParams & { root: string }, NpmSource>(
  'npm_sources_of_instance',
  `select ${SOURCE} from package_indexes i
   join directory_projects project on project.id = i.project_id
   join directory_namespaces home on home.id = project.namespace_id
   join directory_namespaces root on root.id = home.traversal_ids[1] and root.path = :root
   where i.package_type = 'npm' and i.name_key = :name and ${canReadProjectPackagesSql()}
   order by i.project_id limit 1000`,
);

/** Joins the texts of a column. Neither JSON nor a version nor a digest can contain the separator. */
const joinedColumnSql = (column: string, order: string): string => `string_agg(${column}, chr(30) order by ${order})`;
const SEPARATOR = '\u001e';
/** Columns whose values are joined. Parsing 5,000 rows costs more CPU than assembling the document. */
type JoinedColumns<Column extends string> = Readonly<Record<Column, string | null>>;

const VERSIONS = statement<
  { projects: readonly number[]; name: string },
  JoinedColumns<'ids' | 'projects' | 'versions' | 'times'>
>(
  'npm_versions_of_name',
  `select ${joinedColumnSql('p.id::text', 'p.id')} as ids, ${joinedColumnSql('p.project_id::text', 'p.id')} as projects,
     ${joinedColumnSql('p.version', 'p.id')} as versions,
     ${joinedColumnSql(`round(date_part('epoch', p.created_at) * 1000)::bigint::text`, 'p.id')} as times
   from packages p where p.project_id = any(:projects::bigint[]) and ${PACKAGE}`,
);
const TAGS = statement<{ projects: readonly number[]; name: string }, NpmTagRow>(
  'npm_tags_of_name',
  `select t.name, p.version, p.id as package_id, p.project_id from package_tags t
   join packages p on p.id = t.package_id and p.status in (${literalListSql(INSTALLABLE_STATUSES)})
   where t.project_id = any(:projects::bigint[]) and t.package_type = 'npm' and t.name_key = :name
   order by t.updated_at, t.id`,
);

type JoinedManifests = JoinedColumns<'ids' | 'manifests' | 'integrities' | 'shasums'> & {
  /** Texts of the deprecations by the id of the package. */
  readonly deprecations: Readonly<Record<string, string>> | null;
};
const joinedManifestsSql = (column: 'manifest' | 'brief'): string =>
  `select ${joinedColumnSql('package_id::text', 'package_id')} as ids, ${joinedColumnSql(column, 'package_id')} as manifests,
     ${joinedColumnSql('integrity', 'package_id')} as integrities, ${joinedColumnSql('shasum', 'package_id')} as shasums,
     json_object_agg(package_id, deprecation) filter (where deprecation is not null) as deprecations
   from npm_versions where package_id = any(:ids::bigint[])`;
const MANIFESTS = {
  full: statement<{ ids: readonly number[] }, JoinedManifests>('npm_manifests', joinedManifestsSql('manifest')),
  short: statement<{ ids: readonly number[] }, JoinedManifests>('npm_brief_manifests', joinedManifestsSql('brief')),
};
const MANIFEST = statement<{ id: number }, NpmManifestRow & { readonly readme: string | null }>(
  'npm_manifest',
  `select package_id as id, manifest, integrity, shasum, deprecation, readme from npm_versions
   where package_id = :id::bigint`,
);

/** The size of a text is known without reading it. */
const SIZES = statement<{ ids: readonly number[] }, JoinedColumns<'ids' | 'sizes'>>(
  'npm_manifest_sizes',
  `select ${joinedColumnSql('package_id::text', 'package_id')} as ids,
     ${joinedColumnSql('octet_length(manifest)::text', 'package_id')} as sizes
   from npm_versions where package_id = any(:ids::bigint[])`,
);

/** A version may be asked for without its build metadata. */
const FILE = statement<{ projects: readonly number[]; name: string; version: string }, PackageFileRow>(
  'npm_tarball',
  `select f.id, f.package_id, f.file_name, f.size, f.sha256, f.sha1, f.md5, f.created_at, f.updated_at
   from packages p
   join package_files f on f.package_id = p.id and not f.is_pending_destruction
   where p.project_id = any(:projects::bigint[]) and ${PACKAGE} and coalesce(p.version, '') = :version
   order by p.id desc, f.id desc limit 1`,
);
const FILE_WITHOUT_BUILD = statement<{ projects: readonly number[]; name: string; version: string }, PackageFileRow>(
  'npm_tarball_without_build',
  `select f.id, f.package_id, f.file_name, f.size, f.sha256, f.sha1, f.md5, f.created_at, f.updated_at
   from packages p
   join package_files f on f.package_id = p.id and not f.is_pending_destruction
   where p.project_id = any(:projects::bigint[]) and ${PACKAGE} and split_part(p.version, '+', 1) = :version
   order by p.id desc, f.id desc limit 1`,
);

/** Reads of npm packages. Source: reference packages-and-admin 4.4. */
@Injectable()
export class NpmQueries {
  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
  ) {}

  /**
   * Projects at a place that have packages of a name which the viewer may read. The registry of the instance knows names
   * only whose scope is a top-level namespace. Errors: NotFound `Package` without one.
   */
  async listSources({ scope }: NpmPlace, viewer: Viewer, name: string): Promise<readonly NpmSource[]> {
    const found = await this.findSources(scope, viewer, name);
    if (found.length === 0) throw new NotFound('Package');
    return found;
  }

  /** All versions of a name, the oldest first. */
  async listVersions(
    projects: readonly number[],
    name: string,
    reads: SqlReader = this.database,
  ): Promise<NpmVersionRow[]> {
    const [row] = await reads.run(VERSIONS, { projects, name });
    const [ids, owners, times] = [
      splitJoinedNumberColumn(row?.ids),
      splitJoinedNumberColumn(row?.projects),
      splitJoinedNumberColumn(row?.times),
    ];
    return splitJoinedColumn(row?.versions).map((version, at) => ({
      ...{ id: ids[at]!, project_id: owners[at]!, version, createdAt: times[at]! },
    }));
  }

  /** Tags of a name; of several projects the tag that changed last comes last. */
  listTags(projects: readonly number[], name: string, reads: SqlReader = this.database): Promise<NpmTagRow[]> {
    return reads.run(TAGS, { projects, name });
  }

  /** Manifests of packages, in the order of their ids. */
  async listManifests(form: NpmForm, packages: readonly number[]): Promise<NpmManifestRow[]> {
    const [row] = await this.database.run(MANIFESTS[form], { ids: packages });
    const [texts, integrities, shasums] = [row?.manifests, row?.integrities, row?.shasums].map((text) =>
      splitJoinedColumn(text),
    );
    const deprecations = row?.deprecations ?? {};
    return splitJoinedNumberColumn(row?.ids).map((id, at) => ({
      ...{ id, manifest: texts![at]!, integrity: integrities![at]!, shasum: shasums![at]! },
      deprecation: deprecations[id] ?? null,
    }));
  }

  /** The manifest of a package with its readme. */
  async findManifest(id: number): Promise<(NpmManifestRow & { readonly readme: string | null }) | undefined> {
    return (await this.database.run(MANIFEST, { id }))[0];
  }

  /** Sizes of whole manifests, in the order of their ids. */
  async readManifestSizes(packages: readonly number[]): Promise<SizedManifest[]> {
    const [row] = await this.database.run(SIZES, { ids: packages });
    const sizes = splitJoinedNumberColumn(row?.sizes);
    return splitJoinedNumberColumn(row?.ids).map((id, at) => ({ id, size: sizes[at]! }));
  }

  /** Returns the tarball of a version. Errors: NotFound. */
  async findTarball(projects: readonly number[], name: string, version: string): Promise<PackageFileRow> {
    const key = { projects, name, version };
    const [exact] = await this.database.run(FILE, key);
    if (exact) return exact;
    const [found] = version.includes('+') ? [] : await this.database.run(FILE_WITHOUT_BUILD, key);
    if (!found) throw new NotFound('Package');
    return found;
  }

  private async findSources(scope: NpmPlace['scope'], viewer: Viewer, name: string): Promise<NpmSource[]> {
    if (scope?.kind === 'project') return this.database.run(IN_PROJECT, { name, project: scope.id });
    const { userId, isAdmin, isExternal } = viewer;
    const asking = { name, viewer: userId, isAdmin, isExternal };
    const root = parseNpmScope(name);
    if (scope === undefined && root === null) return [];
    await this.directory.requireFresh(viewer);
    return scope === undefined
      ? this.database.run(IN_INSTANCE, { ...asking, root: root! })
      : this.database.run(IN_GROUP, { ...asking, below: scope.traversalIds });
  }
}

/** Splits a joined column. Returns nothing for null, the value without rows. */
function splitJoinedColumn(text: string | null | undefined): string[] {
  return text ? text.split(SEPARATOR) : [];
}

function splitJoinedNumberColumn(text: string | null | undefined): number[] {
  return splitJoinedColumn(text).map(Number);
}
