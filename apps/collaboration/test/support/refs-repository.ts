import type { DirectoryProject } from '@rookery/contracts';
import type { GitClient, SeededService } from '@rookery/testing';
import { ProjectRepositories } from '../../src/code/repositories/project-repositories';

/** A project with a repository, and a working copy of it. */
export interface RefsRepository {
  readonly project: DirectoryProject;
  readonly fullPath: string;
  /** Folder of the working copy, for the git client. */
  readonly folder: string;
  /** Runs git in the working copy and returns its output without the final line end. */
  run(...args: string[]): Promise<string>;
  /** Pushes straight to the folder of the repository, past the rules of the service. */
  place(...refs: string[]): Promise<void>;
}

let at = 0;

/** Adds a project in a new group. Its repository has no branch yet; the working copy has one commit on `main`. */
export async function refsRepository(
  service: SeededService,
  git: GitClient,
  over: Partial<DirectoryProject> = {},
): Promise<RefsRepository> {
  const group = await service.seed.group({ visibility: over.visibility ?? 'public' });
  const project = await service.seed.project({ namespace_id: group.id, default_branch: null, ...over });
  const repository = await service.app
    .get(ProjectRepositories)
    .openRepository({ id: project.id, defaultBranch: project.default_branch });
  const folder = `refs-${++at}`;
  await git.init(folder, repository.directory);
  const run = async (...args: string[]): Promise<string> => (await git.ok(folder, ...args)).trimEnd();
  return {
    project,
    fullPath: `${group.full_path}/${project.path}`,
    folder,
    run,
    place: async (...refs) => void (await run('push', '--quiet', '--force', 'origin', ...refs)),
  };
}
