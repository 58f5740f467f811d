import { Controller, Inject } from '@nestjs/common';
import { created, Endpoint, SCOPE_RESOLVER } from '@rookery/api-v4';
import type { Call, ProjectScope, ScopeResolver } from '@rookery/api-v4';
import { mayReadCode } from '@rookery/directory';
import { Forbidden, NotFound } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { detailedCommitPresenter } from '../../commits/commit.presenter';
import type { DetailedCommitRow } from '../../commits/commit.presenter';
import { addsCommitsOf } from '../../repositories/code.permission';
import { areInOneNetwork } from '../../repositories/forks/fork-network';
import { decodeContent } from './base64-content';
import { CreateCommit } from './commit-actions.dto';
import type { ApplyCommitAction } from './commit-actions.dto';
import type { FileAction } from './file-action';
import { COMMIT_REFUSALS, FileChanges } from './file-changes';
import { CHANGE_BODY_LIMIT } from './file-changes.dto';

/** Commits that change several files. Source: reference repositories 3.7. */
@Controller()
export class CommitActionsController {
  constructor(
    private readonly changes: FileChanges,
    @Inject(SCOPE_RESOLVER) private readonly scopes: ScopeResolver,
  ) {}

  @Endpoint('POST', '/projects/:id/repository/commits', {
    ...addsCommitsOf,
    about: 'Writes a commit that changes several files.',
    source: 'reference repositories 3.7',
    params: CreateCommit,
    answers: created(detailedCommitPresenter),
    bodyLimit: CHANGE_BODY_LIMIT,
    fails: [400, 404],
  })
  async create({
    within,
    viewer,
    params,
  }: Call<CreateCommit, ProjectScope, SignedInViewer>): Promise<DetailedCommitRow> {
    const startProject = await this.findStartProject(within, viewer, params.start_project);
    const { author_name: name, author_email: email, stats: hasStats } = params;
    const request = {
      branch: params.branch,
      message: params.commit_message,
      actions: params.actions.map(toFileAction),
      startBranch: params.start_branch || undefined,
      startSha: params.start_sha || undefined,
      startProject,
      isForced: params.force,
      author: name && email ? { name, email } : null,
    };
    const made = await this.changes.commit(within, viewer, request, { refusals: COMMIT_REFUSALS, hasStats });
    return { ...made, projectId: within.id, projectPath: within.fullPath, hasTrailers: true };
  }

  /** Finds the project of the start. Errors: NotFound, and Forbidden for a project outside of the network. */
  private async findStartProject(
    within: ProjectScope,
    viewer: SignedInViewer,
    named?: number | string,
  ): Promise<ProjectScope | undefined> {
    if (named === undefined) return undefined;
    const project = await this.scopes.findProject(named, viewer);
    if (project === null) throw new NotFound('Project');
    if (project.id === within.id) return undefined;
    if (!areInOneNetwork(project, within) || !mayReadCode(viewer, project))
      throw new Forbidden(`Project is not included in the fork network for ${within.nameWithNamespace}`);
    return project;
  }
}

function toFileAction(requested: ApplyCommitAction): FileAction {
  const { action: kind, file_path: path, last_commit_id: lastCommitId } = requested;
  const content = requested.content === undefined ? undefined : decodeContent(requested.content, requested.encoding);
  switch (kind) {
    case 'create':
    case 'update':
      return {
        kind,
        path,
        lastCommitId,
        content: content ?? Buffer.alloc(0),
        isExecutable: requested.execute_filemode,
      };
    case 'move':
      return { kind, path, lastCommitId, content, previousPath: requested.previous_path! };
    case 'delete':
      return { kind, path, lastCommitId };
    case 'chmod':
      return { kind, path, lastCommitId, isExecutable: requested.execute_filemode! };
  }
}
