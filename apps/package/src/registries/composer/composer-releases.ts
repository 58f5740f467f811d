import { Inject, Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { CLOCK, Refused } from '@rookery/kernel';
import type { Clock, SignedInViewer } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import { isPackageInOtherProject, lockPackageNameBelowRoot } from '../../packages/indexing/names-below-root';
import { raisePackageIndexGeneration } from '../../packages/indexing/package-index';
import { PackagePublishing } from '../../packages/publishing/package-publishing';
import type { ComposerDescription } from './composer-json';

/** A version to publish. `sha` is the full id of the commit. */
export interface ComposerRelease {
  readonly project: ProjectScope;
  readonly viewer: SignedInViewer;
  readonly version: string;
  readonly sha: string;
  readonly description: ComposerDescription;
}

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
  async saveRelease({ project, viewer, version, sha, description }: ComposerRelease): Promise<void> {
    const { name, text } = description;
    const owned = { project, type: 'composer', name } as const;
    await this.work.run(async (tx) => {
      await lockPackageNameBelowRoot(tx, owned);
      if (await isPackageInOtherProject(tx, owned))
        throw new Refused('Validation failed: Name is already taken by another project', { verbatim: true });
      await raisePackageIndexGeneration(tx, { projectId: project.id, type: 'composer', name }, this.clock.now());
      const named = { project, creatorId: viewer.userId, type: 'composer', name, version } as const;
      const id = await this.publishing.publishWithoutFile(tx, named);
      await tx.run(SAVE, { package: id, project: project.id, sha, description: text });
    });
  }
}
