import { Injectable } from '@nestjs/common';
import { Directory, withinGroupSql } from '@rookery/directory';
import { NotFound } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import type { SqlReader } from '@rookery/persistence';
import type { PackageFileRow } from '../../../packages/listing/packages.queries';
import { readablePackagesSql } from '../../../packages/listing/readable-packages';
import { INSTALLABLE_STATUSES, literals } from '../../../packages/package-types';
import { scopeOf } from '../npm-names';
import type { SizedManifest } from './manifest-parts';
import type { NpmPlace } from './npm-place';

/** A project that has packages of a name. */
export interface NpmSource {
  readonly project_id: number;
  readonly generation: number;
  readonly changed_at: Date;
}

export interface NpmVersionRow {
  readonly id: number;
  readonly project_id: number;
  readonly version: string;
  readonly created_at: Date;
}

export interface NpmTagRow {
  readonly name: string;
  readonly version: string;
  readonly package_id: number;
  readonly project_id: number;
}

/** A version as a document shows it. Shape: `manifest` is JSON; `readme` is null unless it was asked for. */
export interface NpmManifestRow {
  /** Id of the package. */
  readonly id: number;
  readonly manifest: string;
  readonly integrity: string;
  readonly shasum: string;
  readonly deprecation: string | null;
  readonly readme: string | null;
}

/** The short form holds what an installation needs. */
export type NpmForm = 'full' | 'short';

interface Asking {
  name: string;
  viewer: number | null;
  isAdmin: boolean;
  isExternal: boolean;
}

const SOURCE = 'i.project_id, i.generation, i.changed_at';
const PACKAGE = `p.package_type = 'npm' and p.name_key = :name and p.status in (${literals(INSTALLABLE_STATUSES)})`;

const IN_PROJECT = statement<{ name: string; project: number }, NpmSource>(
  'npm_source_of_project',
  `select ${SOURCE} from package_indexes i
   where i.package_type = 'npm' and i.name_key = :name and i.project_id = :project::bigint`,
);
/** Projects of the group that have the name, few of all. Bounds: 1,000 projects. */
const IN_GROUP = statement<Asking & { below: readonly number[] }, NpmSource>(
  'npm_sources_of_group',
  `select ${SOURCE} from package_indexes i
   join directory_projects project on project.id = i.project_id
   join directory_namespaces home on home.id = project.namespace_id
   where i.package_type = 'npm' and i.name_key = :name
     and ${withinGroupSql({ namespace: 'home', traversalIds: ':below' })} and ${readablePackagesSql()}
   order by i.project_id limit 1000`,
);
/** The scope of the name is the path of the top-level namespace. Bounds: 1,000 projects. */
const IN_INSTANCE = statement<Asking & { root: string }, NpmSource>(
  'npm_sources_of_instance',
  `select ${SOURCE} from package_indexes i
   join directory_projects project on project.id = i.project_id
   join directory_namespaces home on home.id = project.namespace_id
   join directory_namespaces root on root.id = home.traversal_ids[1] and root.path = :root
   where i.package_type = 'npm' and i.name_key = :name and ${readablePackagesSql()}
   order by i.project_id limit 1000`,
);

const VERSIONS = statement<{ projects: readonly number[]; name: string }, NpmVersionRow>(
  'npm_versions_of_name',
  `select p.id, p.project_id, p.version, p.created_at from packages p
   where p.project_id = any(:projects::bigint[]) and ${PACKAGE} order by p.id`,
);
const TAGS = statement<{ projects: readonly number[]; name: string }, NpmTagRow>(
  'npm_tags_of_name',
  `select t.name, p.version, p.id as package_id, p.project_id from package_tags t
   join packages p on p.id = t.package_id and p.status in (${literals(INSTALLABLE_STATUSES)})
   where t.project_id = any(:projects::bigint[]) and t.package_type = 'npm' and t.name_key = :name
   order by t.updated_at, t.id`,
);

/** Manifests of packages, in the order of their ids. */
const manifests = (columns: string): string => `
  select package_id as id, ${columns}, integrity, shasum, deprecation from npm_versions
  where package_id = any(:ids::bigint[]) order by package_id`;
const FULL = statement<{ ids: readonly number[]; latest: number | null }, NpmManifestRow>(
  'npm_manifests',
  manifests('manifest, case when package_id = :latest::bigint then readme end as readme'),
);
const SHORT = statement<{ ids: readonly number[] }, NpmManifestRow>(
  'npm_brief_manifests',
  manifests('brief as manifest, null::text as readme'),
);

/** The size of a text is known without reading it. */
const SIZES = statement<{ ids: readonly number[] }, SizedManifest>(
  'npm_manifest_sizes',
  `select package_id as id, octet_length(manifest) as size from npm_versions
   where package_id = any(:ids::bigint[]) order by package_id`,
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
  async sources({ scope }: NpmPlace, viewer: Viewer, name: string): Promise<readonly NpmSource[]> {
    const found = await this.found(scope, viewer, name);
    if (found.length === 0) throw new NotFound('Package');
    return found;
  }

  /** All versions of a name, the oldest first. */
  versions(projects: readonly number[], name: string, reads: SqlReader = this.database): Promise<NpmVersionRow[]> {
    return reads.run(VERSIONS, { projects, name });
  }

  /** Tags of a name; of several projects the tag that changed last comes last. */
  tags(projects: readonly number[], name: string, reads: SqlReader = this.database): Promise<NpmTagRow[]> {
    return reads.run(TAGS, { projects, name });
  }

  /** Shape: the readme of `latest` alone, in the full form. */
  manifests(form: NpmForm, ids: readonly number[], latest: number | null): Promise<NpmManifestRow[]> {
    return form === 'full' ? this.database.run(FULL, { ids, latest }) : this.database.run(SHORT, { ids });
  }

  /** Sizes of whole manifests, in the order of their ids. */
  sizes(ids: readonly number[]): Promise<SizedManifest[]> {
    return this.database.run(SIZES, { ids });
  }

  /** Returns the tarball of a version. Errors: NotFound. */
  async tarball(projects: readonly number[], name: string, version: string): Promise<PackageFileRow> {
    const key = { projects, name, version };
    const [exact] = await this.database.run(FILE, key);
    if (exact) return exact;
    const [found] = version.includes('+') ? [] : await this.database.run(FILE_WITHOUT_BUILD, key);
    if (!found) throw new NotFound('Package');
    return found;
  }

  private async found(scope: NpmPlace['scope'], viewer: Viewer, name: string): Promise<NpmSource[]> {
    if (scope?.kind === 'project') return this.database.run(IN_PROJECT, { name, project: scope.id });
    const { userId, isAdmin, isExternal } = viewer;
    const asking = { name, viewer: userId, isAdmin, isExternal };
    const root = scopeOf(name);
    if (scope === undefined && root === null) return [];
    await this.directory.fresh(viewer);
    return scope === undefined
      ? this.database.run(IN_INSTANCE, { ...asking, root: root! })
      : this.database.run(IN_GROUP, { ...asking, below: scope.traversalIds });
  }
}
