import { Inject, Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { CLOCK, Forbidden } from '@rookery/kernel';
import type { Clock, SignedInViewer } from '@rookery/kernel';
import { Database, statement, Work } from '@rookery/persistence';
import type { SqlReader, Tx } from '@rookery/persistence';
import { isPackageInOtherProject, lockPackageNameBelowRoot } from '../../packages/indexing/names-below-root';
import { raisePackageIndexGeneration } from '../../packages/indexing/package-index';
import type { StoredFile } from '../../packages/package-files';
import { PackagePublishing } from '../../packages/publishing/package-publishing';
import {
  identifyUploadCredential,
  isRetryOfUnansweredUpload,
  UploadAnswerTracker,
} from '../../packages/publishing/upload-answer-tracker';
import type { EarlierUpload } from '../../packages/publishing/upload-answer-tracker';

/** A version to publish. `name` is that of the package; `isShareable` lets other projects have the name, too. */
export interface TerraformRelease {
  readonly project: ProjectScope;
  readonly viewer: SignedInViewer;
  readonly name: string;
  readonly version: string;
  readonly isShareable: boolean;
}

interface ExistingVersion extends EarlierUpload {
  readonly file_id: number | null;
}

const EXISTING = statement<{ project: number; name: string; version: string }, ExistingVersion>(
  'terraform_existing_version',
  `select f.id as file_id, f.sha256, f.unanswered_token_id
   from packages p
   left join lateral (select id, sha256, unanswered_token_id from package_files
     where package_id = p.id and not is_pending_destruction order by id desc limit 1) f on true
   where p.project_id = :project::bigint and p.package_type = 'terraform_module' and p.name_key = :name
     and coalesce(p.version, '') = :version and p.status <> 'pending_destruction'`,
);
/** Adds uploaded archives to modules. Source: reference packages-and-admin 4.10. */
@Injectable()
export class TerraformReleases {
  constructor(
    private readonly database: Database,
    private readonly work: Work,
    private readonly publishing: PackagePublishing,
    private readonly receipts: UploadAnswerTracker,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Refuses an upload before its body is read, if no body could be accepted. Errors: Forbidden. */
  async refuseEarly(release: TerraformRelease): Promise<void> {
    await this.refuseInOtherProject(this.database, release);
    const existing = await this.findVersion(this.database, release);
    if (existing && !isRetryOfUnansweredUpload(existing, existing.sha256 ?? undefined, release.viewer))
      throw duplicateVersionRefusal();
  }

  /**
   * Adds the version. The same upload again succeeds without effect if the first one was not answered. Errors: Forbidden
   * for a version that exists, a name that another project has, and beyond a limit of storage.
   */
  async publishRelease(release: TerraformRelease, content: StoredFile, answered: Promise<boolean>): Promise<void> {
    const { project, name, version } = release;
    const turn = await this.receipts.beginTurn(
      JSON.stringify(['terraform version', project.id, name, version]),
      answered,
    );
    turn.stored(await this.work.run((tx) => this.addRelease(tx, release, content)));
  }

  /** Returns the id of the file. */
  private async addRelease(tx: Tx, release: TerraformRelease, content: StoredFile): Promise<number> {
    const { project, viewer, name, version } = release;
    await lockPackageNameBelowRoot(tx, { project, type: 'terraform_module', name });
    await this.refuseInOtherProject(tx, release);
    await raisePackageIndexGeneration(tx, { projectId: project.id, type: 'terraform_module', name }, this.clock.now());
    const existing = await this.findVersion(tx, release);
    if (existing) {
      if (existing.file_id === null || !isRetryOfUnansweredUpload(existing, content.sha256, viewer))
        throw duplicateVersionRefusal();
      return existing.file_id;
    }
    const { id } = await this.publishing.publishFile(tx, {
      ...{ project, type: 'terraform_module' as const, name, version, creatorId: viewer.userId, content },
      ...{ fileName: `${name.replace('/', '-')}-${version}.tgz`, repeatableBy: identifyUploadCredential(viewer) },
    });
    return id;
  }

  private async findVersion(reads: SqlReader, release: TerraformRelease): Promise<ExistingVersion | undefined> {
    const { project, name, version } = release;
    return (await reads.run(EXISTING, { project: project.id, name, version }))[0];
  }

  /** Addresses of the instance name no project, so a name has one project below each top-level namespace. */
  private async refuseInOtherProject(reads: SqlReader, release: TerraformRelease): Promise<void> {
    const { project, name, isShareable } = release;
    if (isShareable || !(await isPackageInOtherProject(reads, { project, type: 'terraform_module', name }))) return;
    throw new Forbidden('A package with the same name already exists in the namespace', { verbatim: true });
  }
}

function duplicateVersionRefusal(): Forbidden {
  return new Forbidden('Package version already exists.', { verbatim: true });
}
