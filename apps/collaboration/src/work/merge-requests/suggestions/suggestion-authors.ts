import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import type { Identity } from '@rookery/git';
import type { SignedInViewer } from '@rookery/kernel';
import { CommitIdentities } from '../../../code/repositories/commit-identities';
import { ProjectRepositories } from '../../../code/repositories/project-repositories';

/** People of a commit that applies suggestions. */
export interface SuggestionPeople {
  readonly author: Identity;
  readonly committer: Identity;
  readonly user: { readonly name: string; readonly username: string };
  readonly coAuthors: readonly Identity[];
}

/** Authors of commits that apply suggestions, and the repositories for them. Source: reference repositories 8.13. */
@Injectable()
export class SuggestionAuthors {
  constructor(
    readonly repositories: ProjectRepositories,
    private readonly directory: Directory,
    private readonly identities: CommitIdentities,
  ) {}

  /** Finds author and committer. The author is the author of all suggestions, or the applying user if there are several. */
  async findPeople(
    viewer: SignedInViewer,
    suggestions: readonly { readonly author_id: number }[],
  ): Promise<SuggestionPeople> {
    const authorIds = [...new Set(suggestions.map((one) => one.author_id))];
    const committer = await this.identities.findIdentity(viewer);
    const isOne = authorIds.length === 1 && authorIds[0] !== viewer.userId;
    const author = isOne ? await this.identities.findIdentity({ userId: authorIds[0]! }) : committer;
    const others = authorIds.filter((id) => id !== viewer.userId);
    const coAuthors: Identity[] = [];
    for (const userId of others) coAuthors.push(await this.identities.findIdentity({ userId }));
    const user = (await this.directory.findUsers([viewer.userId])).get(viewer.userId);
    return { author, committer, user: user ?? { name: '', username: '' }, coAuthors };
  }
}
