import { createHash } from 'node:crypto';
import { Controller } from '@nestjs/common';
import { Endpoint, streamedFile } from '@rookery/api-v4';
import type { Call, FileAnswer, OpenRange, ProjectScope } from '@rookery/api-v4';
import { isTreePath, objectInfo, openArchive, readHead, resolveCommit } from '@rookery/git';
import type { ObjectId, Repository } from '@rookery/git';
import { NotFound } from '@rookery/kernel';
import { readsFilesOf } from '../../repositories/code.permission';
import { convertGitFailures } from '../../repositories/git-failures';
import { ProjectRepositories } from '../../repositories/project-repositories';
import { FileRateLimits } from '../blobs/file-limits';
import { findArchiveFormat } from './archive-formats';
import { ShowArchive, ShowArchiveOfFormat } from './archives.dto';

const ARCHIVE = '/projects/:id/repository/archive';
const downloads = {
  ...readsFilesOf,
  about: 'Downloads an archive of a repository or of one of its folders.',
  source: 'reference repositories 3.4',
  answers: streamedFile('application/octet-stream', { 'application/zip': {} }),
  tokenScopes: ['read_repository'],
  fails: [404, 429],
} as const;

/** Archives, which git writes while they are sent. Source: reference repositories 3.4. */
@Controller()
export class ArchivesController {
  constructor(
    private readonly repositories: ProjectRepositories,
    private readonly limits: FileRateLimits,
  ) {}

  @Endpoint('GET', ARCHIVE, { ...downloads, params: ShowArchive })
  download(call: Call<ShowArchive, ProjectScope>): Promise<FileAnswer> {
    return this.createArchiveAnswer(call);
  }

  @Endpoint('GET', `${ARCHIVE}.:format`, { ...downloads, params: ShowArchiveOfFormat })
  downloadOfFormat(call: Call<ShowArchiveOfFormat, ProjectScope>): Promise<FileAnswer> {
    return this.createArchiveAnswer(call);
  }

  private createArchiveAnswer({ within, viewer, params }: Call<ShowArchive, ProjectScope>): Promise<FileAnswer> {
    const format = findArchiveFormat(params.format);
    const path = params.path.replace(/\/$/, '');
    // Paths that cannot be in a repository leave nothing out.
    const without = params.exclude_paths.map((one) => one.replace(/\/$/, '')).filter(isTreePath);
    return this.repositories.useRepository(within, async (repository) => {
      const { commit, ref } = await resolveArchiveRevision(repository, params.sha);
      await requirePathInCommit(repository, commit, path);
      const prefix = composeArchiveName(within, [ref, commit], path);
      const paths = path === '' ? [] : [path];
      const open: OpenRange = async (_range, gone) => {
        await this.limits.countArchive(String(viewer.userId ?? viewer.address ?? ''), within.id);
        const running = await convertGitFailures(() =>
          openArchive(repository, { commit, format, prefix, paths, without, signal: gone }),
        );
        return running.stdout;
      };
      return {
        mediaType: format === 'zip' ? 'application/zip' : 'application/octet-stream',
        filename: `${prefix}.${format}`,
        version: computeArchiveVersionDigest([commit, format, prefix, ...without]),
        stream: open,
      };
    });
  }
}

/** Returns the commit of a revision and its name in the file name. Errors: NotFound. */
async function resolveArchiveRevision(repository: Repository, sha: string): Promise<{ commit: ObjectId; ref: string }> {
  const commit = await resolveCommit(repository, sha === '' ? 'HEAD' : sha);
  if (commit === null) throw new NotFound('File');
  // Without a revision the name is that of the default branch, so both requests have the same bytes.
  return { commit, ref: sha === '' ? (await readHead(repository)).slice('refs/heads/'.length) : sha };
}

async function requirePathInCommit(repository: Repository, commit: ObjectId, path: string): Promise<void> {
  if (path === '') return;
  const info = isTreePath(path) ? await objectInfo(repository, { rev: commit, path }) : null;
  if (info === null) throw new NotFound('File');
}

/** The folder is left out of a name that would be too long. */
function composeArchiveName({ path: project }: ProjectScope, parts: readonly string[], folder: string): string {
  const [name, whole] = [parts, [...parts, folder]].map((each) => [project, ...each].join('-').replaceAll('/', '-'));
  return folder !== '' && isTreePath(whole!) ? whole! : name!;
}

function computeArchiveVersionDigest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40);
}
