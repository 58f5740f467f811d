import type { DirectoryProject } from '@rookery/contracts';
import type { ObjectId, Repository } from '@rookery/git';
import type { SeededService } from '@rookery/testing';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';
import { castOf } from './app';
import type { Cast } from './app';
import { commitFiles } from './commits-fixture';

/** A project with a cast and two commits on `main`. */
export interface CommitPlace {
  readonly project: DirectoryProject;
  readonly cast: Cast;
  readonly repository: Repository;
  readonly root: ObjectId;
  readonly tip: ObjectId;
  /** Path of a commit in the API, by default of the newest one. */
  at(tail: string, sha?: string): string;
}

const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `line ${index + 1}`);
const text = (lines: readonly string[]): string => `${lines.join('\n')}\n`;
const before = numbered(20);
/** Line 5 is removed, and a line is added after line 10: it is the new line 10. */
const after = before.flatMap((line) => (line === 'line 5' ? [] : line === 'line 10' ? [line, 'added'] : [line]));

/** Message of the newest commit. */
export const TIP_MESSAGE = 'Mend the nest\n\nWith twigs.';

export async function commitPlace(
  service: SeededService,
  over: Partial<DirectoryProject> = {},
  author?: string,
): Promise<CommitPlace> {
  const group = await service.seed.group({ visibility: over.visibility ?? 'public' });
  const project = await service.seed.project({ namespace_id: group.id, ...over });
  const cast = await castOf(service.seed, project);
  const repository = await service.app
    .get(ProjectRepositories)
    .openRepository({ id: project.id, defaultBranch: 'main' });
  const root = commitFiles(repository, { 'nest.txt': text(before), 'old.txt': text(numbered(9)) });
  const files = { 'nest.txt': text(after), 'new.txt': text(numbered(9)) };
  const tip = commitFiles(repository, files, { message: TIP_MESSAGE, ...(author ? { author } : {}) });
  const at = (tail: string, sha: string = tip): string =>
    `/api/v4/projects/${project.id}/repository/commits/${encodeURIComponent(sha)}/${tail}`;
  return { project, cast, repository, root, tip, at };
}
