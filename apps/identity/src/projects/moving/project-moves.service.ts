import { Injectable } from '@nestjs/common';
import { projectMoved } from '@rookery/contracts';
import type { SignedInViewer } from '@rookery/kernel';
import { Invalid, Refused, VISIBILITY_LEVELS } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { violatesConstraint, Work } from '@rookery/persistence';
import { ChangeLog } from '../../directory/change-log';
import { projectPathProblems } from '../../namespaces/paths/path-rules';
import { mayPutProjectsIn, ProjectLocksService } from '../changing/project-places.service';
import type { ProjectHome, LocatedProject } from '../changing/project-places.service';
import { findResponsibleUserEventData } from '../../users/responsible-user';
import { ProjectsService } from '../projects.service';

const SAME = 'Project is already in this namespace.';
const NO_RIGHT = "You don't have permission to transfer projects into that namespace.";
const TAKEN = 'Project with same name or path in target namespace already exists';
const FAILED = 'Failed to transfer project';

const projectMoveRefusal = (...texts: readonly string[]): Invalid => new Invalid({ new_namespace: texts });

/** Moves of projects to other namespaces. Source: reference identity-and-import 2.1, 10.2. */
@Injectable()
export class ProjectMovesService {
  constructor(
    private readonly work: Work,
    private readonly log: ChangeLog,
    private readonly places: ProjectLocksService,
    private readonly projects: ProjectsService,
  ) {}

  /** Errors: Refused with the whole text of the API; NotFound for project or namespace. */
  async transferProject(viewer: SignedInViewer, projectId: number, namespaceId: number): Promise<void> {
    const texts = await this.tryMove(viewer, projectId, namespaceId);
    if (texts) throw new Refused(`${FAILED}: ${texts.join(', ')}`, { verbatim: true });
  }

  /**
   * Moves a project and updates everything that depends on its location: path and redirect, visibility, the membership
   * of the namespace's user, the change log. Errors: Invalid for `new_namespace`; NotFound for project or namespace.
   */
  async moveProject(tx: Tx, viewer: SignedInViewer, projectId: number, targetId: number): Promise<void> {
    const { placed, target } = await this.places.withTarget(tx, viewer, projectId, targetId);
    await this.validateMove(tx, viewer, placed, target);
    const { project } = placed;
    const isLowered = VISIBILITY_LEVELS[project.visibility] > VISIBILITY_LEVELS[target.visibility];
    await tx.query(`update projects set namespace_id = $2, visibility = $3, updated_at = now() where id = $1`, [
      projectId,
      target.id,
      target.kind === 'group' && isLowered ? target.visibility : project.visibility,
    ]);
    await this.projects.changePath(tx, placed, target, project.path);
    const responsible = await findResponsibleUserEventData(tx, viewer.userId);
    const data = { project_id: projectId, namespace_id: target.id, ...responsible };
    this.log.emit(tx, projectMoved.of({ aggregateId: projectId, actorId: viewer.userId, data }));
    if (target.owner_id !== null) await this.projects.addNamespaceUser(tx, target.owner_id, viewer.userId, projectId);
  }

  private async validateMove(
    tx: Tx,
    viewer: SignedInViewer,
    { project }: LocatedProject,
    target: ProjectHome,
  ): Promise<void> {
    if (target.id === project.namespace_id) throw projectMoveRefusal(SAME);
    if (!mayPutProjectsIn(viewer, target)) throw projectMoveRefusal(NO_RIGHT);
    const { name, path } = project;
    if (Object.keys(await this.projects.takenFieldProblems(tx, target.id, { name, path })).length > 0)
      throw projectMoveRefusal(TAKEN);
    const problems = [
      ...projectPathProblems(path, target.full_path).map((text) => `Path ${text}`),
      ...Object.values(await this.projects.projectLimitProblems(tx, target)).flat(),
    ];
    if (problems.length > 0) throw projectMoveRefusal(...problems);
  }

  /** Tries to move the project. Returns the reasons of a refusal; null when it was moved. */
  private async tryMove(
    viewer: SignedInViewer,
    projectId: number,
    targetId: number,
  ): Promise<readonly string[] | null> {
    try {
      await this.work.run((tx) => this.moveProject(tx, viewer, projectId, targetId));
      return null;
    } catch (error) {
      if (error instanceof Invalid && error.fields['new_namespace']) return error.fields['new_namespace'];
      // Two concurrent moves: the unique index or the path refuses the later one.
      if (error instanceof Invalid && error.fields['path']) return [TAKEN];
      if (
        violatesConstraint(error, 'uq_projects_namespace_id_name') ||
        violatesConstraint(error, 'uq_projects_namespace_id_path')
      )
        return [TAKEN];
      throw error;
    }
  }
}
