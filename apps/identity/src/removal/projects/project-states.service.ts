import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import { ProjectPlacesService } from '../../projects/changing/project-places.service';
import { ProjectsService } from '../../projects/projects.service';
import { DeletionMarksService } from '../deletion-marks.service';
import type { RemovalRequest } from '../deletion-marks.service';

/** Archiving, deleting and restoring projects. Source: reference identity-and-import 2.6, 10.2. */
@Injectable()
export class ProjectStatesService {
  constructor(
    private readonly work: Work,
    private readonly places: ProjectPlacesService,
    private readonly rows: ProjectsService,
    private readonly marks: DeletionMarksService,
  ) {}

  /** Archives a project, or ends that. Doing it again changes nothing. */
  async setArchived(projectId: number, archived: boolean): Promise<void> {
    await this.work.run(async (tx) => {
      const project = await this.places.locked(tx, projectId);
      if (project.archived === archived) return;
      await this.rows.setArchived(tx, projectId, archived);
    });
  }

  /** Shape: `unchanged` is asked with the time of the last change before anything happens. */
  async remove(
    viewer: SignedInViewer,
    projectId: number,
    asked: RemovalRequest,
    unchanged: (at: Date) => void,
  ): Promise<void> {
    await this.work.run(async (tx) => {
      const { project, fullPath } = await this.places.project(tx, viewer, projectId);
      unchanged(project.updated_at);
      const { id, marked_for_deletion_on } = project;
      await this.marks.request(
        tx,
        'project',
        { id, marked_for_deletion_on, full_path: fullPath },
        asked,
        viewer.userId,
      );
    });
  }

  /** Errors: Refused when the project is not marked for deletion. */
  async restore(projectId: number): Promise<void> {
    await this.work.run(async (tx) => this.marks.restore(tx, 'project', await this.places.locked(tx, projectId)));
  }
}
