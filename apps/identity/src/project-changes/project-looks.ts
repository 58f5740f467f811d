import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';
import { problemsByField } from '../paths/path-rules';
import { Avatars } from '../avatars/avatars.service';
import { ProjectTopics } from '../topics/project-topics';
import type { ProjectChange } from './project-input';

/** What is sent with a project and kept beside it: its topics and its picture. */
@Injectable()
export class ProjectLooks {
  constructor(
    private readonly topics: ProjectTopics,
    private readonly avatars: Avatars,
  ) {}

  problemsOf(sent: ProjectChange): Record<string, string[]> {
    return problemsByField({ avatar: this.avatars.problemsOf(sent.avatar) });
  }

  /** Writes what was sent. The caller holds the project and records it. Errors: Invalid for names that no topic may have. */
  async write(tx: Tx, projectId: number, sent: ProjectChange): Promise<void> {
    const avatarUrl = await this.avatars.change(tx, 'project', projectId, sent.avatar);
    if (avatarUrl !== undefined) {
      await tx.query(`update projects set avatar_url = $2 where id = $1`, [projectId, avatarUrl]);
    }
    if (sent.topics !== undefined) await this.topics.assign(tx, projectId, sent.topics);
  }
}
