import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { listCommits, mergeBase, readCommits, resolveCommit, withObjectsOf } from '@rookery/git';
import type { Commit, ObjectId, Repository } from '@rookery/git';
import { NotFound, Refused } from '@rookery/kernel';
import { ProjectRepositories } from '../repositories/project-repositories';
import { DIFF_LIMITS } from './diffs/diff-limits';
import { readDiff } from './diffs/read-diffs';
import type { Diff, DiffForm } from './diffs/read-diffs';

/** Two refs, and how they are compared. */
export interface ComparisonRequest extends DiffForm {
  readonly from: string;
  readonly to: string;
  /** Compares `from` itself, not the merge base of both. */
  readonly isStraight: boolean;
  /** Project in which `from` is looked up. */
  readonly fromProject: ProjectScope;
}

/** Difference of two commits. `commits` are the commits of `to` that `from` lacks, the oldest first. */
export interface Comparison {
  readonly from: ObjectId;
  readonly to: ObjectId;
  readonly commits: readonly Commit[];
  readonly diff: Diff;
}

const MOST_COMMITS = 10_000;

/** Compares commits of a repository. Source: reference repositories 4.4. */
@Injectable()
export class Comparisons {
  constructor(private readonly repositories: ProjectRepositories) {}

  /** Compares two refs, of one project or of two in a fork network. Errors: NotFound; TooLarge. */
  compare(project: ProjectScope, asked: ComparisonRequest): Promise<Comparison> {
    return this.repositories.useRepository(project, async (repository) => {
      if (asked.fromProject.id === project.id) {
        const from = await resolveCommit(repository, asked.from);
        return compareFromCommit(repository, from, asked);
      }
      const other = await this.repositories.openRepository(asked.fromProject);
      const from = await resolveCommit(other, asked.from);
      return withObjectsOf(repository, other, (view) => compareFromCommit(view, from, asked));
    });
  }

  /** Returns the common ancestor of several refs. Errors: Refused for an unknown ref, NotFound without an ancestor. */
  mergeBase(project: ProjectScope, refs: readonly string[]): Promise<Commit> {
    if (refs.length < 2) throw createVerbatimRefusal('Provide at least 2 refs');
    return this.repositories.useRepository(project, async (repository) => {
      const base = await mergeBase(repository, await resolveCommits(repository, refs));
      const [commit] = base === null ? [] : await readCommits(repository, [base]);
      if (!commit) throw new NotFound('Merge Base');
      return commit;
    });
  }
}

async function compareFromCommit(
  view: Repository,
  from: ObjectId | null,
  { isUnified, ...asked }: ComparisonRequest,
): Promise<Comparison> {
  const to = await resolveCommit(view, asked.to);
  if (from === null || to === null) throw new NotFound('Ref');
  // Histories without a common commit are compared directly.
  const [newest, base] = await Promise.all([
    listCommits(view, { from: [to], notFrom: [from], skip: 0, max: MOST_COMMITS }),
    asked.isStraight ? null : mergeBase(view, [from, to]),
  ]);
  const options = { limits: DIFF_LIMITS, isCollapsing: false, isUnified };
  const diff = await readDiff(view, { oldId: base ?? from, newId: to }, options);
  return { from, to, commits: newest.reverse(), diff };
}

async function resolveCommits(repository: Repository, refs: readonly string[]): Promise<ObjectId[]> {
  const ids = await Promise.all(refs.map((ref) => resolveCommit(repository, ref)));
  const missing = refs.filter((_, index) => ids[index] === null);
  if (missing.length > 0)
    throw createVerbatimRefusal(`Could not find ref${missing.length > 1 ? 's' : ''}: ${missing.join(', ')}`);
  return ids.flatMap((id) => id ?? []);
}

function createVerbatimRefusal(text: string): Refused {
  return new Refused(text, { verbatim: true });
}
