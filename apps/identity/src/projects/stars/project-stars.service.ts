import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { NotFound, NotModified } from '@rookery/kernel';
import { violatesConstraint, Work } from '@rookery/persistence';

/** Stars of users on projects. Triggers count them. Source: reference identity-and-import 10.2. */
@Injectable()
export class ProjectStarsService {
  constructor(private readonly work: Work) {}

  /** Errors: NotModified when the star exists; NotFound when the project was removed meanwhile. */
  async addStar(viewer: SignedInViewer, projectId: number): Promise<void> {
    try {
      await this.writeStar(
        `insert into project_stars (user_id, project_id) values ($1, $2) on conflict do nothing returning project_id`,
        viewer,
        projectId,
      );
    } catch (error) {
      throw violatesConstraint(error, 'fk_project_stars_project_id') ? new NotFound('Project') : error;
    }
  }

  /** Errors: NotModified when there is no star. */
  remove(viewer: SignedInViewer, projectId: number): Promise<void> {
    const sql = `delete from project_stars where user_id = $1 and project_id = $2 returning project_id`;
    return this.writeStar(sql, viewer, projectId);
  }

  private async writeStar(sql: string, viewer: SignedInViewer, projectId: number): Promise<void> {
    await this.work.run(async (tx) => {
      const changed = await tx.query(sql, [viewer.userId, projectId]);
      if (changed.length === 0) throw new NotModified();
    });
  }
}
