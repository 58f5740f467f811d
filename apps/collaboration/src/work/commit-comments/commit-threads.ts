import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { EMPTY_TREE, readCommits } from '@rookery/git';
import type { ObjectId, Repository } from '@rookery/git';
import { NotFound, Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import type { NoteableWithParent } from '../../base/noteables/planning.policy';
import { requireNoteableReader } from '../../base/noteables/reader';
import { ProjectRepositories } from '../../code/repositories/project-repositories';
import { CodeReviews } from '../../talk/notes/positions/code-reviews';
import type { CodeReview, NewThread, RequestedPosition } from '../../talk/notes/positions/code-reviews';
import type { NewPosition } from '../../talk/notes/positions/position-rows';
import { requireFoundPosition, findDiffPosition } from '../merge-requests/reviews/place-in-diff';
import { commitKind } from './commit.kind';

/** Line of a changed file. `type` is the side of the diff, old for a removed line. */
export interface CommentedLine {
  readonly path: string;
  readonly line: number;
  readonly type: 'new' | 'old';
}

const shaOfDiscussedCommit = statement<{ id: number }, { readonly sha: ObjectId }>(
  'discussed_commits_sha',
  'select i.sha from discussed_commits i where i.id = :id::bigint',
);

/**
 * Places of comments in the diffs of commits. A diff is that to the first parent, or to the empty tree. It never changes,
 * so that threads stay where they are. Source: reference repositories 4.6, 8.11.
 */
@Injectable()
export class CommitDiffThreads implements CodeReview {
  constructor(
    reviews: CodeReviews,
    private readonly database: Database,
    private readonly repositories: ProjectRepositories,
  ) {
    reviews.declare(commitKind.type, this);
  }

  async open(
    viewer: SignedInViewer,
    on: NoteableWithParent,
    { position }: { readonly position: RequestedPosition },
  ): Promise<NewThread> {
    requireNoteableReader(viewer, on);
    return this.useCommitDiff(on, async (repository, { base, head }) => {
      const { baseSha, startSha, headSha } = position;
      if (baseSha !== base || startSha !== base || headSha !== head) throw createDiffRefsMismatchRefusal();
      return { position: requireFoundPosition(await findDiffPosition(repository, position, null)), suggestions: [] };
    });
  }

  /** Commits have no suggestions: no branch would take them. */
  suggest(): Promise<null> {
    return Promise.resolve(null);
  }

  async finish(): Promise<void> {}

  /** Finds an added or removed line in the diff of a commit. Returns null if the diff has no such line. */
  placeOf(on: NoteableWithParent, { path, line, type }: CommentedLine): Promise<NewPosition | null> {
    return this.useCommitDiff(on, async (repository, { base, head }) => {
      const shas = { baseSha: base, startSha: base, headSha: head };
      const lines = type === 'new' ? { oldLine: null, newLine: line } : { oldLine: line, newLine: null };
      const image = { width: null, height: null, x: null, y: null };
      const requested = {
        ...shas,
        ...lines,
        ...image,
        type: 'text',
        oldPath: null,
        newPath: path,
        lineRange: null,
      } as const;
      const place = await findDiffPosition(repository, requested, null);
      if (place === null) return null;
      const shown = { ...place.shown, old_path: place.oldPath, new_path: place.newPath };
      return { ...place, shown, original: shown };
    });
  }

  /** Runs a step with the diff of a commit. Errors: NotFound if the repository has lost it. */
  private async useCommitDiff<T>(
    { named, parent }: NoteableWithParent,
    step: (repository: Repository, diff: { readonly base: ObjectId; readonly head: ObjectId }) => Promise<T>,
  ): Promise<T> {
    const [row] = await this.database.run(shaOfDiscussedCommit, { id: named });
    return this.repositories.useRepository(parent as ProjectScope, async (repository) => {
      const [commit] = row ? await readCommits(repository, [row.sha]) : [];
      if (!commit) throw new NotFound(commitKind.resource);
      return step(repository, { base: commit.parents[0] ?? EMPTY_TREE, head: commit.id });
    });
  }
}

function createDiffRefsMismatchRefusal(): Refused {
  return new Refused('Note {:commit_id=>["does not match the diff refs"]}');
}
