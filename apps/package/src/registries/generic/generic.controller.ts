import { Controller } from '@nestjs/common';
import {
  createdMessage,
  Endpoint,
  withAlternative,
  AlternativeAnswer,
  streamedFile,
  streamedBody,
} from '@rookery/api-v4';
import type { Call, FileAnswer, ProjectScope, StreamedCall } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import type { PackageFileRow } from '../../packages/listing/packages.queries';
import { packageDownload } from '../../packages/package-download.presenter';
import { MAX_FILE_BYTES, PackageFiles } from '../../packages/package-files';
import { basicRegistry, publishesPackages, readsPackages } from '../../packages/packages.permission';
import {
  IdentifyGenericFile,
  IdentifyGenericFileInFolder,
  UploadGenericFile,
  UploadGenericFileInFolder,
} from './generic.dto';
import { GenericPackagesService } from './generic.service';
import type { GenericFile, UploadOptions } from './generic.service';
import { openRawOrMultipartUpload } from './upload-content';

const VERSION = '/projects/:id/packages/generic/:package_name/:package_version';
const SOURCE = 'reference packages-and-admin 4.3';

const INT = { type: 'integer' } as const;
const TEXT = { type: 'string' } as const;
const INSTANT = { type: 'string', format: 'date-time' } as const;
const UNUSED = { type: 'null', description: 'Always null: files are not verified.' } as const;
/** Answer for `select=package_file`. */
const SELECTED_FILE = {
  type: 'object',
  properties: {
    id: INT,
    package_id: { ...INT, description: 'Id of the package.' },
    created_at: INSTANT,
    updated_at: { ...INSTANT, description: 'Time of the upload.' },
    size: { ...INT, description: 'Size in bytes.' },
    file_store: { ...INT, description: 'Always 1.' },
    file_md5: { ...TEXT, description: 'MD5 digest, in hexadecimal.' },
    file_sha1: { ...TEXT, description: 'SHA-1 digest, in hexadecimal.' },
    file_name: { ...TEXT, description: 'Stored name. Folders and the name of the file are one encoded name.' },
    file: {
      type: 'object',
      description: 'Place of the content.',
      properties: { url: { ...TEXT, description: 'Absolute URL of the download.' } },
      required: ['url'],
    },
    file_sha256: { ...TEXT, description: 'SHA-256 digest, in hexadecimal.' },
    verification_retry_at: UNUSED,
    verified_at: UNUSED,
    verification_failure: UNUSED,
    verification_retry_count: UNUSED,
    verification_checksum: UNUSED,
    verification_state: { ...INT, description: 'Always 0: files are not verified.' },
    verification_started_at: UNUSED,
    new_file_path: { ...UNUSED, description: 'Always null.' },
  },
} as const;

const uploads = {
  ...basicRegistry,
  source: SOURCE,
  may: publishesPackages,
  about: 'Uploads a file of a generic package. The body is the file.',
  body: streamedBody({ maxBytes: MAX_FILE_BYTES }),
  answers: withAlternative(createdMessage(), 200, SELECTED_FILE),
  fails: [400],
} as const;
const downloads = {
  ...basicRegistry,
  source: SOURCE,
  may: readsPackages,
  about: 'Downloads a file of a generic package: of several with the same name, the newest.',
  answers: streamedFile(),
  fails: [404],
} as const;

@Controller()
export class GenericController {
  constructor(
    private readonly generic: GenericPackagesService,
    private readonly files: PackageFiles,
    private readonly links: Links,
  ) {}

  @Endpoint('PUT', `${VERSION}/:file_name`, { ...uploads, params: UploadGenericFile })
  upload(call: StreamedCall<UploadGenericFile, ProjectScope, SignedInViewer>): Promise<void | AlternativeAnswer> {
    return this.storeFile(call);
  }

  @Endpoint('PUT', `${VERSION}/*path/:file_name`, { ...uploads, params: UploadGenericFileInFolder })
  uploadInFolder(
    call: StreamedCall<UploadGenericFileInFolder, ProjectScope, SignedInViewer>,
  ): Promise<void | AlternativeAnswer> {
    return this.storeFile(call);
  }

  @Endpoint('GET', `${VERSION}/:file_name`, { ...downloads, params: IdentifyGenericFile })
  download(call: Call<IdentifyGenericFile, ProjectScope>): Promise<FileAnswer> {
    return this.downloadNewestFile(call);
  }

  @Endpoint('GET', `${VERSION}/*path/:file_name`, { ...downloads, params: IdentifyGenericFileInFolder })
  downloadInFolder(call: Call<IdentifyGenericFileInFolder, ProjectScope>): Promise<FileAnswer> {
    return this.downloadNewestFile(call);
  }

  private async storeFile(
    call: StreamedCall<IdentifyGenericFile & UploadOptions & { select?: 'package_file' }, ProjectScope, SignedInViewer>,
  ): Promise<void | AlternativeAnswer> {
    const { within, viewer, params, body, answered } = call;
    const file = toGenericFile(params);
    const upload = { ...openRawOrMultipartUpload(body), status: params.status, answered };
    const row = await this.generic.uploadFile(within, viewer, file, upload);
    if (params.select !== undefined) return new AlternativeAnswer(this.renderSelectedFile(row, within, file));
  }

  private async downloadNewestFile({ within, params }: Call<IdentifyGenericFile, ProjectScope>): Promise<FileAnswer> {
    const file = toGenericFile(params);
    return packageDownload(this.files, await this.generic.findNewest(within, file), file.path.split('/').at(-1)!);
  }

  private renderSelectedFile(row: PackageFileRow, { id }: ProjectScope, { name, version, path }: GenericFile): object {
    const segments = [name, version, ...path.split('/')].map(encodeURIComponent);
    return {
      ...{ id: row.id, package_id: row.package_id, created_at: row.created_at, updated_at: row.updated_at },
      ...{ size: row.size, file_store: 1, file_md5: row.md5, file_sha1: row.sha1, file_name: row.file_name },
      file: { url: this.links.apiUrl(`projects/${id}/packages/generic/${segments.join('/')}`) },
      file_sha256: row.sha256,
      ...{ verification_retry_at: null, verified_at: null, verification_failure: null, verification_retry_count: null },
      ...{ verification_checksum: null, verification_state: 0, verification_started_at: null, new_file_path: null },
    };
  }
}

function toGenericFile(params: IdentifyGenericFile | IdentifyGenericFileInFolder): GenericFile {
  const folder = 'path' in params ? `${params.path}/` : '';
  return { name: params.package_name, version: params.package_version, path: `${folder}${params.file_name}` };
}
