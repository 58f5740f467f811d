import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { NotFound, Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { PackageFiles } from '../../../packages/package-files';
import type { StoredFile } from '../../../packages/package-files';
import { PackageUploadGate } from '../../../packages/publishing/upload-gate';
import { hasTooManyConanInfoLines, MAX_INFO_BYTES, MAX_INFO_LINES } from '../conan-info';
import { INFO, refuseHalfBlank } from '../conan-reference';
import type { ConanReference } from '../conan-reference';
import { ConanQueries } from '../conan.queries';
import { ConanRevisions, refuseConanFileChange } from './conan-revisions';
import type { ConanTarget } from './conan-revisions';

/** A file that arrives. `declaredSize` is null if unknown; `sha1` in hexadecimal. Units: bytes. */
export interface ConanUpload {
  readonly body: Readable & { readonly declaredSize: number | null };
  readonly sha1: string | undefined;
  /** The client asks by digest whether the file exists. The body is ignored. */
  readonly isQuestion: boolean;
}

const SHA1_OF_NOTHING = 'da39a3ee5e6b4b0d3255bfef95601890afd80709';

/** Uploads of Conan files. Source: reference packages-and-admin 4.13. */
@Injectable()
export class ConanService {
  constructor(
    private readonly gate: PackageUploadGate,
    private readonly files: PackageFiles,
    private readonly conan: ConanQueries,
    private readonly revisions: ConanRevisions,
  ) {}

  /**
   * Stores a file. Errors: Refused for an unusable reference or description, a digest of other bytes and a file that is too
   * large; Forbidden for a protected name and beyond a limit of storage; NotFound for a question; Conflict for another file
   * in a complete revision; those of the body.
   */
  async uploadFile(target: ConanTarget, { body, sha1, isQuestion }: ConanUpload): Promise<void> {
    const { project, viewer, reference, fileName } = target;
    if (isQuestion) throw new NotFound();
    const limit = await this.admitUpload(project, viewer, reference, body.declaredSize);
    const expected = sha1?.toLowerCase();
    if (expected !== undefined) await this.refuseConflictBeforeRead(target, expected);
    const maxBytes = fileName === INFO ? Math.min(limit, MAX_INFO_BYTES) : limit;
    const content = await this.files.storeFile(body, maxBytes);
    if (expected !== undefined && content.sha1 !== expected)
      throw new Refused('Validation failed: The digest does not match the uploaded file', { verbatim: true });
    if (content.size === 0 && expected !== SHA1_OF_NOTHING && fileName !== INFO) return;
    await this.revisions.publishFile(target, {
      content,
      info: fileName === INFO ? await this.readConanInfo(content) : null,
    });
  }

  /**
   * Returns the size limit of a file that arrives, or is announced. `size` is null if unknown. Units: bytes. Errors:
   * Refused for an unusable reference and a file that is too large; Forbidden for a protected name and beyond a limit
   * of storage.
   */
  admitUpload(
    project: ProjectScope,
    viewer: SignedInViewer,
    reference: ConanReference,
    size: number | null,
  ): Promise<number> {
    refuseHalfBlank(reference);
    return this.gate.admitUpload(project, viewer, { type: 'conan', name: reference.name }, size);
  }

  /** Refuses an upload before its body is read, if another file of the name is in a complete revision. Errors: Conflict. */
  private async refuseConflictBeforeRead(
    { project, reference, revision, fileName }: ConanTarget,
    sha1: string,
  ): Promise<void> {
    const files = await this.conan.listFiles(project, reference, revision).catch((error: unknown) => {
      if (error instanceof NotFound) return [];
      throw error;
    });
    const earlier = files.find(({ file_name }) => file_name === fileName);
    if (earlier && earlier.sha1 !== sha1) refuseConanFileChange(revision, fileName);
  }

  /** Errors: Refused for bytes that are no text, and for too many lines. */
  private async readConanInfo(content: StoredFile): Promise<string> {
    const text = decodeUtf8OrNull(await this.files.readFile(content, MAX_INFO_BYTES));
    if (text === null) throw new Refused(`Validation failed: ${INFO} is no text`, { verbatim: true });
    if (hasTooManyConanInfoLines(text))
      throw new Refused(`Validation failed: ${INFO} has more than ${MAX_INFO_LINES} lines`, { verbatim: true });
    return text;
  }
}

function decodeUtf8OrNull(bytes: Buffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}
