import { isTreePath, objectInfo } from '@rookery/git';
import type { Commit, Repository } from '@rookery/git';

const DEFAULT_PATH = '.gitlab-ci.yml';
/** Path of a file in another project, or an address. Rookery does not read it, so it counts as present. */
const ELSEWHERE = /@|:\/\//;
/** Markers of commits that start no pipeline: `[skip ci]`, `[ci skip]`, also with `-` or `_`. */
const SKIPS = /\[(?:ci[ _-]skip|skip[ _-]ci)\]/i;

/**
 * Whether a push of a commit starts a pipeline: the commit has the CI file, and its message does not skip pipelines.
 * `path` is the project's setting, or null for the default path. Source: reference identity-and-import 7.6.
 */
export async function shouldPushStartPipeline(
  repository: Repository,
  { id, message }: Pick<Commit, 'id' | 'message'>,
  path: string | null,
): Promise<boolean> {
  return !SKIPS.test(message) && (await hasCiFile(repository, id, path?.trim() || DEFAULT_PATH));
}

async function hasCiFile(repository: Repository, commit: Commit['id'], ciConfigPath: string): Promise<boolean> {
  if (ELSEWHERE.test(ciConfigPath)) return true;
  const path = ciConfigPath.replace(/^\/+/, '');
  if (!isTreePath(path)) return false;
  return (await objectInfo(repository, { rev: commit, path }))?.type === 'blob';
}
