import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Database, statement, Work } from '@rookery/persistence';
import type { SqlReader, Tx } from '@rookery/persistence';
import { PackageSettingsService } from '../../package-settings/package-settings.service';
import type { PackageName } from '../../package-settings/package-settings.service';
import type { PackageFileRow } from '../listing/packages.queries';
import type { StoredFile } from '../package-files';
import { identifyUploadCredential, isRetryOfUnansweredUpload, UploadAnswerTracker } from './upload-answer-tracker';
import type { EarlierUpload } from './upload-answer-tracker';

/** A file of a package. `fileName` is the stored name. */
export interface NewPackageFile extends PackageName {
  readonly fileName: string;
}

/** A stored upload. `answered` resolves with whether the client was sent the whole answer. */
export interface UploadedFile {
  readonly content: StoredFile;
  readonly answered: Promise<boolean>;
}

/** Adds the file, with the credential that may repeat the upload (null: none). */
type AddFile = (tx: Tx, repeatableBy: number | null) => Promise<PackageFileRow>;

const LOCK = statement<{ key: string }, never>(
  'package_files_lock_name',
  `select pg_advisory_xact_lock(hashtextextended(:key, 0))`,
);
const FIND = statement<
  { project: number; type: string; name: string; version: string | null; file: string },
  PackageFileRow & EarlierUpload
>(
  'package_files_find_newest',
  `select f.id, f.package_id, f.file_name, f.size, f.sha256, f.sha1, f.md5, f.created_at, f.updated_at,
     f.unanswered_token_id
   from packages p
   join package_files f on f.package_id = p.id and md5(f.file_name) = md5(:file) and f.file_name = :file
     and not f.is_pending_destruction
   where p.project_id = :project::bigint and p.package_type = :type and p.name_key = :name
     and coalesce(p.version, '') = coalesce(:version::text, '') and p.status <> 'pending_destruction'
   order by f.id desc limit 1`,
);

/**
 * Refuses a second file of the same name where the settings of the group say so. Uploads of that name then run one after
 * the other. Source: reference packages-and-admin 4.1, 4.7.
 */
@Injectable()
export class DuplicateFilePolicy {
  constructor(
    private readonly database: Database,
    private readonly work: Work,
    private readonly settings: PackageSettingsService,
    private readonly receipts: UploadAnswerTracker,
  ) {}

  /** Refuses an upload before its body is read, if no body could be accepted. Errors: Refused. */
  async refuseEarly(project: ProjectScope, viewer: SignedInViewer, file: NewPackageFile): Promise<void> {
    if (await this.areDuplicatesAllowed(project, file)) return;
    const earlier = await this.findFile(this.database, project, file);
    if (earlier && !isRetryOfUnansweredUpload(earlier, earlier.sha256, viewer)) throw duplicatePackageRefusal();
  }

  /** Adds a file in a transaction, or returns that of the upload which this one repeats. Errors: Refused. */
  async publishOnce(
    project: ProjectScope,
    viewer: SignedInViewer,
    file: NewPackageFile,
    { content, answered }: UploadedFile,
    add: AddFile,
  ): Promise<PackageFileRow> {
    if (await this.areDuplicatesAllowed(project, file)) return this.work.run((tx) => add(tx, null));
    const key = fileLockKey(project, file);
    const turn = await this.receipts.beginTurn(key, answered);
    const row = await this.work.run(async (tx) => {
      await tx.run(LOCK, { key });
      const earlier = await this.findFile(tx, project, file);
      if (!earlier) return add(tx, identifyUploadCredential(viewer));
      if (isRetryOfUnansweredUpload(earlier, content.sha256, viewer)) return earlier;
      throw duplicatePackageRefusal();
    });
    turn.stored(row.id);
    return row;
  }

  /** The newest file of the name. */
  async findFile(
    reads: SqlReader,
    { id: project }: Pick<ProjectScope, 'id'>,
    { type, name, version, fileName: file }: NewPackageFile,
  ): Promise<(PackageFileRow & EarlierUpload) | undefined> {
    return (await reads.run(FIND, { project, type, name, version, file }))[0];
  }

  /** Whether a package of the project may be uploaded again under the same name, or a module in another project. */
  areDuplicatesAllowed({ namespace }: ProjectScope, file: PackageName, reads?: SqlReader): Promise<boolean> {
    return this.settings.areDuplicatesAllowed(namespace.traversalIds, file, reads);
  }
}

function fileLockKey({ id }: ProjectScope, { type, name, version, fileName }: NewPackageFile): string {
  return JSON.stringify(['package file', id, type, name, version, fileName]);
}

function duplicatePackageRefusal(): Refused {
  return new Refused('Duplicate package is not allowed');
}
