import { Injectable } from '@nestjs/common';
import { projectRenamed } from '@rookery/contracts';
import type { SignedInViewer, Visibility } from '@rookery/kernel';
import { ACCESS_LEVELS, Forbidden, Invalid, VISIBILITY_LEVELS } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { ChangeLog } from '../../directory/change-log';
import { findResponsibleUserEventData } from '../../users/responsible-user';
import { Project } from '../project.entity';
import type { ProjectRecord } from '../project.entity';
import type { ProjectWithLevel, ProjectChange } from './project-input';
import { ProjectLocksService } from './project-places.service';
import type { LocatedProject } from './project-places.service';
import { translateProjectUniqueViolations, ProjectsService } from '../projects.service';
import { splitProjectChange, problemsOfProject } from './project-rules';
import type { ProjectParts } from './project-rules';

type ProjectShape = Pick<Project, 'name' | 'path' | 'visibility'>;

/** Updates the fields of projects. Source: reference identity-and-import 10.2. */
@Injectable()
export class ProjectChangesService {
  constructor(
    private readonly work: Work,
    private readonly log: ChangeLog,
    private readonly places: ProjectLocksService,
    private readonly projects: ProjectsService,
  ) {}

  /** Errors: Invalid by field; Forbidden when a caller below owner changes the visibility. */
  update(viewer: SignedInViewer, scope: ProjectWithLevel, params: ProjectChange): Promise<void> {
    return translateProjectUniqueViolations(() => this.work.run((tx) => this.changeProject(tx, viewer, scope, params)));
  }

  private async changeProject(
    tx: Tx,
    viewer: SignedInViewer,
    scope: ProjectWithLevel,
    params: ProjectChange,
  ): Promise<void> {
    const placed = await this.places.lockProjectAndNamespace(tx, viewer, scope.id);
    const old = placed.project;
    const parts = splitProjectChange(viewer, params);
    const { name = old.name, path = old.path, visibility = old.visibility } = parts.shape;
    if (visibility !== old.visibility && !viewer.isAdmin && scope.level < ACCESS_LEVELS.owner) throw new Forbidden();
    await this.validateChange(tx, placed, { name, path, visibility }, parts);

    const { settings, ...columns } = parts.stored;
    const changes = { ...columns, name, path, visibility, settings: { ...old.settings, ...settings } };
    await tx.manager.update(Project, scope.id, { ...changes, updatedAt: new Date() });
    if (path !== old.path) await this.projects.changePath(tx, placed, placed.home, path);
    await this.projects.setPictureAndTopics(tx, scope.id, parts.related);
    this.log.recordChange(tx, 'project', scope.id);
    if (path === old.path) return;
    const responsible = await findResponsibleUserEventData(tx, viewer.userId);
    const data = { project_id: scope.id, namespace_id: placed.home.id, ...responsible };
    this.log.emit(tx, projectRenamed.of({ aggregateId: scope.id, actorId: viewer.userId, data }));
  }

  /**
   * Validates a change. Unchanged values are not validated, because rules may have become stricter since they were
   * stored. Errors: Invalid by field.
   */
  private async validateChange(
    tx: Tx,
    { project: old, home }: LocatedProject,
    wanted: ProjectShape,
    parts: ProjectParts,
  ): Promise<void> {
    const problems = {
      ...problemsOfProject(wanted, home),
      ...(await this.problemsOfForkVisibility(tx, old, wanted.visibility)),
      ...parts.problems,
      ...this.projects.problemsOfPicture(parts.related),
    };
    if (wanted.name === old.name) delete problems['name'];
    if (wanted.path === old.path) delete problems['path'];
    if (wanted.visibility === old.visibility) delete problems['visibility_level'];
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
    const isOther = (field: 'name' | 'path'): boolean => wanted[field].toLowerCase() !== old[field].toLowerCase();
    const taken = await this.projects.takenFieldProblems(tx, old.namespace_id, {
      ...(isOther('name') ? { name: wanted.name } : {}),
      ...(isOther('path') ? { path: wanted.path } : {}),
    });
    if (Object.keys(taken).length > 0) throw new Invalid(taken);
  }

  /** A fork holds the code of its source, so it is at most as visible. Source: reference identity-and-import 10.2. */
  private async problemsOfForkVisibility(
    tx: Tx,
    { forked_from_project_id: sourceId }: Pick<ProjectRecord, 'forked_from_project_id'>,
    visibility: Visibility,
  ): Promise<Record<string, string[]>> {
    if (sourceId === null) return {};
    const sources = await tx.query<{ visibility: Visibility }>('select visibility from projects where id = $1', [
      sourceId,
    ]);
    const isAbove = sources.some((source) => VISIBILITY_LEVELS[visibility] > VISIBILITY_LEVELS[source.visibility]);
    if (!isAbove) return {};
    return { visibility_level: [`${visibility} is not allowed since the fork source project has lower visibility.`] };
  }
}
