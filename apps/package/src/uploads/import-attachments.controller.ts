import { Readable } from 'node:stream';
import { Controller } from '@nestjs/common';
import { InternalRoute, StreamedInternalRoute, UploadAborted } from '@rookery/api-v4';
import type { InternalRequest, InternalStream, InternalUpload } from '@rookery/api-v4';
import { INTERNAL_CALLERS, INTERNAL_PATHS, MAX_FOUND_ATTACHMENTS } from '@rookery/contracts';
import type { FindAttachmentsAnswer } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { InvalidParameters, NotFound } from '@rookery/kernel';
import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { toImportedAttachment } from './upload.presenter';
import { UploadsService } from './uploads.service';

const SOURCE = /^[0-9a-f]{64}$/;
const MAX_FILENAME = 1024;
/** Delays the deletion of the project in the copy of the directory, and so the removal of its uploads. */
const LOCK = statement<{ project: number }, never>(
  'uploads_lock_project',
  `select from directory_projects where id = :project::bigint for key share`,
);

/** Files that imported texts link to, for the import service. Source: ADR 0202. */
@Controller()
export class ImportAttachmentsController {
  constructor(
    private readonly directory: Directory,
    private readonly uploads: UploadsService,
  ) {}

  @InternalRoute('POST', INTERNAL_PATHS.importAttachments, INTERNAL_CALLERS.importAttachments)
  async find({ body: { project_id: projectId, sources } }: InternalRequest): Promise<FindAttachmentsAnswer> {
    if (!Number.isSafeInteger(projectId)) throw new InvalidParameters(['project_id is invalid']);
    if (!Array.isArray(sources) || sources.length > MAX_FOUND_ATTACHMENTS || !sources.every(isAttachmentSourceDigest))
      throw new InvalidParameters(['sources is invalid']);
    const found = await this.uploads.findImported(projectId as number, sources);
    const attachments = sources.map((source) => {
      const upload = found.get(source);
      return upload ? toImportedAttachment(upload) : null;
    });
    return { attachments, total: await this.uploads.importedTotal(projectId as number) };
  }

  @StreamedInternalRoute('POST', INTERNAL_PATHS.importAttachment, INTERNAL_CALLERS.importAttachment)
  async store({ query, input }: InternalUpload): Promise<InternalStream> {
    const { project_id: id, source, filename } = query;
    if (typeof id !== 'string' || !/^\d{1,15}$/.test(id)) throw new InvalidParameters(['project_id is invalid']);
    if (!isAttachmentSourceDigest(source)) throw new InvalidParameters(['source is invalid']);
    if (typeof filename !== 'string' || filename.length > MAX_FILENAME)
      throw new InvalidParameters(['filename is invalid']);
    const projectId = await this.requireWritableProject(Number(id));
    const file = { source: input, filename: () => filename };
    // The project may be deleted or archived while the file arrives.
    const recheck = async (tx: Tx): Promise<void> => {
      await tx.run(LOCK, { project: projectId });
      await this.requireWritableProject(projectId, tx);
    };
    const upload = await this.uploads.storeImported(projectId, source, file, recheck).catch((error: unknown) => {
      // The upstream host broke off, which is no outage of this service.
      throw error === input.errored ? new UploadAborted() : error;
    });
    const text = JSON.stringify(toImportedAttachment(upload));
    return { mediaType: 'application/json', stream: Readable.from([text], { objectMode: false }) };
  }

  /** Errors: NotFound for a missing or archived project; Unavailable if the copy of the directory is late. */
  private async requireWritableProject(id: number, tx?: Tx): Promise<number> {
    await this.directory.assertCurrent(tx);
    const project = (await this.directory.findProjects([id], tx)).get(id);
    if (!project || project.archived) throw new NotFound('Project');
    return id;
  }
}

function isAttachmentSourceDigest(value: unknown): value is string {
  return typeof value === 'string' && SOURCE.test(value);
}
