import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { statement, Work } from '@rookery/persistence';
import type { SqlReader, Tx } from '@rookery/persistence';
import { PackagePublishing } from '../../packages/publishing/package-publishing';
import {
  identifyUploadCredential,
  isRetryOfUnansweredUpload,
  UploadAnswerTracker,
} from '../../packages/publishing/upload-answer-tracker';
import type { EarlierUpload } from '../../packages/publishing/upload-answer-tracker';
import { pypiValidationRefusal } from './release';
import type { PypiRelease } from './release';
import type { WheelMetadata } from './wheel-metadata';

/**
 * The version that a release adds to. `file_id` and the fields of `EarlierUpload` are null without a file of the same
 * name.
 */
interface ExistingVersion extends EarlierUpload {
  readonly version: string;
  readonly file_id: number | null;
}

/** Uploads under one name run one after the other, so that neither a version nor a file name is added twice. */
const LOCK = statement<{ project: number; name: string }, never>(
  'pypi_lock_name',
  `select pg_advisory_xact_lock(hashtextextended('pypi ' || :project::bigint || ' ' || :name, 0))`,
);
const FIND = statement<{ project: number; name: string; version: string; file: string }, ExistingVersion>(
  'pypi_find_version',
  `select p.version, f.id as file_id, f.sha256, f.unanswered_token_id
   from pypi_versions v
   join packages p on p.id = v.package_id and p.status <> 'pending_destruction'
   left join package_files f on f.package_id = p.id and md5(f.file_name) = md5(:file) and f.file_name = :file
     and not f.is_pending_destruction
   where v.project_id = :project::bigint and v.name_key = :name and v.version_key = :version
   order by p.id, f.id limit 1`,
);
/** Index pages show one file of each name, so that a second one would take the place of the first. */
const FIND_ELSEWHERE = statement<{ project: number; name: string; version: string; file: string }, { id: number }>(
  'pypi_find_file_elsewhere',
  `select f.id from pypi_versions v
   join packages p on p.id = v.package_id and p.status <> 'pending_destruction'
   join package_files f on f.package_id = p.id and md5(f.file_name) = md5(:file) and f.file_name = :file
     and not f.is_pending_destruction
   where v.project_id = :project::bigint and v.name_key = :name and v.version_key <> :version
   limit 1`,
);
const ADD_VERSION = statement<{ package: number; project: number; name: string; version: string }, never>(
  'pypi_versions_add',
  `insert into pypi_versions (package_id, project_id, name_key, version_key)
   values (:package::bigint, :project::bigint, :name, :version) on conflict (package_id) do nothing`,
);
const ADD_FILE = statement<
  { file: number; requires: string | null; metadata: string | null; size: number | null },
  never
>(
  'pypi_files_add',
  `insert into pypi_files (file_id, requires_python, metadata_sha256, metadata_size)
   values (:file::bigint, :requires::text, :metadata::text, :size::integer)`,
);

/** Adds uploaded files to PyPI packages. Source: reference packages-and-admin 4.5. */
@Injectable()
export class PypiReleasesService {
  constructor(
    private readonly work: Work,
    private readonly publishing: PackagePublishing,
    private readonly receipts: UploadAnswerTracker,
  ) {}

  /**
   * Adds a release. The same upload again succeeds without effect if the first one was not answered. `answered`
   * resolves with whether the client was sent the whole answer. Errors: Refused for a file name that any version of the
   * package has.
   */
  async publishRelease(
    project: ProjectScope,
    viewer: SignedInViewer,
    release: PypiRelease,
    { metadata, answered }: { readonly metadata: WheelMetadata | null; readonly answered: Promise<boolean> },
  ): Promise<void> {
    const key = JSON.stringify(['pypi file', project.id, release.nameKey, release.content.fileName]);
    const turn = await this.receipts.beginTurn(key, answered);
    const fileId = await this.work.run(async (tx) => {
      await tx.run(LOCK, { project: project.id, name: release.nameKey });
      const found = await this.findVersion(tx, project, release);
      const earlier = found?.file_id ?? null;
      if (earlier === null && !(await this.isInOtherVersion(tx, project, release)))
        return this.addRelease(tx, project, viewer, release, metadata, found);
      if (found && earlier !== null && isRetryOfUnansweredUpload(found, release.content.file.sha256, viewer))
        return earlier;
      // Old and new clients that skip existing files look for one of these two phrases.
      throw pypiValidationRefusal('File name has already been taken (File already exists)');
    });
    turn.stored(fileId);
  }

  /** The version that a release adds to, with the file of the same name. */
  async findVersion(
    tx: SqlReader,
    { id }: Pick<ProjectScope, 'id'>,
    release: PypiRelease,
  ): Promise<ExistingVersion | undefined> {
    const { nameKey: name, versionKey: version, content } = release;
    return (await tx.run(FIND, { project: id, name, version, file: content.fileName }))[0];
  }

  /** Whether another version of the package already has a file with the name of the uploaded one. */
  async isInOtherVersion(tx: SqlReader, { id }: Pick<ProjectScope, 'id'>, release: PypiRelease): Promise<boolean> {
    const { nameKey: name, versionKey: version, content } = release;
    return (await tx.run(FIND_ELSEWHERE, { project: id, name, version, file: content.fileName })).length > 0;
  }

  private async addRelease(
    tx: Tx,
    project: ProjectScope,
    viewer: SignedInViewer,
    release: PypiRelease,
    metadata: WheelMetadata | null,
    found: ExistingVersion | undefined,
  ): Promise<number> {
    const { nameKey, versionKey, content } = release;
    const row = await this.publishing.publishFile(tx, {
      ...{ project, creatorId: viewer.userId, type: 'pypi' as const, name: release.name },
      ...{ version: found?.version ?? release.version, fileName: content.fileName, content: content.file },
      repeatableBy: identifyUploadCredential(viewer),
    });
    const { id: file, package_id } = row;
    await tx.run(ADD_VERSION, { package: package_id, project: project.id, name: nameKey, version: versionKey });
    const { sha256 = null, size = null } = metadata ?? {};
    await tx.run(ADD_FILE, { file, requires: release.requiresPython, metadata: sha256, size });
    return file;
  }
}
