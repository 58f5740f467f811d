import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { ACCESS_LEVELS, Forbidden, Invalid } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { ChangeLog } from '../directory/change-log';
import { Project } from '../projects/project.entity';
import type { KnownProject, ProjectChange } from './project-input';
import { ProjectLooks } from './project-looks';
import { ProjectPlaces } from './project-places';
import type { Placed } from './project-places';
import { namingTaken, ProjectRows } from './project-rows';
import { columnsOf, problemsOfFields, problemsOfProject } from './project-rules';

type Shape = Pick<Project, 'name' | 'path' | 'visibility'>;

/** Changing projects. Source: reference identity-and-import 10.2. */
@Injectable()
export class ProjectChanges {
  constructor(
    private readonly work: Work,
    private readonly log: ChangeLog,
    private readonly places: ProjectPlaces,
    private readonly rows: ProjectRows,
    private readonly looks: ProjectLooks,
  ) {}

  /** Errors: Invalid by field; Forbidden for a change of visibility by less than an owner. */
  update(viewer: SignedInViewer, scope: KnownProject, params: ProjectChange): Promise<void> {
    return namingTaken(() => this.work.run((tx) => this.change(tx, viewer, scope, params)));
  }

  private async change(tx: Tx, viewer: SignedInViewer, scope: KnownProject, params: ProjectChange): Promise<void> {
    const placed = await this.places.project(tx, viewer, scope.id);
    const old = placed.project;
    const { name = old.name, path = old.path, visibility = old.visibility } = params;
    if (visibility !== old.visibility && !viewer.isAdmin && scope.level < ACCESS_LEVELS.owner) throw new Forbidden();
    await this.judge(tx, placed, { name, path, visibility }, params);

    const { settings, ...columns } = columnsOf(params);
    const changes = { ...columns, name, path, visibility, settings: { ...old.settings, ...settings } };
    await tx.manager.update(Project, scope.id, { ...changes, updated_at: new Date() });
    if (path !== old.path) await this.rows.resettle(tx, placed, placed.home, path);
    await this.looks.write(tx, scope.id, params);
    this.log.record(tx, 'project', scope.id);
  }

  /** What was fine when it was made stays, also where rules became stricter since. Errors: Invalid by field. */
  private async judge(tx: Tx, { project: old, home }: Placed, wanted: Shape, params: ProjectChange): Promise<void> {
    const problems = {
      ...problemsOfProject(wanted, home),
      ...problemsOfFields(params),
      ...this.looks.problemsOf(params),
    };
    if (wanted.name === old.name) delete problems['name'];
    if (wanted.path === old.path) delete problems['path'];
    if (wanted.visibility === old.visibility) delete problems['visibility_level'];
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
    const isOther = (field: 'name' | 'path'): boolean => wanted[field].toLowerCase() !== old[field].toLowerCase();
    const taken = await this.rows.taken(tx, old.namespace_id, {
      ...(isOther('name') ? { name: wanted.name } : {}),
      ...(isOther('path') ? { path: wanted.path } : {}),
    });
    if (Object.keys(taken).length > 0) throw new Invalid(taken);
  }
}
