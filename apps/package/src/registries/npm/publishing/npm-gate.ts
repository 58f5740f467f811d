import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Forbidden, Refused } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { MAX_FILE_BYTES } from '../../../packages/package-files';
import { PackageUploadGate } from '../../../packages/publishing/upload-gate';
import { PackageProtections } from '../../../protection-rules/protections';

/** Bounds of a publish document. Units: bytes. */
export interface DocumentLimits {
  readonly tarball: number;
  readonly document: number;
}

/** Text of a document without its tarball. Units: bytes. */
const TEXT_BYTES = 64 * 1024 * 1024;

/** Longest publish document of any plan. Units: bytes. */
export const MAX_DOCUMENT_BYTES = maxDocumentBytes(MAX_FILE_BYTES);

/** Limits of npm packages, and protection rules with the texts of npm. Source: reference packages-and-admin 4.4. */
@Injectable()
export class NpmGate {
  constructor(
    private readonly gate: PackageUploadGate,
    private readonly protections: PackageProtections,
  ) {}

  /** Errors: Refused `File is too large.` by the declared size alone. */
  documentLimits(project: ProjectScope, declaredSize: number | null): DocumentLimits {
    const tarball = this.gate.fileLimit(project, 'npm');
    const document = maxDocumentBytes(tarball);
    if (declaredSize !== null && declaredSize > document) throw new Refused('File is too large.', { verbatim: true });
    return { tarball, document };
  }

  /**
   * Refuses a tarball before it is read, by the smallest size that follows from the size of the document.
   * `declaredSize` is the size of the document, or null if unknown. Units: bytes.
   * Errors: Forbidden beyond a limit of storage.
   */
  refuseBeyondStorage(project: ProjectScope, declaredSize: number | null): Promise<void> {
    const base64 = Math.max(0, (declaredSize ?? 0) - TEXT_BYTES);
    return this.gate.refuseBeyondStorage(project, Math.floor((base64 * 3) / 4));
  }

  /** Returns the refusal `Package protected.` for a protected name, else null. */
  pushRefusal(project: ProjectScope, viewer: Viewer, name: string): Promise<Forbidden | null> {
    return catchForbidden(this.protections.refusePush(project, viewer, 'npm', name));
  }

  /** Errors: Forbidden `Package protected.` */
  async refusePush(project: ProjectScope, viewer: Viewer, name: string): Promise<void> {
    const refusal = await this.pushRefusal(project, viewer, name);
    if (refusal) throw refusal;
  }

  /** Errors: Forbidden `Package is deletion protected.` */
  async refuseDelete(project: ProjectScope, viewer: Viewer, name: string): Promise<void> {
    const refusal = await catchForbidden(this.protections.refuseDelete(project, viewer, 'npm', name));
    if (refusal) throw refusal;
  }
}

/** Base64 takes four characters for three bytes. */
function maxDocumentBytes(tarballBytes: number): number {
  return Math.ceil((tarballBytes * 4) / 3) + TEXT_BYTES;
}

async function catchForbidden(check: Promise<void>): Promise<Forbidden | null> {
  try {
    await check;
    return null;
  } catch (error) {
    if (error instanceof Forbidden) return new Forbidden(error.reason, { verbatim: true });
    throw error;
  }
}
