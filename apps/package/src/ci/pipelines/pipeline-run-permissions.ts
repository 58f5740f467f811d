import { Injectable } from '@nestjs/common';
import { admitsJobTokensOf } from '@rookery/api-v4';
import type { ProjectScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import type { ProjectFacts } from '@rookery/directory';
import type { Viewer } from '@rookery/kernel';
import { canRunPipelines } from './pipelines.policy';

/** A project with the answer to whether a user may run its pipelines. */
export interface RunnableProject extends Pick<ProjectScope, 'id' | 'fullPath'> {
  readonly canRun: boolean;
}

/** Rights of users for whom a token acts instead of a request of their own. */
@Injectable()
export class PipelineRunPermissions {
  constructor(private readonly directory: Directory) {}

  /**
   * Returns a project, and whether the user may run its pipelines now. Blocked and deleted users may not. Returns null
   * for a deleted project.
   */
  async findRunnableProject(projectId: number, userId: number | null): Promise<RunnableProject | null> {
    const project = (await this.directory.findProjects([projectId])).get(projectId);
    if (!project) return null;
    return { id: project.id, fullPath: project.fullPath, canRun: await this.canUserRunPipelines(project, userId) };
  }

  /**
   * Returns the project that a request names, for a user who acts by the token of a job of another project, and whether
   * the user may run its pipelines now. Returns null if the user may not see it, or it does not admit that job. Source:
   * reference identity-and-import 4.10.
   */
  async projectForJob(
    named: number | string,
    { project_id: originId, user_id: userId }: { readonly project_id: number; readonly user_id: number },
    request: Viewer,
  ): Promise<RunnableProject | null> {
    const user = (await this.directory.findUsers([userId])).get(userId);
    if (!user) return null;
    const asUser = { userId, username: user.username, isAdmin: user.admin, isExternal: user.external };
    const viewer = { ...request, ...asUser };
    const [project, origin] = await Promise.all([
      this.directory.findProject(named, viewer, 'copy'),
      this.directory.findProject(originId, viewer, 'copy'),
    ]);
    return project && origin && admitsJobTokensOf(project, origin)
      ? this.findRunnableProject(project.id, userId)
      : null;
  }

  private async canUserRunPipelines(project: ProjectFacts, userId: number | null): Promise<boolean> {
    const user = userId === null ? undefined : (await this.directory.findUsers([userId])).get(userId);
    if (user?.state !== 'active') return false;
    const levels = await this.directory.levelsInProject(project.id, [user.id]);
    return canRunPipelines({ isAdmin: user.admin }, { ...project, level: levels.get(user.id) ?? 0 });
  }
}
