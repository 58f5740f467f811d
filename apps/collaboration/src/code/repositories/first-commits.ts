import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import {
  inQuarantine,
  listRefs,
  NO_OBJECT,
  readHead,
  updateRefs,
  writeBlobs,
  writeCommit,
  writeTree,
} from '@rookery/git';
import type { ObjectId, Repository } from '@rookery/git';
import { Database, statement } from '@rookery/persistence';
import { CommitIdentities } from './commit-identities';
import { RefIntents } from './ref-updates/ref-intents';
import { PushSettlement } from './ref-updates/settlement';

/** Facts about a project that begins with a README. */
export type StartedProject = Pick<ProjectScope, 'id' | 'name' | 'description' | 'creatorId'>;

const markReadmeWritten = statement<{ projectId: number }, never>(
  'repositories_readme_written',
  'update repositories set needs_readme = false where project_id = :projectId::bigint and needs_readme',
);

/**
 * Writes the first commits of projects that were created with `initialize_with_readme`. The commit is a push of the
 * creator, with the event of a push. Source: reference repositories 1.5.
 */
@Injectable()
export class FirstCommits {
  constructor(
    private readonly database: Database,
    private readonly identities: CommitIdentities,
    private readonly intents: RefIntents,
    private readonly settlement: PushSettlement,
  ) {}

  /** Writes the first commit, unless the repository has a branch already. Errors: GitError. */
  async writeFirstCommit(repository: Repository, project: StartedProject): Promise<void> {
    const branches = await listRefs(repository, { under: ['refs/heads'], max: 1 });
    if (branches.length === 0) await this.pushFirstCommit(repository, project);
    await this.database.run(markReadmeWritten, { projectId: project.id });
  }

  /** Writes a commit and creates the branch. One of several concurrent calls creates it; the others find that it exists. */
  private async pushFirstCommit(repository: Repository, project: StartedProject): Promise<void> {
    const newId = await this.writeReadmeCommit(repository, project);
    const updates = [{ ref: await readHead(repository), oldId: NO_OBJECT, newId }];
    const pushId = await this.intents.recordUpdates(
      { projectId: project.id, userId: project.creatorId, source: 'api' },
      updates,
    );
    let moved: ReadonlySet<string> | null = null;
    try {
      const outcomes = await updateRefs(repository, updates, { atomic: true });
      moved = new Set(outcomes.filter((one) => one.moved).map(({ ref }) => ref));
    } finally {
      await this.settlement.settlePush(repository, pushId, moved);
    }
  }

  private async writeReadmeCommit(
    repository: Repository,
    { name, description, creatorId }: StartedProject,
  ): Promise<ObjectId> {
    const author = await this.identities.findIdentity({ userId: creatorId ?? 0 });
    const content = Buffer.from(description ? `# ${name}\n\n${description}\n` : `# ${name}\n`);
    return inQuarantine(repository, async ({ repository: view, keep }) => {
      const [blob] = await writeBlobs(view, [content], content.length);
      const tree = await writeTree(view, [{ mode: '100644', type: 'blob', id: blob!, path: 'README.md' }]);
      const id = await writeCommit(view, {
        ...{ tree, parents: [], message: 'Initial commit', author, committer: author },
      });
      await keep();
      return id;
    });
  }
}
