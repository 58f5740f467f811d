import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { PackageFiles } from '../../packages/package-files';
import { PackageUploadGate } from '../../packages/publishing/upload-gate';
import { PackageProtections } from '../../protection-rules/protections';
import { MAX_SKIPPED_BYTES, readUploadForm } from '../../packages/upload-form';
import type { ContentPart } from '../../packages/upload-form';
import { FORM_FIELDS, readPypiPackageName, parsePypiRelease } from './release';
import type { UploadedContent } from './release';
import { PypiReleasesService } from './releases.service';
import { WheelMetadataStore } from './wheel-metadata';

/** The body of an upload. `answered` resolves with whether the client was sent the whole answer. */
export interface PypiUpload {
  readonly body: Readable & { readonly mediaType: string; readonly declaredSize: number | null };
  readonly answered: Promise<boolean>;
}

/** Uploads of PyPI packages. Source: reference packages-and-admin 4.5. */
@Injectable()
export class PypiUploadsService {
  constructor(
    private readonly gate: PackageUploadGate,
    private readonly protections: PackageProtections,
    private readonly files: PackageFiles,
    private readonly wheels: WheelMetadataStore,
    private readonly releases: PypiReleasesService,
  ) {}

  /**
   * Publishes the file of a form. Returns whether there was one: poetry also registers names, which has no effect.
   * Errors: Refused, Forbidden, InvalidParameters as the form deserves; those of the body.
   */
  async uploadFile(project: ProjectScope, viewer: SignedInViewer, { body, answered }: PypiUpload): Promise<boolean> {
    const maxBytes = this.gate.fileLimit(project, 'pypi');
    const { declaredSize } = body;
    if (declaredSize !== null && declaredSize > maxBytes + MAX_SKIPPED_BYTES) throw new Refused('File is too large');
    await this.gate.refuseBeyondStorage(project, 0);
    const store = async (part: ContentPart<(typeof FORM_FIELDS)[number]>): Promise<UploadedContent> => {
      const { source, fileName, fields } = part;
      // The text parts come first from all clients but curl, so that a protected name is refused before its bytes.
      if (fields.has('name')) await this.protections.refusePush(project, viewer, 'pypi', readPypiPackageName(fields));
      // BLAKE2b costs more than the other digests together. It is left out if the form has stated SHA-256 alone.
      const isStated = fields.has('blake2_256_digest') || !fields.has('sha256_digest');
      return { fileName, file: await this.files.storeFile(source, maxBytes, isStated ? ['blake2b-256'] : []) };
    };
    const { fields, content } = await readUploadForm(body, { fields: FORM_FIELDS, file: 'content' }, store);
    if (fields.get(':action') === 'submit' && content === null) return false;
    const release = parsePypiRelease(fields, content);
    await this.protections.refusePush(project, viewer, 'pypi', release.name);
    const metadata = await this.wheels.extractMetadata(release.content.fileName, release.content.file);
    await this.releases.publishRelease(project, viewer, release, { metadata, answered });
    return true;
  }
}
