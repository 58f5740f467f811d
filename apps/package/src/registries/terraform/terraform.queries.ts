import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { NotFound } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import { compareBuild, prerelease } from 'semver';
import type { PackageFileRow } from '../../packages/listing/packages.queries';
import { canReadProjectPackagesSql } from '../../packages/listing/readable-packages';
import { INSTALLABLE_STATUSES, literalListSql } from '../../packages/package-types';

/** A module of a project. */
export interface TerraformModuleName {
  readonly name: string;
  readonly system: string;
}

/** A module of the instance. `namespace` is the path of the top-level namespace. Letter case does not matter. */
export interface TerraformAddress extends TerraformModuleName {
  readonly namespace: string;
}

/** A version of a module. `project_path` is the full path. */
export interface TerraformVersionRow {
  readonly version: string;
  readonly project_path: string;
}

interface ModuleParams {
  root: string;
  name: string;
  viewer: number | null;
  isAdmin: boolean;
  isExternal: boolean;
}
type ProjectParams = { readonly project: number; readonly name: string };

const STATUSES = literalListSql(INSTALLABLE_STATUSES);
const FILE = 'f.id, f.package_id, f.file_name, f.size, f.sha256, f.sha1, f.md5, f.created_at, f.updated_at';
/** Versions in the projects below a top-level namespace whose packages the viewer may read. */
const OF_INSTANCE = `from package_indexes i
   join directory_projects project on project.id = i.project_id
   join directory_namespaces home on home.id = project.namespace_id
   join directory_namespaces root on root.id = home.traversal_ids[1] and lower(root.path) = lower(:root)
   join packages p on p.project_id = i.project_id and p.package_type = i.package_type and p.name_key = i.name_key
     and p.status in (${STATUSES})`;
const READABLE = `i.package_type = 'terraform_module' and i.name_key = :name and ${canReadProjectPackagesSql()}`;
const OF_PROJECT = `from packages p`;
const IN_PROJECT = `p.project_id = :project::bigint and p.package_type = 'terraform_module' and p.name_key = :name
     and p.status in (${STATUSES})`;
const NEWEST_FILE = 'join package_files f on f.package_id = p.id and not f.is_pending_destruction';

/** Bounds: the newest 5,000 versions. */
const VERSIONS = statement<ModuleParams, TerraformVersionRow>(
  'terraform_versions_of_instance',
  `select p.version, home.full_path || '/' || project.path as project_path
   ${OF_INSTANCE} where ${READABLE} order by p.id desc limit 5000`,
);
const FILE_OF_INSTANCE = statement<ModuleParams & { version: string }, PackageFileRow>(
  'terraform_file_of_instance',
  `select ${FILE} ${OF_INSTANCE} ${NEWEST_FILE}
   where ${READABLE} and coalesce(p.version, '') = :version order by p.id desc, f.id desc limit 1`,
);
const VERSIONS_OF_PROJECT = statement<ProjectParams, { version: string }>(
  'terraform_versions_of_project',
  `select p.version ${OF_PROJECT} where ${IN_PROJECT} order by p.id desc limit 5000`,
);
const FILE_OF_PROJECT = statement<ProjectParams & { version: string }, PackageFileRow>(
  'terraform_file_of_project',
  `select ${FILE} ${OF_PROJECT} ${NEWEST_FILE}
   where ${IN_PROJECT} and coalesce(p.version, '') = :version order by f.id desc limit 1`,
);

/** Reads of Terraform modules. Source: reference packages-and-admin 4.10. */
@Injectable()
export class TerraformQueries {
  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
  ) {}

  /**
   * Versions of a module, the oldest first; of equal ones in several projects the newest package. Errors: NotFound.
   */
  async listVersions(address: TerraformAddress, viewer: Viewer): Promise<readonly TerraformVersionRow[]> {
    const rows = await this.database.run(VERSIONS, await this.moduleParams(address, viewer));
    if (rows.length === 0) throw noTerraformVersionRefusal(address);
    return [...new Map([...rows].reverse().map((row) => [row.version, row])).values()].sort((a, b) =>
      compareBuild(a.version, b.version),
    );
  }

  /** The file of a version. Errors: NotFound. */
  async findFile(address: TerraformAddress, version: string, viewer: Viewer): Promise<PackageFileRow> {
    const [found] = await this.database.run(FILE_OF_INSTANCE, {
      ...(await this.moduleParams(address, viewer)),
      version,
    });
    if (!found) throw noTerraformVersionRefusal(address);
    return found;
  }

  /** The latest version of a module in a project. Errors: NotFound. */
  async latestOfProject(project: number, module: TerraformModuleName): Promise<string> {
    const rows = await this.database.run(VERSIONS_OF_PROJECT, { project, name: moduleName(module) });
    if (rows.length === 0) throw noTerraformVersionRefusal(module);
    return findLatestTerraformVersion(rows.map(({ version }) => version));
  }

  /** The file of a version in a project. Errors: NotFound. */
  async fileOfProject(project: number, module: TerraformModuleName, version: string): Promise<PackageFileRow> {
    const [found] = await this.database.run(FILE_OF_PROJECT, { project, name: moduleName(module), version });
    if (!found) throw noTerraformVersionRefusal(module);
    return found;
  }

  /** Returns a viewer whose rights were signed earlier, without rights as administrator that the user has no longer. */
  async asNow(viewer: Viewer): Promise<Viewer> {
    const user =
      viewer.userId === null ? undefined : (await this.directory.findUsers([viewer.userId])).get(viewer.userId);
    return user ? { ...viewer, isAdmin: viewer.isAdmin && user.admin, isExternal: user.external } : viewer;
  }

  private async moduleParams(address: TerraformAddress, viewer: Viewer): Promise<ModuleParams> {
    await this.directory.requireFresh(viewer);
    const { userId, isAdmin, isExternal } = viewer;
    return { root: address.namespace, name: moduleName(address), viewer: userId, isAdmin, isExternal };
  }
}

/** Name of the package. */
export function moduleName({ name, system }: TerraformModuleName): string {
  return `${name}/${system}`;
}

/** Returns the highest release, or the highest prerelease if there is no release. `versions` must not be empty. */
export function findLatestTerraformVersion(versions: readonly string[]): string {
  const releases = versions.filter((version) => prerelease(version) === null);
  return [...(releases.length > 0 ? releases : versions)].sort(compareBuild).at(-1)!;
}

/** Refusal for a module without the requested version, or without any version. */
export function noTerraformVersionRefusal({ name }: TerraformModuleName): NotFound {
  return new NotFound(`No version found for ${name} module`, { verbatim: true });
}
