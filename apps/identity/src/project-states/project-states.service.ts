import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import { ChangeLog } from '../directory/change-log';
import { ProjectPlaces } from '../project-changes/project-places';
import { RemovalService } from '../removal/removal.service';
import type { RemovalRequest } from '../removal/removal.service';

/** Archiving, deleting and restoring projects. Source: reference identity-and-import 10.2; ADR 0062, 0117. */
@Injectable()
export class ProjectStates {
  constructor(
    private readonly work: Work,
    private readonly log: ChangeLog,
    private readonly places: ProjectPlaces,
    private readonly removal: RemovalService,
  ) {}

  /** Archives a project, or ends that. Doing it again changes nothing. */
  async setArchived(projectId: number, archived: boolean): Promise<void> {
    await this.work.run(async (tx) => {
      const project = await this.places.locked(tx, projectId);
      if (project.archived === archived) return;
      await tx.query(`update projects set archived = $2, updated_at = now() where id = $1`, [projectId, archived]);
      this.log.record(tx, 'project', projectId);
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
      await this.removal.request(
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
    await this.work.run(async (tx) => this.removal.restore(tx, 'project', await this.places.locked(tx, projectId)));
  }
}
