import { Controller } from '@nestjs/common';
import { Internal } from '@rookery/api-v4';
import type { InternalRequest } from '@rookery/api-v4';
import type { RepositoryFactsAnswer } from '@rookery/contracts';
import { INTERNAL_CALLERS, INTERNAL_PATHS } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { InvalidParameters } from '@rookery/kernel';

const MAX_PROJECTS = 100;

/**
 * What identity asks for its badges. There are no repositories yet, so all that can be told is the default branch that
 * the directory names; commit and tag are unknown until a project has one. Source: reference identity-and-import 8.
 */
@Controller()
export class RepositoryFactsController {
  constructor(private readonly directory: Directory) {}

  @Internal('POST', INTERNAL_PATHS.repositoryFacts, INTERNAL_CALLERS.repositoryFacts)
  async facts({ body }: InternalRequest): Promise<RepositoryFactsAnswer> {
    const known = await this.directory.projects(projectIdsIn(body));
    const projects = [...known.values()].map(({ id, defaultBranch }) => ({
      project_id: id,
      default_branch: defaultBranch,
      commit_sha: null,
      latest_tag: null,
    }));
    return { projects };
  }
}

function projectIdsIn(body: Readonly<Record<string, unknown>>): number[] {
  const ids = body['project_ids'];
  const isList = Array.isArray(ids) && ids.length <= MAX_PROJECTS && ids.every((id) => Number.isSafeInteger(id));
  if (!isList) throw new InvalidParameters(['project_ids is invalid']);
  return ids as number[];
}
