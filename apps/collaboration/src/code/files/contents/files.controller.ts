import { Controller } from '@nestjs/common';
import { Endpoint, streamedFile, streamedJson } from '@rookery/api-v4';
import type { Call, FileAnswer, ProjectScope } from '@rookery/api-v4';
import { InvalidParameters, Refused } from '@rookery/kernel';
import { readsFilesOf } from '../../repositories/code.permission';
import { ProjectRepositories } from '../../repositories/project-repositories';
import { renderBlobContentJson } from '../blobs/blob-content-json.presenter';
import { FileRateLimits, LARGE_FILE_BYTES } from '../blobs/file-limits';
import { rawFile } from '../blobs/raw-file.presenter';
import { blamedFile, BLAME_SCHEMA } from './blame.presenter';
import { FileFinder } from './file-finder';
import type { FileAtRef } from './file-finder';
import { fileHeaders, extractFileName } from './file-headers';
import { FILE_SCHEMA } from './file.schema';
import { ShowBlamedFile, IdentifyFile, ShowRawFile } from './files.dto';

const FILE = '/projects/:id/repository/files/:file_path';
const reads = { ...readsFilesOf, source: 'reference repositories 3.3', tokenScopes: ['read_repository'] } as const;
/** Clients compare the text of a missing `ref`. */
const needsRef = {
  ...reads,
  refusals: {
    ...reads.refusals,
    parametersAs: (problems: readonly string[]) =>
      new InvalidParameters(
        problems.map((text) => (text === 'ref is missing' ? 'ref is missing, ref is empty' : text)),
      ),
  },
} as const;
/** Clients expect exactly these headers of raw files. */
const NOT_KEPT = {
  cacheControl: 'max-age=0, private, must-revalidate, no-store, no-cache',
  headers: { pragma: 'no-cache', expires: 'Fri, 01 Jan 1990 00:00:00 GMT' },
} as const;

/** Files at a revision. Source: reference repositories 3.3. */
@Controller()
export class FilesController {
  constructor(
    private readonly repositories: ProjectRepositories,
    private readonly files: FileFinder,
    private readonly limits: FileRateLimits,
  ) {}

  @Endpoint('GET', FILE, {
    ...needsRef,
    about: 'A file with its content in base64. HEAD answers with its facts in headers.',
    params: IdentifyFile,
    answers: streamedJson(FILE_SCHEMA),
    fails: [404, 429],
  })
  async show({ within, params }: Call<IdentifyFile, ProjectScope>): Promise<FileAnswer> {
    const file = await this.findFile(within, params);
    const rawPath = `/api/v4/projects/${within.id}/repository/files/${encodeURIComponent(file.path)}/raw`;
    const admit = async (): Promise<void> => {
      if (file.blob.size > LARGE_FILE_BYTES) await this.limits.countLargeFile(within.id, rawPath);
    };
    const content = renderBlobContentJson(file.blob, { before: toFileJson(file) }, admit);
    return { ...content, headers: fileHeaders(file) };
  }

  @Endpoint('GET', `${FILE}/raw`, {
    ...reads,
    about: 'Downloads a file.',
    params: ShowRawFile,
    answers: streamedFile('application/octet-stream', { 'text/plain': {} }),
    fails: [404],
  })
  async download({ within, params }: Call<ShowRawFile, ProjectScope>): Promise<FileAnswer> {
    const { file_path: path, ref } = params;
    const file = await this.findFile(within, { file_path: path.replace(/^\//, ''), ref: ref === '' ? 'HEAD' : ref });
    const headers = { ...NOT_KEPT.headers, ...fileHeaders(file) };
    return { ...rawFile(file.blob, extractFileName(file)), cacheControl: NOT_KEPT.cacheControl, headers };
  }

  @Endpoint('GET', `${FILE}/blame`, {
    ...needsRef,
    about: 'Lines of a file with the commits that wrote them.',
    params: ShowBlamedFile,
    answers: streamedJson(BLAME_SCHEMA),
    fails: [404],
  })
  async blame({ within, params }: Call<ShowBlamedFile, ProjectScope>): Promise<FileAnswer> {
    const { range } = params;
    if (range && range.start > range.end)
      throw new Refused('range[start] must be less than or equal to range[end]', { verbatim: true });
    return this.repositories.useRepository(within, async (repository) => {
      const file = await this.files.findFile(repository, { ref: params.ref, path: params.file_path });
      return { ...blamedFile(repository, file, range), headers: fileHeaders(file) };
    });
  }

  private findFile(project: ProjectScope, { file_path: path, ref }: IdentifyFile): Promise<FileAtRef> {
    return this.repositories.useRepository(project, (repository) => this.files.findFile(repository, { ref, path }));
  }
}

function toFileJson(file: FileAtRef): object {
  return {
    file_name: extractFileName(file),
    file_path: file.path,
    size: file.blob.size,
    encoding: 'base64',
    content_sha256: file.blob.sha256,
    ref: file.ref,
    blob_id: file.blob.id,
    commit_id: file.commit,
    last_commit_id: file.lastCommit,
    execute_filemode: file.isExecutable,
  };
}
