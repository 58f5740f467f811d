import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { NotFound, Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import type { PackageFileRow } from '../../packages/listing/packages.queries';
import { PackageFiles } from '../../packages/package-files';
import { INSTALLABLE_STATUSES, literalListSql } from '../../packages/package-types';
import { DuplicateFilePolicy } from '../../packages/publishing/duplicate-files';
import { PackagePublishing } from '../../packages/publishing/package-publishing';
import { PackageUploadGate } from '../../packages/publishing/upload-gate';

/** Names a file of a generic package. `path` is the folders and the name, separated by slashes. */
export interface GenericFile {
  readonly name: string;
  readonly version: string;
  readonly path: string;
}

/** Choices of an upload. An omitted status keeps that of a package that exists. */
export interface UploadOptions {
  readonly status?: 'default' | 'hidden' | undefined;
}

/**
 * An upload of a generic package file. `declaredSize` is null if the size is not known before the end. Units: bytes.
 */
export interface GenericUpload extends UploadOptions {
  /** Opens the file. */
  readonly open: () => Readable;
  readonly declaredSize: number | null;
  /** Resolves with whether the client was sent the whole answer. */
  readonly answered: Promise<boolean>;
}

/** Longest name of a file as it is stored. Units: characters. */
const MAX_NAME = 5000;

const NEWEST = statement<{ project: number; name: string; version: string; file: string }, PackageFileRow>(
  'generic_newest_file',
  `select f.id, f.package_id, f.file_name, f.size, f.sha256, f.sha1, f.md5, f.created_at, f.updated_at
   from packages p
   join package_files f on f.package_id = p.id and md5(f.file_name) = md5(:file) and f.file_name = :file
     and not f.is_pending_destruction
   where p.project_id = :project::bigint and p.package_type = 'generic' and p.name_key = :name
     and coalesce(p.version, '') = :version and p.status in (${literalListSql(INSTALLABLE_STATUSES)})
   order by f.id desc limit 1`,
);

/** Uploads and downloads of generic packages. Source: reference packages-and-admin 4.3. */
@Injectable()
export class GenericPackagesService {
  constructor(
    private readonly database: Database,
    private readonly files: PackageFiles,
    private readonly publishing: PackagePublishing,
    private readonly gate: PackageUploadGate,
    private readonly duplicates: DuplicateFilePolicy,
  ) {}

  /**
   * Stores the upload as a file of the package, which the first file creates. A file with the same name is replaced for
   * downloads. Errors: Forbidden for a protected name and beyond a limit of storage; Refused for a file that is too large or
   * a duplicate, and for a name that is too long; those of the upload.
   */
  async uploadFile(
    project: ProjectScope,
    viewer: SignedInViewer,
    file: GenericFile,
    { open, declaredSize, status, answered }: GenericUpload,
  ): Promise<PackageFileRow> {
    const named = {
      type: 'generic',
      name: file.name,
      version: file.version,
      fileName: encodeStoredFileName(file.path),
    } as const;
    if (named.fileName.length > MAX_NAME) throw new Refused('File name is too long');
    const maxBytes = await this.gate.admitUpload(project, viewer, { type: 'generic', name: file.name }, declaredSize);
    await this.duplicates.refuseEarly(project, viewer, named);
    const content = await this.files.storeFile(open(), maxBytes);
    return this.duplicates.publishOnce(project, viewer, named, { content, answered }, (tx, repeatableBy) =>
      this.publishing.publishFile(tx, { ...named, project, creatorId: viewer.userId, content, status, repeatableBy }),
    );
  }

  /** Returns the newest file with this name. Errors: NotFound. */
  async findNewest({ id }: ProjectScope, { name, version, path }: GenericFile): Promise<PackageFileRow> {
    const [found] = await this.database.run(NEWEST, { project: id, name, version, file: encodeStoredFileName(path) });
    if (!found) throw new NotFound();
    return found;
  }
}

/** A file in folders is stored, and listed, as one encoded name. */
function encodeStoredFileName(path: string): string {
  return path.includes('/') ? encodeURIComponent(path) : path;
}
