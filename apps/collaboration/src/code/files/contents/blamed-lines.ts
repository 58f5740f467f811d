import { blameFile, GitError, readCommits } from '@rookery/git';
import type { BlamedLine, Commit, ObjectId, Repository } from '@rookery/git';
import type { FileAtRef } from './file-finder';

/** Neighbouring lines that one commit wrote. `lines` have no line ends. */
export interface BlamedLines {
  readonly commit: Commit;
  readonly lines: readonly string[];
}

/**
 * Finds the commits that wrote the lines of a file. `range` counts lines from 1 and includes both bounds. Other lines
 * are left out.
 */
export async function readBlamedLines(
  repository: Repository,
  { commit, path, blob }: FileAtRef,
  range?: { readonly start: number; readonly end: number },
): Promise<BlamedLines[]> {
  if (blob.size === 0) return [];
  const lines = await blameFile(repository, commit, path, range).catch(returnNoLinesIfNotFound);
  const groups: { id: ObjectId; lines: string[] }[] = [];
  for (const { commit: id, text } of lines) {
    const last = groups.at(-1);
    if (last?.id === id) last.lines.push(text);
    else groups.push({ id, lines: [text] });
  }
  const ids = [...new Set(groups.map(({ id }) => id))];
  const commits = new Map((await readCommits(repository, ids)).map((one) => [one.id, one]));
  return groups.map((group) => ({ commit: commits.get(group.id)!, lines: group.lines }));
}

/** Returns no lines for a range after the last line, which git refuses. Errors: all others. */
function returnNoLinesIfNotFound(error: unknown): readonly BlamedLine[] {
  if (error instanceof GitError && error.reason === 'not found') return [];
  throw error;
}
