import { listChangedFiles, readHunks } from '@rookery/git';
import type { FileChange, FileHunks, ObjectId, Repository } from '@rookery/git';
import type { DiffedFile, FileMove, FileMoves } from './follow-line';

/** Old and new side of a diff. */
export interface DiffPair {
  readonly base: ObjectId;
  readonly head: ObjectId;
}

/** File of a thread. */
interface ThreadPaths {
  readonly oldPath: string;
  readonly newPath: string;
}

/**
 * How the files of threads changed between two diffs. Files whose sides did not change cost nothing. Bounds: three lists
 * of changed files and three diffs without context for all threads together. Errors: GitError.
 */
export class FileMovesBetweenDiffs {
  private constructor(
    private readonly heads: MovesByPath,
    private readonly bases: MovesByPath,
    private readonly diff: readonly DiffedFile[],
  ) {}

  static async read(
    repository: Repository,
    before: DiffPair,
    after: DiffPair,
    threads: readonly ThreadPaths[],
  ): Promise<FileMovesBetweenDiffs> {
    const heads = await readMovesOfSide(
      repository,
      before.head,
      after.head,
      new Set(threads.map((one) => one.newPath)),
    );
    const bases = await readMovesOfSide(
      repository,
      before.base,
      after.base,
      new Set(threads.map((one) => one.oldPath)),
    );
    const newPaths = new Set(threads.map((one) => findMoveOrUnchanged(heads, one.newPath).path));
    const oldPaths = new Set(threads.map((one) => findMoveOrUnchanged(bases, one.oldPath).path));
    const isWanted = (change: FileChange): boolean => newPaths.has(change.newPath) || oldPaths.has(change.oldPath);
    const files = await readWantedHunks(repository, after.base, after.head, isWanted);
    return new FileMovesBetweenDiffs(
      heads,
      bases,
      files.map(({ change, hunks }) => ({ oldPath: change.oldPath, newPath: change.newPath, hunks })),
    );
  }

  /** Returns how the two sides of one thread's file changed. */
  fileMoves({ oldPath, newPath }: ThreadPaths): FileMoves {
    return {
      head: findMoveOrUnchanged(this.heads, newPath),
      base: findMoveOrUnchanged(this.bases, oldPath),
      byNewPath: (path) => this.diff.find((file) => file.newPath === path),
      byOldPath: (path) => this.diff.find((file) => file.oldPath === path),
    };
  }

  /** Whether the new side of a file has other content. */
  isHeadChanged(path: string): boolean {
    return this.heads.has(path);
  }
}

/** Changed files of one side by their path before. */
type MovesByPath = ReadonlyMap<string, FileMove>;

function findMoveOrUnchanged(side: MovesByPath, path: string): FileMove {
  return side.get(path) ?? { path, hunks: [] };
}

async function readMovesOfSide(
  repository: Repository,
  before: ObjectId,
  after: ObjectId,
  paths: ReadonlySet<string>,
): Promise<MovesByPath> {
  const files = await readWantedHunks(repository, before, after, (change) => paths.has(change.oldPath));
  return new Map(
    files
      // The new file of another type has the path of the old one, and none of its lines.
      .filter(({ change }) => change.status !== 'added')
      .map(({ change, hunks }) => [
        change.oldPath,
        { path: change.status === 'deleted' ? null : change.newPath, hunks },
      ]),
  );
}

/** Finds renames among all changed files, and reads hunks only for the wanted files. */
async function readWantedHunks(
  repository: Repository,
  oldId: ObjectId,
  newId: ObjectId,
  isWanted: (change: FileChange) => boolean,
): Promise<FileHunks[]> {
  if (oldId === newId) return [];
  const changes = (await listChangedFiles(repository, { oldId, newId })).filter(isWanted);
  if (changes.length === 0) return [];
  const paths = [...new Set(changes.flatMap(({ oldPath, newPath }) => [oldPath, newPath]))];
  const read = await readHunks(repository, { oldId, newId, paths });
  return read.filter(({ change }) => isWanted(change));
}
