import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import { ProjectLocksService } from '../../projects/changing/project-places.service';
import { ProjectsService } from '../../projects/projects.service';
import { appendDeletionSuffix, stripDeletionSuffix } from '../deletion-names';
import { DeletionMarksService } from '../deletion-marks.service';
import type { RemovalRequest } from '../deletion-marks.service';

/** Archives, deletes and restores projects. Source: reference identity-and-import 2.6, 10.2. */
@Injectable()
export class ProjectStatesService {
  constructor(
    private readonly work: Work,
    private readonly places: ProjectLocksService,
    private readonly rows: ProjectsService,
    private readonly marks: DeletionMarksService,
  ) {}

  /** Archives or unarchives a project. Repeated calls change nothing. */
  async setArchived(projectId: number, archived: boolean): Promise<void> {
    await this.work.run(async (tx) => {
      const project = await this.places.lockProject(tx, projectId);
      if (project.archived === archived) return;
      await this.rows.setArchived(tx, projectId, archived);
    });
  }

  /** `unchanged` gets the time of the last change first; it throws to stop the deletion. */
  async remove(
    viewer: SignedInViewer,
    projectId: number,
    asked: RemovalRequest,
    unchanged: (at: Date) => void,
  ): Promise<void> {
    await this.work.run(async (tx) => {
      const placed = await this.places.lockProjectAndNamespace(tx, viewer, projectId);
      const { project, fullPath } = placed;
      unchanged(project.updated_at);
      const { id, marked_for_deletion_on } = project;
      const row = { id, marked_for_deletion_on, full_path: fullPath };
      const isMarked = await this.marks.requestDeletion(tx, 'project', row, asked, viewer.userId);
      if (isMarked) await this.rows.renameIfFree(tx, placed, appendDeletionSuffix(project, id));
    });
  }

  /** Errors: Refused if the project is not marked for deletion. */
  async restore(viewer: SignedInViewer, projectId: number): Promise<void> {
    await this.work.run(async (tx) => {
      const placed = await this.places.lockProjectAndNamespace(tx, viewer, projectId);
      await this.marks.restoreRow(tx, 'project', placed.project);
      await this.rows.renameIfFree(tx, placed, stripDeletionSuffix(placed.project, projectId));
    });
  }
}
