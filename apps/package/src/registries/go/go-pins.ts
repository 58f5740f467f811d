import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { NotFound } from '@rookery/kernel';
import { Database, statement, Work } from '@rookery/persistence';
import { PackagePublishing } from '../../packages/publishing/package-publishing';

/** A version of a Go module that clients have already got, with its commit. `target_sha` is the full id. */
export interface PinnedVersion {
  readonly package_id: number;
  readonly target_sha: string;
}

/** A version of a module. */
export interface GoVersionKey {
  readonly module: string;
  readonly version: string;
}

/** Maximum length of a module path or version in the list of packages. Units: characters. */
const MAX_NAME = 255;
const FIND = statement<{ project: number; module: string; version: string }, PinnedVersion>(
  'go_versions_find',
  `select v.package_id, v.target_sha from go_versions v
   join packages p on p.id = v.package_id and p.status <> 'pending_destruction'
   where v.project_id = :project::bigint and v.module_name = :module and v.version = :version`,
);
/** A row of a package that is being deleted gives way to that of the new package. */
const ADD = statement<
  { package: number; project: number; module: string; version: string; sha: string },
  PinnedVersion
>(
  'go_versions_add',
  `insert into go_versions as v (package_id, project_id, module_name, version, target_sha)
   values (:package::bigint, :project::bigint, :module, :version, :sha)
   on conflict (project_id, module_name, version) do update
     set package_id = excluded.package_id,
       target_sha = case when v.package_id = excluded.package_id then v.target_sha else excluded.target_sha end
   returning package_id, target_sha`,
);

/**
 * The commit of each version that was served. It never changes, also when the tag moves, because clients keep digests of
 * the files. Source: reference packages-and-admin 4.12.
 */
@Injectable()
export class GoPins {
  constructor(
    private readonly database: Database,
    private readonly work: Work,
    private readonly publishing: PackagePublishing,
  ) {}

  /** Returns the pin of a version, or null if the version was not served yet. */
  async findPin({ id: project }: ProjectScope, { module, version }: GoVersionKey): Promise<PinnedVersion | null> {
    const [found] = await this.database.run(FIND, { project, module, version });
    return found ?? null;
  }

  /** Pins a version to a commit, or returns the commit that a concurrent request has pinned. Errors: NotFound for a long name. */
  async pinVersion(project: ProjectScope, { module, version }: GoVersionKey, sha: string): Promise<PinnedVersion> {
    if (module.length > MAX_NAME || version.length > MAX_NAME)
      throw new NotFound('not found: the name is too long', { verbatim: true });
    return this.work.run(async (tx) => {
      const named = { project, creatorId: null, type: 'golang', name: module, version } as const;
      const id = await this.publishing.publishWithoutFile(tx, named);
      const [row] = await tx.run(ADD, { package: id, project: project.id, module, version, sha });
      return row!;
    });
  }
}
