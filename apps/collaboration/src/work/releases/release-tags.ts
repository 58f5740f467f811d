import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { NO_OBJECT, readRef, refName } from '@rookery/git';
import { Refused, Unprocessable } from '@rookery/kernel';
import { statement } from '@rookery/persistence';
import { RefProtections } from '../../code/protected-refs/ref-protections';
import { ProjectRepositories } from '../../code/repositories/project-repositories';
import { RefUpdateEffects } from '../../code/repositories/ref-updates/ref-update-effects';
import type {
  PreparedEffect,
  RefUpdateEffect,
  SettledUpdates,
} from '../../code/repositories/ref-updates/ref-update-effects';
import { readPeeledCommits } from '../../code/refs/listing/ref-commits';
import { TagChanges } from '../../code/refs/tags/tag-changes';
import type { TagWriter } from '../../code/refs/tags/tag-changes';
import { findTag, TAGS } from '../../code/refs/tags/tags';

/** Tag of a new release. `ref` is needed only if the tag does not exist. */
export interface ReleaseTag {
  readonly tag_name: string;
  readonly tag_message?: string | null;
  readonly ref?: string | null;
}

/** Deletes the releases of tags that a push deleted, except where a later push has created the tag again. */
const removeWithTags = statement<{ push: number; project: number; tags: readonly string[] }, never>(
  'releases_remove_with_tags',
  `delete from releases r where r.project_id = :project::bigint and r.tag = any(:tags::text[])
     and not exists (select 1 from pushes p join ref_updates u on u.push_id = p.id
       where p.project_id = r.project_id and p.id > :push::bigint and u.ref = 'refs/tags/' || r.tag
         and u.new_id <> '${NO_OBJECT}')`,
);

/** Tags of releases. Every deletion of a tag deletes its release. Source: reference repositories 7.3. */
@Injectable()
export class ReleaseTags implements RefUpdateEffect {
  constructor(
    private readonly repositories: ProjectRepositories,
    private readonly changes: TagChanges,
    private readonly protections: RefProtections,
    effects: RefUpdateEffects,
  ) {
    effects.declare(this);
  }

  /** Whether the rules of the project let the caller create this tag, which existing releases of it need, too. */
  async mayCreate(writer: TagWriter, tag: string): Promise<boolean> {
    return (await this.protections.readAccess(writer)).tagAccess(tag).mayCreate;
  }

  hasTag(project: ProjectScope, tag: string): Promise<boolean> {
    return this.repositories.useRepository(project, async (repository) => (await findTag(repository, tag)) !== null);
  }

  /**
   * Returns the commit of the tag, and creates the tag first if it does not exist. Returns null for a tag of a blob or
   * tree. Errors: Unprocessable without a `ref`; Refused by the rules of tags.
   */
  async ensureTag(writer: TagWriter, { tag_name: tag, tag_message: message, ref }: ReleaseTag): Promise<string | null> {
    const found = await this.findTagCommit(writer.project, tag);
    if (found) return found.sha;
    if (ref === undefined || ref === null) throw new Unprocessable('Ref is not specified');
    try {
      const created = await this.changes.create(writer, { tag_name: tag, ref, ...(message ? { message } : {}) });
      return created.commit?.id ?? null;
    } catch (error) {
      // Another request may have created the tag meanwhile.
      const other = error instanceof Refused ? await this.findTagCommit(writer.project, tag) : null;
      if (other) return other.sha;
      throw error;
    }
  }

  async prepare({ repository, pushId, projectId, updates }: SettledUpdates): Promise<PreparedEffect | null> {
    const deleted = updates.filter(({ ref, newId }) => ref.startsWith(TAGS) && newId === NO_OBJECT);
    const now = await Promise.all(deleted.map(({ ref }) => readRef(repository, refName(ref))));
    const tags = deleted.filter((_, index) => now[index] === null).map(({ ref }) => ref.slice(TAGS.length));
    if (tags.length === 0) return null;
    return { write: async (tx) => void (await tx.run(removeWithTags, { push: pushId, project: projectId, tags })) };
  }

  private findTagCommit(project: ProjectScope, tag: string): Promise<{ readonly sha: string | null } | null> {
    return this.repositories.useRepository(project, async (repository) => {
      const found = await findTag(repository, tag);
      if (found === null) return null;
      const [commit] = await readPeeledCommits(repository, [found.id]);
      return { sha: commit?.id ?? null };
    });
  }
}
