import { Controller } from '@nestjs/common';
import { Endpoint, streamedFile, streamedJson } from '@rookery/api-v4';
import type { Call, FileAnswer, ProjectScope } from '@rookery/api-v4';
import { findBlob } from '@rookery/git';
import { NotFound } from '@rookery/kernel';
import { readsFilesOf } from '../../repositories/code.permission';
import { ProjectRepositories } from '../../repositories/project-repositories';
import { BlobContents } from './blob-contents';
import type { BlobContent } from './blob-contents';
import { IdentifyBlob } from './blobs.dto';
import { renderBlobContentJson } from './blob-content-json.presenter';
import { FileRateLimits, LARGE_FILE_BYTES } from './file-limits';
import { rawFile } from './raw-file.presenter';

const BLOB = '/projects/:id/repository/blobs/:sha';
const SCHEMA = {
  type: 'object',
  properties: {
    size: { type: 'integer', description: 'Size in bytes.' },
    encoding: { type: 'string', enum: ['base64'], description: 'Encoding of the content.' },
    content: { type: 'string', description: 'Content in base64.' },
    sha: { type: 'string', description: 'Full id of the blob.' },
  },
  required: ['size', 'encoding', 'content', 'sha'],
} as const;
const reads = {
  ...readsFilesOf,
  source: 'reference repositories 3.2',
  params: IdentifyBlob,
  tokenScopes: ['read_repository'],
} as const;

@Controller()
export class BlobsController {
  constructor(
    private readonly repositories: ProjectRepositories,
    private readonly blobs: BlobContents,
    private readonly limits: FileRateLimits,
  ) {}

  @Endpoint('GET', BLOB, {
    ...reads,
    about: 'A blob with its content in base64.',
    answers: streamedJson(SCHEMA),
    fails: [304, 404, 429],
  })
  async show({ within, params }: Call<IdentifyBlob, ProjectScope>): Promise<FileAnswer> {
    const blob = await this.findBlob(within, params.sha);
    const { id, size } = blob;
    const rawPath = `/api/v4/projects/${within.id}/repository/blobs/${id}/raw`;
    const admit = async (): Promise<void> => {
      if (size > LARGE_FILE_BYTES) await this.limits.countLargeFile(within.id, rawPath);
    };
    const parts = { before: { size, encoding: 'base64' }, after: { sha: id } };
    return { ...renderBlobContentJson(blob, parts, admit), version: id };
  }

  @Endpoint('GET', `${BLOB}/raw`, {
    ...reads,
    about: 'Downloads the content of a blob.',
    answers: streamedFile('application/octet-stream', { 'text/plain': {} }),
    fails: [404],
  })
  async download({ within, params }: Call<IdentifyBlob, ProjectScope>): Promise<FileAnswer> {
    const blob = await this.findBlob(within, params.sha);
    return { ...rawFile(blob, blob.id), version: blob.id };
  }

  private findBlob(project: ProjectScope, sha: string): Promise<BlobContent> {
    return this.repositories.useRepository(project, async (repository) => {
      const info = await findBlob(repository, sha);
      if (info === null) throw new NotFound('Blob');
      return this.blobs.readBlob(repository, info);
    });
  }
}
