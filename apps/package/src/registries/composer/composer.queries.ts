import { Injectable } from '@nestjs/common';
import type { GroupScope } from '@rookery/api-v4';
import { Directory, withinGroupSql } from '@rookery/directory';
import { NotFound } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import { readablePackageProjectsSql } from '../../packages/listing/packages.queries';
import type { ReadableProjectsParams } from '../../packages/listing/packages.queries';
import { canReadProjectPackagesSql } from '../../packages/listing/readable-packages';
import { INSTALLABLE_STATUSES, literalListSql } from '../../packages/package-types';

/** A version of a package. `description` is JSON; `project_path` is the full path. */
export interface ComposerVersionRow {
  readonly id: number;
  readonly project_id: number;
  readonly project_path: string;
  readonly version: string;
  readonly target_sha: string;
  readonly description: string;
  /** Time of the last change of the package's versions in the project. */
  readonly changed_at: Date;
}

/** Newest versions of a package that a document shows. */
const MAX_VERSIONS = 300;
/** Names that a repository lists. Clients ask for each name where there are more. */
export const MAX_NAMES = 5000;

const STATUSES = literalListSql(INSTALLABLE_STATUSES);
const NAMES = statement<ReadableProjectsParams, { name: string }>(
  'composer_names_of_group',
  // Each project is read by the index, however many others have packages.
  `select distinct named.name_key as name from ${readablePackageProjectsSql({ exclude_subgroups: false })}, lateral (
     select p.name_key from packages p
     where p.project_id = scope.id and p.package_type = 'composer' and p.status in (${STATUSES})
     offset 0) named
   order by name limit ${MAX_NAMES + 1}`,
);
const VERSIONS = statement<Omit<ReadableProjectsParams, 'group'> & { name: string }, ComposerVersionRow>(
  'composer_versions_of_group',
  `select p.id, p.project_id, home.full_path || '/' || project.path as project_path, p.version, v.target_sha,
     v.description, i.changed_at
   from package_indexes i
   join directory_projects project on project.id = i.project_id
   join directory_namespaces home on home.id = project.namespace_id
   join packages p on p.project_id = i.project_id and p.package_type = i.package_type and p.name_key = i.name_key
     and p.status in (${STATUSES})
   join composer_versions v on v.package_id = p.id
   where i.package_type = 'composer' and i.name_key = :name
     and ${withinGroupSql({ namespace: 'home', traversalIds: ':below' })} and ${canReadProjectPackagesSql()}
   order by p.id desc limit ${MAX_VERSIONS}`,
);
const PACKAGE_OF = statement<{ project: number; name: string; sha: string }, { id: number }>(
  'composer_package_of_commit',
  `select p.id from composer_versions v
   join packages p on p.id = v.package_id and p.name_key = :name and p.status in (${STATUSES})
   where v.project_id = :project::bigint and v.target_sha = :sha order by p.id desc limit 1`,
);

/** Reads of Composer packages. Source: reference packages-and-admin 4.11. */
@Injectable()
export class ComposerQueries {
  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
  ) {}

  /** Names of the packages in a group that the viewer may read; one more than `MAX_NAMES` if there are more. */
  async listNames({ id, traversalIds }: GroupScope, viewer: Viewer): Promise<readonly string[]> {
    const rows = await this.database.run(NAMES, {
      ...(await this.viewerParams(viewer)),
      group: id,
      below: traversalIds,
    });
    return rows.map(({ name }) => name);
  }

  /** The newest versions of a package in a group, the newest first. */
  async listVersions(
    { traversalIds }: GroupScope,
    viewer: Viewer,
    name: string,
  ): Promise<readonly ComposerVersionRow[]> {
    return this.database.run(VERSIONS, { ...(await this.viewerParams(viewer)), below: traversalIds, name });
  }

  /** Id of a package with a version at the commit. Errors: NotFound. */
  async findPackage(project: number, name: string, sha: string): Promise<number> {
    const [found] = await this.database.run(PACKAGE_OF, { project, name, sha });
    if (!found) throw new NotFound('Package');
    return found.id;
  }

  private async viewerParams(viewer: Viewer) {
    await this.directory.requireFresh(viewer);
    return { viewer: viewer.userId, isAdmin: viewer.isAdmin, isExternal: viewer.isExternal };
  }
}
