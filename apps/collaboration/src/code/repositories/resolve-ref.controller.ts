import { Controller } from '@nestjs/common';
import { InternalRoute } from '@rookery/api-v4';
import type { InternalRequest } from '@rookery/api-v4';
import type { ResolveRefAnswer, ResolveRefRequest } from '@rookery/contracts';
import { INTERNAL_CALLERS, INTERNAL_PATHS } from '@rookery/contracts';
import { InvalidParameters } from '@rookery/kernel';
import { ProjectRepositories } from './project-repositories';
import { resolveRef } from './resolve-ref';
import { convertGitFailures } from './git-failures';

/** Refs and commits that the package service needs for pipelines. Source: reference identity-and-import 7. */
@Controller()
export class ResolveRefController {
  constructor(private readonly repositories: ProjectRepositories) {}

  @InternalRoute('POST', INTERNAL_PATHS.resolveRef, INTERNAL_CALLERS.resolveRef)
  async resolve({ body }: InternalRequest): Promise<ResolveRefAnswer> {
    const { project_id: projectId, name, finds_branch: findsBranch } = parseRequest(body);
    const repository = await this.repositories.findRepository(projectId);
    if (repository === null) return { commit: null };
    return { commit: await convertGitFailures(() => resolveRef(repository, name, findsBranch === true)) };
  }
}

function parseRequest(body: Readonly<Record<string, unknown>>): ResolveRefRequest {
  const { project_id: projectId, name } = body;
  if (!Number.isSafeInteger(projectId)) throw new InvalidParameters(['project_id is invalid']);
  if (name !== null && typeof name !== 'string') throw new InvalidParameters(['name is invalid']);
  return { project_id: projectId as number, name, ...(body['finds_branch'] === true ? { finds_branch: true } : {}) };
}
