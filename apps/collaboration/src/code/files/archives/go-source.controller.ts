import { json } from 'node:stream/consumers';
import { Controller } from '@nestjs/common';
import { InternalRoute, StreamedInternalRoute } from '@rookery/api-v4';
import type { InternalRequest, InternalStream, InternalUpload } from '@rookery/api-v4';
import type {
  SourceCommitAnswer,
  SourceCommitRequest,
  SourceModuleRequest,
  SourceTag,
  SourceTagsAnswer,
  SourceTagsRequest,
} from '@rookery/contracts';
import { INTERNAL_CALLERS, INTERNAL_PATHS } from '@rookery/contracts';
import {
  isTreePath,
  isObjectId,
  isRefName,
  listRefs,
  listTree,
  objectInfo,
  readCommits,
  readHead,
  readObject,
  readRefs,
  resolveCommit,
  streamBlob,
} from '@rookery/git';
import type { ObjectId, Repository } from '@rookery/git';
import { InvalidParameters, NotFound } from '@rookery/kernel';
import { ZipFile } from 'yazl';
import { formatCommitTimeUtc } from '../../repositories/commit-times';
import { convertGitFailures } from '../../repositories/git-failures';
import { toKeepAroundRef, setHiddenRefs } from '../../repositories/hidden-refs';
import { ProjectRepositories } from '../../repositories/project-repositories';
import { parseArchiveCaller, FileRateLimits } from '../blobs/file-limits';
import { filesOfGoModule } from './go-module-files';
import type { GoModuleFile } from './go-module-files';

const TAGS = 'refs/tags/';
const MAX_TAGS = 1000;
/** List of the files of a module. Units: bytes. */
const MAX_LISTING = 8 * 1024 * 1024;
/** The time of all entries, so that an archive always has the same bytes. */
const TIME = new Date(Date.UTC(1980, 0, 1));

/** Commits, tags and modules for the proxy of Go modules, which checks the rights of its callers. Source: ADR 0205. */
@Controller()
export class GoSourceController {
  constructor(
    private readonly repositories: ProjectRepositories,
    private readonly limits: FileRateLimits,
  ) {}

  @InternalRoute('POST', INTERNAL_PATHS.sourceCommit, INTERNAL_CALLERS.sourceCommit)
  async readCommit({ body }: InternalRequest): Promise<SourceCommitAnswer> {
    const { project_id: projectId, rev, ...asked } = parseCommitRequest(body);
    const repository = await this.repositories.findRepository(projectId);
    if (repository === null) return { commit: null };
    return convertGitFailures(async () => {
      const id = await findCommitOfRevision(repository, rev);
      const [commit] = id === null ? [] : await readCommits(repository, [id]);
      if (id === null || !commit) return { commit: null };
      const contents = await Promise.all(
        asked.paths.map((path) => readFileAsBase64(repository, id, path, asked.max_bytes)),
      );
      const tags = asked.finds_tags ? await listRefs(repository, { under: ['refs/tags'], pointsAt: id }) : [];
      if (asked.keeps) await setHiddenRefs(repository, [toKeepAroundRef(id)]);
      const names = tags.map(({ name }) => name.slice(TAGS.length));
      return { commit: { id, committed_at: formatCommitTimeUtc(commit.committer), contents, tags: names } };
    });
  }

  @InternalRoute('POST', INTERNAL_PATHS.sourceTags, INTERNAL_CALLERS.sourceTags)
  async listTags({ body }: InternalRequest): Promise<SourceTagsAnswer> {
    const { project_id: projectId, prefix, path, merged_into: mergedInto } = parseSourceTagsRequest(body);
    const repository = await this.repositories.findRepository(projectId);
    if (repository === null) return { tags: [] };
    return convertGitFailures(async () => {
      const merged = mergedInto === null ? {} : { mergedInto };
      const refs = await listRefs(repository, { under: ['refs/tags'], order: '-version', ...merged });
      const wanted = refs.filter(({ name }) => name.startsWith(`${TAGS}${prefix}v`)).slice(0, MAX_TAGS);
      const tags = wanted.map(async ({ name, id: rev }): Promise<SourceTag> => {
        const info = await objectInfo(repository, { rev, path });
        return { name: name.slice(TAGS.length), has_file: info?.type === 'blob' };
      });
      return { tags: await Promise.all(tags) };
    });
  }

  @StreamedInternalRoute('POST', INTERNAL_PATHS.sourceModule, INTERNAL_CALLERS.sourceModule)
  async openModule({ input, signal }: InternalUpload): Promise<InternalStream> {
    const asked = parseModuleRequest((await json(input)) as SourceModuleRequest);
    const { project_id: projectId, commit, folder, prefix, caller } = asked;
    const repository = await this.repositories.findRepository(projectId);
    if (repository === null || (await resolveCommit(repository, commit)) === null) throw new NotFound('Commit');
    await this.limits.countArchive(caller, projectId);
    const entries = await convertGitFailures(() =>
      listTree(repository, { id: commit, isRecursive: true, maxBytes: MAX_LISTING }),
    );
    const files = filesOfGoModule(entries, folder);
    if (files === null) throw new NotFound('Module');
    return { mediaType: 'application/zip', stream: createZip(repository, files, prefix, signal) };
  }
}

/** A null `rev` is the default branch; full names of refs mean these alone. */
async function findCommitOfRevision(repository: Repository, rev: string | null): Promise<ObjectId | null> {
  const name = rev ?? (await readHead(repository));
  if (!name.startsWith('refs/')) return resolveCommit(repository, name);
  if (!isRefName(name)) return null;
  const id = (await readRefs(repository, [name])).get(name);
  return id === undefined ? null : resolveCommit(repository, id);
}

/** Returns a file as base64: null if there is none, and an empty text for one that is too large. */
async function readFileAsBase64(
  repository: Repository,
  rev: ObjectId,
  path: string,
  maxBytes: number,
): Promise<string | null> {
  const info = await objectInfo(repository, { rev, path });
  if (info?.type !== 'blob') return null;
  if (info.size > maxBytes) return '';
  return (await readObject(repository, { rev, path }, maxBytes))?.content.toString('base64') ?? null;
}

function createZip(repository: Repository, files: readonly GoModuleFile[], prefix: string, signal: AbortSignal) {
  const zip = new ZipFile();
  const output = zip.outputStream as NodeJS.ReadableStream & { destroy(error?: Error): void };
  const fail = (error: unknown): void => output.destroy(error as Error);
  zip.on('error', fail);
  signal.addEventListener('abort', () => output.destroy(), { once: true });
  for (const { name, id } of files) {
    zip.addReadStreamLazy(`${prefix}/${name}`, { mtime: TIME, mode: 0o100644 }, (done) => {
      streamBlob(repository, { rev: id }, signal).then(
        (blob) => (blob === null ? fail(new Error('a file of a tree is missing')) : done(null, blob.content)),
        fail,
      );
    });
  }
  zip.end();
  return output as unknown as InternalStream['stream'];
}

function parseCommitRequest(body: Readonly<Record<string, unknown>>): SourceCommitRequest {
  const { project_id, rev, paths, max_bytes, keeps, finds_tags } = body as unknown as SourceCommitRequest;
  assertValidProjectId(project_id);
  if (rev !== null && typeof rev !== 'string') throw new InvalidParameters(['rev is invalid']);
  if (!Array.isArray(paths) || !paths.every(isRepositoryPath)) throw new InvalidParameters(['paths is invalid']);
  if (!Number.isSafeInteger(max_bytes) || max_bytes < 0) throw new InvalidParameters(['max_bytes is invalid']);
  return { project_id, rev, paths, max_bytes, keeps: keeps === true, finds_tags: finds_tags === true };
}

function parseSourceTagsRequest(body: Readonly<Record<string, unknown>>) {
  const { project_id, prefix, path, merged_into } = body as unknown as SourceTagsRequest;
  assertValidProjectId(project_id);
  if (typeof prefix !== 'string') throw new InvalidParameters(['prefix is invalid']);
  if (!isRepositoryPath(path)) throw new InvalidParameters(['path is invalid']);
  if (merged_into !== null && !isObjectId(merged_into)) throw new InvalidParameters(['merged_into is invalid']);
  return { project_id, prefix, path, merged_into };
}

function parseModuleRequest({ project_id, commit, folder, prefix, caller }: SourceModuleRequest) {
  assertValidProjectId(project_id);
  if (typeof commit !== 'string' || !isObjectId(commit)) throw new InvalidParameters(['commit is invalid']);
  if (folder !== '' && !isRepositoryPath(folder)) throw new InvalidParameters(['folder is invalid']);
  if (!isRepositoryPath(prefix)) throw new InvalidParameters(['prefix is invalid']);
  return { project_id, commit, folder, prefix, caller: parseArchiveCaller(caller) };
}

function assertValidProjectId(id: unknown): void {
  if (!Number.isSafeInteger(id)) throw new InvalidParameters(['project_id is invalid']);
}

function isRepositoryPath(path: unknown): path is string {
  return typeof path === 'string' && isTreePath(path);
}
