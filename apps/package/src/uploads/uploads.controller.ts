import { Controller } from '@nestjs/common';
import { ability, anyone, created, Endpoint, project, streamedFile, streamedBody } from '@rookery/api-v4';
import type { Call, FileAnswer, NoParams, ProjectScope, StreamedCall } from '@rookery/api-v4';
import { MAX_UPLOAD_BYTES } from '@rookery/contracts';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { readFilePart } from '../packages/file-part';
import { PackageFiles } from '../packages/package-files';
import type { Upload } from './upload.entity';
import { PICTURE_TYPES } from './upload-name';
import { uploadPresenter } from './upload.presenter';
import { IdentifyUpload } from './uploads.dto';
import { UploadsService } from './uploads.service';

/** Other parts of the body, which are skipped. Units: bytes. */
const FURTHER_BYTES = 1024 * 1024;

const attachesFiles = ability<unknown, ProjectScope>(
  'may attach files',
  ({ viewer, within }) => !within.archived && (viewer.isAdmin || within.level >= ACCESS_LEVELS.guest),
  { signedIn: true },
);

/** Files that users attach to texts of projects. Source: reference repositories 9. */
@Controller()
export class UploadsController {
  constructor(
    private readonly uploads: UploadsService,
    private readonly files: PackageFiles,
  ) {}

  @Endpoint('POST', '/projects/:id/uploads', {
    about: 'Uploads a file for texts of a project. The body is a form with the part `file`.',
    source: 'reference repositories 9.1',
    within: project(),
    may: attachesFiles,
    body: streamedBody({ maxBytes: MAX_UPLOAD_BYTES + FURTHER_BYTES }),
    answers: created(uploadPresenter),
    fails: [400],
  })
  upload({ within, viewer, body }: StreamedCall<NoParams, ProjectScope, SignedInViewer>): Promise<Upload> {
    let filename = '';
    const source = readFilePart(body, (name) => void (filename = name));
    return this.uploads.storeUpload(within, viewer, { source, filename: () => filename });
  }

  @Endpoint('GET', '//-/project/:id/uploads/:secret/:filename', {
    about: 'A file of a project. Browsers show pictures and save other files.',
    source: 'reference repositories 9.2',
    within: project(),
    may: anyone(),
    params: IdentifyUpload,
    answers: streamedFile('application/octet-stream', Object.fromEntries(PICTURE_TYPES.map((type) => [type, {}]))),
    fails: [404],
  })
  async download({ within, params }: Call<IdentifyUpload, ProjectScope>): Promise<FileAnswer> {
    const { sha256, size, filename, pictureType, createdAt } = await this.uploads.findUpload(
      within,
      params.secret,
      params.filename,
    );
    return {
      stream: (range) => this.files.openAttached(sha256, range),
      mediaType: pictureType ?? 'application/octet-stream',
      ...{ length: size, lastModified: createdAt, version: sha256, filename },
      ...(pictureType === null ? {} : { isInline: true as const }),
    };
  }
}
