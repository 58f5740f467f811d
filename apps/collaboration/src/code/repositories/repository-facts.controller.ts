import { Controller } from '@nestjs/common';
import { InternalRoute } from '@rookery/api-v4';
import type { InternalRequest } from '@rookery/api-v4';
import type { RepositoryFactsAnswer } from '@rookery/contracts';
import { INTERNAL_CALLERS, INTERNAL_PATHS } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { InvalidParameters } from '@rookery/kernel';
import { ProjectRepositories } from './project-repositories';
import { readRepositoryFacts } from './repository-facts';

const MAX_PROJECTS = 100;

/** Repository facts that identity needs for badges. Source: reference identity-and-import 8. */
@Controller()
export class RepositoryFactsController {
  constructor(
    private readonly directory: Directory,
    private readonly repositories: ProjectRepositories,
  ) {}

  @InternalRoute('POST', INTERNAL_PATHS.repositoryFacts, INTERNAL_CALLERS.repositoryFacts)
  async facts({ body }: InternalRequest): Promise<RepositoryFactsAnswer> {
    const known = await this.directory.findProjects(parseProjectIds(body));
    const projects: RepositoryFactsAnswer['projects'][number][] = [];
    for (const { id, defaultBranch } of known.values()) {
      const repository = await this.repositories.findRepository(id);
      const facts = repository && (await readRepositoryFacts(repository));
      projects.push({
        project_id: id,
        default_branch: facts?.defaultBranch ?? defaultBranch,
        commit_sha: facts?.commitSha ?? null,
        latest_tag: facts?.latestTag ?? null,
      });
    }
    return { projects };
  }
}

function parseProjectIds(body: Readonly<Record<string, unknown>>): number[] {
  const ids = body['project_ids'];
  const isList = Array.isArray(ids) && ids.length <= MAX_PROJECTS && ids.every((id) => Number.isSafeInteger(id));
  if (!isList) throw new InvalidParameters(['project_ids is invalid']);
  return ids as number[];
}
