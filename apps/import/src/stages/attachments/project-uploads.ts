import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { INTERNAL_PATHS } from '@rookery/contracts';
import type {
  FindAttachmentsAnswer,
  FindAttachmentsRequest,
  ImportedAttachment,
  ImportedTotal,
  StoreAttachmentRequest,
} from '@rookery/contracts';
import { jobSettings } from '@rookery/jobs';
import { InternalRoutes } from '@rookery/platform';
import type { InternalRouteClient, SettingsOf } from '@rookery/platform';
import type { ArrivingAttachment } from '../../sources/attachments/upstream-attachments';

/** Maximum wait for an answer. Units: ms. */
const MAX_WAIT_MS = 60_000;

/** Files that the project has of the asked ones, by their addresses, and the sum of all its imported files. */
export interface StoredUploads {
  readonly stored: Map<string, ImportedAttachment>;
  readonly total: ImportedTotal;
}

/** Uploads of projects in the package service. An upstream file is stored once for each project. Source: ADR 0202. */
@Injectable()
export class ProjectUploads {
  private readonly found: InternalRouteClient<FindAttachmentsRequest, FindAttachmentsAnswer>;
  private readonly stored: InternalRouteClient<StoreAttachmentRequest, ImportedAttachment>;

  constructor(routes: InternalRoutes, @Inject(jobSettings.token) { concurrency }: SettingsOf<typeof jobSettings>) {
    const limits = { connections: 2, maxWaitMs: MAX_WAIT_MS };
    this.found = routes.createClient('package', INTERNAL_PATHS.importAttachments, limits);
    // A file holds its connection while it arrives from upstream, so each running import needs one.
    this.stored = routes.createClient('package', INTERNAL_PATHS.importAttachment, {
      ...limits,
      connections: concurrency,
    });
  }

  /** Finds files that the project has already. Bounds: MAX_FOUND_ATTACHMENTS addresses. */
  async findUploads(projectId: number, addresses: readonly string[]): Promise<StoredUploads> {
    const sources = addresses.map(attachmentSourceDigest);
    const { attachments, total } = await this.found.ask({ project_id: projectId, sources });
    const stored = new Map(addresses.flatMap((address, at) => (attachments[at] ? [[address, attachments[at]]] : [])));
    return { stored, total };
  }

  /** Stores a file while it arrives. Errors: those of its content; InternalRefusal; a plain Error without an answer. */
  async storeUpload(
    projectId: number,
    address: string,
    { filename, content }: Pick<ArrivingAttachment, 'filename' | 'content'>,
    signal: AbortSignal,
  ): Promise<ImportedAttachment> {
    const question = {
      project_id: String(projectId),
      source: attachmentSourceDigest(address),
      filename: filename.slice(0, 255),
    };
    const stream = Readable.from(content, { objectMode: false });
    const failure = new Promise<never>((_resolve, reject) => stream.once('error', reject));
    return Promise.race([this.stored.send(question, stream, signal), failure]);
  }
}

/** Addresses may hold tokens, so the package service gets digests. */
function attachmentSourceDigest(address: string): string {
  return createHash('sha256').update(address).digest('hex');
}
