import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { isRefName, NO_OBJECT, readRef, resolveCommit, writeTag } from '@rookery/git';
import type { RefUpdate, Repository } from '@rookery/git';
import { Forbidden, NotFound, Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { CommitIdentities } from '../../repositories/commit-identities';
import { ProjectRepositories } from '../../repositories/project-repositories';
import { RefChanges } from '../../repositories/ref-updates/ref-changes';
import { readPeeledCommits } from '../listing/ref-commits';
import { findTag, TAGS, Tags } from './tags';
import type { TagRow } from './tags';

/** The project whose tags are changed, and the caller. */
export interface TagWriter {
  readonly project: ProjectScope;
  readonly viewer: SignedInViewer;
}

/** A new tag. A tag without a message is lightweight. */
export interface NewTag {
  readonly tag_name: string;
  readonly ref: string;
  readonly message?: string;
}

/** Creates and deletes tags. Source: reference repositories 5.4. */
@Injectable()
export class TagChanges {
  constructor(
    private readonly repositories: ProjectRepositories,
    private readonly changes: RefChanges,
    private readonly identities: CommitIdentities,
    private readonly tags: Tags,
  ) {}

  /** Creates a tag. Errors: Refused. */
  async create(writer: TagWriter, tag: NewTag): Promise<TagRow> {
    if (!isRefName(`${TAGS}${tag.tag_name}`)) throw createVerbatimRefusal('Tag name invalid');
    if (tag.ref.trim() === '') throw createVerbatimRefusal('Target is empty');
    await this.repositories.useRepository(writer.project, async (repository) => {
      const write = (view: Repository) => this.planNewTag(view, writer, tag);
      const outcome = await this.changes.changeRefs(repository, { ...writer, write });
      if (outcome.moved) return;
      throw createVerbatimRefusal(outcome.why === 'changed' ? tagTakenMessage(tag) : outcome.refusal);
    });
    return this.tags.findTag(writer, tag.tag_name);
  }

  /**
   * Deletes a tag. `check` receives the author date of the tagged commit. Errors: NotFound; Forbidden by a rule;
   * Refused if the tag moved meanwhile; those of `check`.
   */
  remove(writer: TagWriter, name: string, check: (updatedAt: Date) => void): Promise<void> {
    return this.repositories.useRepository(writer.project, async (repository) => {
      const tag = await findTag(repository, name);
      if (tag === null) throw new NotFound('Tag');
      const [commit] = await readPeeledCommits(repository, [tag.id]);
      if (commit) check(new Date(commit.author.seconds * 1000));
      const write = () => Promise.resolve([{ ref: tag.name, oldId: tag.id, newId: NO_OBJECT }]);
      const outcome = await this.changes.changeRefs(repository, { ...writer, write });
      if (outcome.moved) return;
      throw outcome.why === null ? new Forbidden(outcome.refusal) : createVerbatimRefusal(outcome.refusal);
    });
  }

  private async planNewTag(view: Repository, { viewer }: TagWriter, tag: NewTag): Promise<RefUpdate[]> {
    const { tag_name: name, ref, message = '' } = tag;
    const full = `${TAGS}${name}`;
    if ((await readRef(view, full)) !== null) throw createVerbatimRefusal(tagTakenMessage(tag));
    const target = await resolveCommit(view, ref);
    if (target === null) throw createVerbatimRefusal(`Target ${ref} is invalid`);
    if (message.trim() === '') return [{ ref: full, oldId: NO_OBJECT, newId: target }];
    const tagger = await this.identities.findIdentity(viewer);
    const annotation = message.endsWith('\n') ? message : `${message}\n`;
    const newId = await writeTag(view, { target, type: 'commit', name, tagger, message: annotation });
    return [{ ref: full, oldId: NO_OBJECT, newId }];
  }
}

function tagTakenMessage({ tag_name: name }: Pick<NewTag, 'tag_name'>): string {
  return `Tag ${name} already exists`;
}

function createVerbatimRefusal(text: string): Refused {
  return new Refused(text, { verbatim: true });
}
