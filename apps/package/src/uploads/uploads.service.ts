import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { ImportedTotal } from '@rookery/contracts';
import { MAX_UPLOAD_BYTES } from '@rookery/contracts';
import { NotFound, Refused, TooLarge } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { defineCollection, Database, statement, Work } from '@rookery/persistence';
import type { Collection, ListQuery, Tx } from '@rookery/persistence';
import { PackageFiles } from '../packages/package-files';
import { Upload } from './upload.entity';
import { HEAD_BYTES, detectPictureType, sanitizeUploadName } from './upload-name';

const TOTAL = statement<{ project: number }, ImportedTotal>(
  'uploads_imported_total',
  `select count(*) as files, coalesce(sum(size), 0)::bigint as bytes from uploads
   where project_id = :project::bigint and import_source is not null`,
);
const SECRET_BYTES = 16;
/** Another request has stored the same upstream file meanwhile. */
class UpstreamFileAlreadyStored extends Error {}
const uploads = defineCollection(Upload, {
  within: 'projectId',
  taken: { uq_uploads_import_source: () => new UpstreamFileAlreadyStored() },
});

/** A file while it arrives. `filename` is known after the first bytes of `source`. */
export interface ArrivingFile {
  readonly source: Readable;
  filename(): string;
}

/** Stores and finds files that users attach to texts. Source: reference repositories 9. */
@Injectable()
export class UploadsService {
  private readonly uploads: Collection<Upload>;

  constructor(
    work: Work,
    private readonly database: Database,
    private readonly files: PackageFiles,
  ) {
    this.uploads = uploads.on(work);
  }

  /** Stores a file of a user. Errors: TooLarge; Unavailable; those of the source. */
  storeUpload(project: ProjectScope, viewer: SignedInViewer, file: ArrivingFile): Promise<Upload> {
    return this.addUpload(project.id, { uploaderId: viewer.userId }, file);
  }

  /**
   * Stores an upstream file once for each `importSource`. `before` runs in the transaction that adds the row. Errors:
   * as `storeUpload`; those of `before`.
   */
  async storeImported(
    projectId: number,
    importSource: string,
    file: ArrivingFile,
    before: (tx: Tx) => Promise<void>,
  ): Promise<Upload> {
    try {
      return await this.addUpload(projectId, { uploaderId: null, importSource }, file, before);
    } catch (error) {
      if (!(error instanceof UpstreamFileAlreadyStored)) throw error;
      return this.uploads.find({ importSource }, projectId);
    }
  }

  /** Returns imported files by their sources. */
  async findImported(projectId: number, sources: readonly string[]): Promise<ReadonlyMap<string, Upload>> {
    const narrow = (list: ListQuery<unknown>): void =>
      void list.where((bind) => `row.import_source = any(${bind([...sources], 'sources')}::text[])`);
    const found = await this.uploads.listAll({ within: projectId, narrow });
    return new Map(found.map((upload) => [upload.importSource!, upload]));
  }

  async importedTotal(project: number): Promise<ImportedTotal> {
    const [total] = await this.database.run(TOTAL, { project });
    return total!;
  }

  /** The content comes first, then the row; a sweep removes contents without a row. */
  private async addUpload(
    projectId: number,
    origin: Pick<Upload, 'uploaderId'> & Partial<Pick<Upload, 'importSource'>>,
    file: ArrivingFile,
    beforeInsert?: (tx: Tx) => Promise<void>,
  ): Promise<Upload> {
    const { sha256, size } = await this.files.storeFile(file.source, MAX_UPLOAD_BYTES).catch((error: unknown) => {
      throw error instanceof Refused ? new TooLarge() : error;
    });
    const head = size === 0 ? Buffer.alloc(0) : await this.readHead(sha256);
    const upload = {
      ...{ sha256, size, ...origin, filename: sanitizeUploadName(file.filename()) },
      secret: randomBytes(SECRET_BYTES).toString('hex'),
      pictureType: detectPictureType(head),
    };
    return this.uploads.create(upload, { actorId: origin.uploaderId, within: projectId, before: beforeInsert });
  }

  /** Errors: NotFound. */
  async findUpload(project: ProjectScope, secret: string, filename: string): Promise<Upload> {
    const upload = await this.uploads.find({ secret }, project.id);
    if (upload.filename !== filename) throw new NotFound();
    return upload;
  }

  private async readHead(sha256: string): Promise<Buffer> {
    return buffer(await this.files.openAttached(sha256, { start: 0, end: HEAD_BYTES - 1 }));
  }
}
