import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { INTERNAL_PATHS } from '@rookery/contracts';
import type {
  FindAttachmentsAnswer,
  FindAttachmentsRequest,
  ImportedAttachment,
  StoreAttachmentRequest,
} from '@rookery/contracts';
import { InternalRoutes } from '@rookery/platform';
import type { InternalRouteClient } from '@rookery/platform';
import type { ArrivingAttachment } from '../../sources/attachments/upstream-attachments';

/** Maximum wait for an answer. Units: ms. */
const MAX_WAIT_MS = 60_000;

/** Uploads of projects in the package service. An upstream file is stored once for each project. Source: ADR 0202. */
@Injectable()
export class ProjectUploads {
  private readonly found: InternalRouteClient<FindAttachmentsRequest, FindAttachmentsAnswer>;
  private readonly stored: InternalRouteClient<StoreAttachmentRequest, ImportedAttachment>;

  constructor(routes: InternalRoutes) {
    const limits = { connections: 2, maxWaitMs: MAX_WAIT_MS };
    this.found = routes.to('package', INTERNAL_PATHS.importAttachments, limits);
    this.stored = routes.to('package', INTERNAL_PATHS.importAttachment, limits);
  }

  /** Returns the files that the project has already, by their addresses. Bounds: MAX_FOUND_ATTACHMENTS addresses. */
  async find(projectId: number, addresses: readonly string[]): Promise<Map<string, ImportedAttachment>> {
    const sources = addresses.map(sourceOf);
    const { attachments } = await this.found.ask({ project_id: projectId, sources });
    return new Map(addresses.flatMap((address, at) => (attachments[at] ? [[address, attachments[at]]] : [])));
  }

  /** Stores a file while it arrives. Errors: those of its content; InternalRefusal; a plain Error without an answer. */
  async store(
    projectId: number,
    address: string,
    { filename, content }: ArrivingAttachment,
    signal: AbortSignal,
  ): Promise<ImportedAttachment> {
    const question = { project_id: String(projectId), source: sourceOf(address), filename: filename.slice(0, 255) };
    const stream = Readable.from(content, { objectMode: false });
    const failure = new Promise<never>((_resolve, reject) => stream.once('error', reject));
    return Promise.race([this.stored.send(question, stream, signal), failure]);
  }
}

/** Addresses may hold tokens, so the package service gets digests. */
function sourceOf(address: string): string {
  return createHash('sha256').update(address).digest('hex');
}
