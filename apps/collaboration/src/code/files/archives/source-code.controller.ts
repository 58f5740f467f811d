import { json } from 'node:stream/consumers';
import { Controller } from '@nestjs/common';
import { StreamedInternalRoute, InternalRoute } from '@rookery/api-v4';
import type { InternalRequest, InternalStream, InternalUpload } from '@rookery/api-v4';
import type { SourceArchiveRequest, SourceFileAnswer, SourceFileRequest } from '@rookery/contracts';
import { INTERNAL_CALLERS, INTERNAL_PATHS } from '@rookery/contracts';
import {
  isTreePath,
  isObjectId,
  isRefName,
  objectInfo,
  openArchive,
  readObject,
  readRefs,
  resolveCommit,
} from '@rookery/git';
import { InvalidParameters, NotFound } from '@rookery/kernel';
import { convertGitFailures } from '../../repositories/git-failures';
import { toKeepAroundRef, setHiddenRefs } from '../../repositories/hidden-refs';
import { ProjectRepositories } from '../../repositories/project-repositories';
import { parseArchiveCaller, FileRateLimits } from '../blobs/file-limits';

const NO_COMMIT: SourceFileAnswer = { commit: null, content: null, is_too_large: false };

/** Files and archives for registries of packages, which check the rights of their callers. Source: ADR 0205. */
@Controller()
export class SourceCodeController {
  constructor(
    private readonly repositories: ProjectRepositories,
    private readonly limits: FileRateLimits,
  ) {}

  @InternalRoute('POST', INTERNAL_PATHS.sourceFile, INTERNAL_CALLERS.sourceFile)
  async readFile({ body }: InternalRequest): Promise<SourceFileAnswer> {
    const { project_id: projectId, ref, path, max_bytes: maxBytes } = parseFileRequest(body);
    const repository = await this.repositories.findRepository(projectId);
    if (repository === null) return NO_COMMIT;
    return convertGitFailures(async () => {
      const id = isRefName(ref) ? (await readRefs(repository, [ref])).get(ref) : undefined;
      const commit = id === undefined ? null : await resolveCommit(repository, id);
      if (commit === null) return NO_COMMIT;
      const info = await objectInfo(repository, { rev: commit, path });
      if (info?.type !== 'blob') return { ...NO_COMMIT, commit };
      if (info.size > maxBytes) return { commit, content: null, is_too_large: true };
      const blob = await readObject(repository, { rev: commit, path }, maxBytes);
      // The version stays when its tag or branch is deleted.
      await setHiddenRefs(repository, [toKeepAroundRef(commit)]);
      return { commit, content: blob?.content.toString('base64') ?? null, is_too_large: false };
    });
  }

  @StreamedInternalRoute('POST', INTERNAL_PATHS.sourceArchive, INTERNAL_CALLERS.sourceArchive)
  async archive({ input, signal }: InternalUpload): Promise<InternalStream> {
    const {
      project_id: projectId,
      commit,
      prefix,
      caller,
    } = parseArchiveRequest((await json(input)) as SourceArchiveRequest);
    const repository = await this.repositories.findRepository(projectId);
    if (repository === null || (await resolveCommit(repository, commit)) === null) throw new NotFound('Commit');
    await this.limits.countArchive(caller, projectId);
    const asked = { commit, format: 'zip', prefix, signal } as const;
    const { stdout } = await convertGitFailures(() => openArchive(repository, asked));
    return { mediaType: 'application/zip', stream: stdout };
  }
}

function parseFileRequest(body: Readonly<Record<string, unknown>>): SourceFileRequest {
  const { project_id, ref, path, max_bytes } = body as unknown as SourceFileRequest;
  if (!Number.isSafeInteger(project_id)) throw new InvalidParameters(['project_id is invalid']);
  if (typeof ref !== 'string') throw new InvalidParameters(['ref is invalid']);
  if (typeof path !== 'string' || !isTreePath(path)) throw new InvalidParameters(['path is invalid']);
  if (!Number.isSafeInteger(max_bytes) || max_bytes < 0) throw new InvalidParameters(['max_bytes is invalid']);
  return { project_id, ref, path, max_bytes };
}

function parseArchiveRequest({ project_id, commit, prefix, caller }: SourceArchiveRequest) {
  if (!Number.isSafeInteger(project_id)) throw new InvalidParameters(['project_id is invalid']);
  if (typeof commit !== 'string' || !isObjectId(commit)) throw new InvalidParameters(['commit is invalid']);
  if (typeof prefix !== 'string' || !isTreePath(prefix)) throw new InvalidParameters(['prefix is invalid']);
  return { project_id, commit, prefix, caller: parseArchiveCaller(caller) };
}
