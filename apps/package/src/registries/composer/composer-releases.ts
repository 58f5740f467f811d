import { Inject, Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { CLOCK, Refused } from '@rookery/kernel';
import type { Clock, SignedInViewer } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import { raiseGeneration } from '../../packages/indexing/package-index';
import { PackagePublishing } from '../../packages/publishing/package-publishing';
import type { ComposerDescription } from './composer-json';

/** A version to publish. Shape: `sha` is the full id of the commit. */
export interface ComposerRelease {
  readonly project: ProjectScope;
  readonly viewer: SignedInViewer;
  readonly version: string;
  readonly sha: string;
  readonly description: ComposerDescription;
}

/** Versions of a name below one top-level namespace follow each other, so that two projects cannot both begin it. */
const LOCK_NAME = statement<{ key: string }, never>(
  'composer_lock_name',
  `select pg_advisory_xact_lock(hashtextextended(:key, 0))`,
);
const IN_OTHER_PROJECT = statement<{ project: number; root: number; name: string }, { id: number }>(
  'composer_name_in_other_project',
  `select p.id from package_indexes i
   join directory_projects project on project.id = i.project_id
   join directory_namespaces home on home.id = project.namespace_id and home.traversal_ids[1] = :root::bigint
   join packages p on p.project_id = i.project_id and p.package_type = i.package_type and p.name_key = i.name_key
     and p.status <> 'pending_destruction'
   where i.package_type = 'composer' and i.name_key = :name and i.project_id <> :project::bigint limit 1`,
);
const SAVE = statement<{ package: number; project: number; sha: string; description: string }, never>(
  'composer_versions_save',
  `insert into composer_versions (package_id, project_id, target_sha, description)
   values (:package::bigint, :project::bigint, :sha, :description)
   on conflict (package_id) do update set target_sha = excluded.target_sha, description = excluded.description`,
);

/** Rows of versions. Source: reference packages-and-admin 4.11. */
@Injectable()
export class ComposerReleases {
  constructor(
    private readonly work: Work,
    private readonly publishing: PackagePublishing,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Adds a version, or moves it to another commit. Errors: Refused for a name that another project has. */
  async save({ project, viewer, version, sha, description }: ComposerRelease): Promise<void> {
    const { name, text } = description;
    const root = project.namespace.traversalIds[0]!;
    await this.work.run(async (tx) => {
      await tx.run(LOCK_NAME, { key: `composer ${root} ${name}` });
      const [other] = await tx.run(IN_OTHER_PROJECT, { project: project.id, root, name });
      if (other) throw new Refused('Validation failed: Name is already taken by another project', { verbatim: true });
      await raiseGeneration(tx, { projectId: project.id, type: 'composer', name }, this.clock.now());
      const named = { project, creatorId: viewer.userId, type: 'composer', name, version } as const;
      const id = await this.publishing.publishWithoutFile(tx, named);
      await tx.run(SAVE, { package: id, project: project.id, sha, description: text });
    });
  }
}
