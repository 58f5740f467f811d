import { invalidGitArgument } from '../process/git-error';
import type { RunningGit } from '../process/git-run';
import { objectId } from '../names/object-id';
import type { ObjectId } from '../names/object-id';
import { isTreePath, requireTreePath } from '../names/tree-path';
import { configDisablingDrivers } from '../repository/drivers';
import type { Repository } from '../repository/repository';

export type ArchiveFormat = 'tar' | 'tar.gz' | 'tar.bz2' | 'zip';

const FORMATS: readonly ArchiveFormat[] = ['tar', 'tar.gz', 'tar.bz2', 'zip'];
const ARCHIVE_MS = 600_000;
/** Each path says itself that it is literal, because only then others can be left out. */
const MAGIC_PATHS = { GIT_LITERAL_PATHSPECS: '0' } as const;

/**
 * Streams an archive of a commit, which is the same to the byte each time. `prefix` is the folder that holds the files.
 * The archive has only the files below `paths`, if given, without those below `without`. Errors: GitError `not found`.
 */
export function openArchive(
  repository: Repository,
  archive: {
    readonly commit: ObjectId;
    readonly format: ArchiveFormat;
    readonly prefix: string;
    readonly paths?: readonly string[];
    readonly without?: readonly string[];
    readonly signal?: AbortSignal;
  },
): Promise<RunningGit> {
  if (!FORMATS.includes(archive.format)) throw invalidGitArgument('The format of the archive is unknown.');
  if (!isTreePath(archive.prefix)) throw invalidGitArgument('The folder of the archive is invalid.');
  const paths = (archive.paths ?? []).map((path) => `:(literal)${requireTreePath(path)}`);
  const without = (archive.without ?? []).map((path) => `:(exclude,literal)${requireTreePath(path)}`);
  const options = [`--format=${archive.format}`, `--prefix=${archive.prefix}/`];
  const args = ['archive', ...options, objectId(archive.commit), '--', ...paths, ...without];
  const { signal } = archive;
  return configDisablingDrivers(repository).then((config) =>
    repository.open({ args, variables: MAGIC_PATHS, config, lane: 'transport', limits: { ms: ARCHIVE_MS }, signal }),
  );
}
