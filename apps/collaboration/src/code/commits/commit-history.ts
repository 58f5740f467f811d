import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import {
  countCommits,
  isTreePath,
  listCommits,
  listRefs,
  readCommits,
  readCommitLineCounts,
  resolveCommit,
} from '@rookery/git';
import type { Commit, CommitQuery, LineCounts, ObjectId, Repository } from '@rookery/git';
import { NotFound, offsetOf } from '@rookery/kernel';
import type { Page, PageRequest } from '@rookery/kernel';
import { ProjectRepositories } from '../repositories/project-repositories';

/** Filters of a list of commits. Source: reference repositories 4.1. */
export interface HistoryFilters {
  readonly ref_name?: string;
  readonly since?: Date;
  readonly until?: Date;
  readonly path?: string;
  readonly author?: string;
  readonly all: boolean;
  readonly with_stats: boolean;
  readonly first_parent: boolean;
  readonly order: 'default' | 'topo';
}

/** Commit with its numbers of lines, null if they were not asked for. */
export interface CountedCommit {
  readonly commit: Commit;
  readonly stats: LineCounts | null;
}

/** Branch or tag. */
export interface TypedRef {
  readonly type: 'branch' | 'tag';
  readonly name: string;
}

const BRANCHES = 'refs/heads';
const TAGS = 'refs/tags';
const DEFAULT_REF = 'HEAD';
/** Largest number that git takes as a number of commits. */
const MOST_COMMITS = 2 ** 31 - 1;
const NO_COMMITS: Page<never> = { rows: [], total: null, hasNext: false };

/** Reads the history of repositories. Source: reference repositories 4. */
@Injectable()
export class CommitHistory {
  constructor(private readonly repositories: ProjectRepositories) {}

  /** Returns a page of commits, the newest first. An unknown ref or path has none. */
  listCommits(project: ProjectScope, filters: HistoryFilters, page: PageRequest): Promise<Page<CountedCommit>> {
    return this.repositories.useRepository(project, async (repository) => {
      const query = await toCommitQuery(repository, filters);
      const skip = offsetOf(page);
      if (query === null || skip > MOST_COMMITS) return NO_COMMITS;
      // One more than the page, to know whether another page follows.
      const found = await listCommits(repository, { ...query, skip, max: page.perPage + 1 });
      const commits = found.slice(0, page.perPage);
      const stats = filters.with_stats
        ? await readCommitLineCounts(
            repository,
            commits.map(({ id }) => id),
          )
        : null;
      const rows = commits.map((commit) => ({ commit, stats: stats?.get(commit.id) ?? null }));
      return { rows, total: null, hasNext: found.length > page.perPage };
    });
  }

  /** Returns a commit by id or by the name of a branch or tag. Errors: NotFound. */
  findCommit(project: ProjectScope, ref: string, hasStats: boolean): Promise<CountedCommit> {
    return this.withCommit(project, ref, async (repository, commit) => {
      const stats = hasStats ? ((await readCommitLineCounts(repository, [commit.id])).get(commit.id) ?? null) : null;
      return { commit, stats };
    });
  }

  /** Runs a step with a commit. Errors: NotFound; those of the step. */
  withCommit<T>(
    project: ProjectScope,
    ref: string,
    step: (repository: Repository, commit: Commit) => Promise<T>,
  ): Promise<T> {
    return this.repositories.useRepository(project, async (repository) =>
      step(repository, await findCommit(repository, ref)),
    );
  }

  /** Lists the branches, then the tags, that contain a commit, each sorted by name. Errors: NotFound. */
  listRefsContaining(project: ProjectScope, ref: string, type: TypedRef['type'] | 'all'): Promise<TypedRef[]> {
    return this.withCommit(project, ref, async (repository, { id }) => [
      ...(type === 'tag' ? [] : await listRefsContaining(repository, 'branch', id)),
      ...(type === 'branch' ? [] : await listRefsContaining(repository, 'tag', id)),
    ]);
  }

  /** Counts the commits from the first one to this one. Errors: NotFound. */
  countHistory(project: ProjectScope, ref: string, firstParent: boolean): Promise<number> {
    return this.withCommit(project, ref, (repository, { id }) =>
      countCommits(repository, { from: [id], followsFirstParent: firstParent, max: MOST_COMMITS }),
    );
  }
}

/** Returns the commit that a user names. Errors: NotFound. */
export async function findCommit(repository: Repository, ref: string): Promise<Commit> {
  const id = await resolveCommit(repository, ref);
  const [commit] = id === null ? [] : await readCommits(repository, [id]);
  if (!commit) throw new NotFound('Commit');
  return commit;
}

async function listRefsContaining(
  repository: Repository,
  type: TypedRef['type'],
  contains: ObjectId,
): Promise<TypedRef[]> {
  const under = type === 'branch' ? BRANCHES : TAGS;
  const refs = await listRefs(repository, { under: [under], contains, order: 'name' });
  return refs.map(({ name }) => ({ type, name: name.slice(under.length + 1) }));
}

/** Returns null if no commit can match. */
async function toCommitQuery(
  repository: Repository,
  filters: HistoryFilters,
): Promise<Omit<CommitQuery, 'skip' | 'max'> | null> {
  const path = filters.path?.replace(/^\/|\/$/g, '') ?? '';
  if (path !== '' && !isTreePath(path)) return null;
  const range = filters.all
    ? ({ from: 'all refs' } as const)
    : await resolveRefOrRange(repository, filters.ref_name ?? '');
  const until = filters.until && Math.floor(filters.until.getTime() / 1000);
  if (range === null || (until !== undefined && until < 0)) return null;
  const since = filters.since && Math.max(0, Math.ceil(filters.since.getTime() / 1000));
  return {
    ...range,
    order: filters.order === 'topo' ? 'topological' : 'date',
    followsFirstParent: filters.first_parent,
    ...(path === '' ? {} : { path }),
    ...(filters.author ? { author: filters.author } : {}),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

/** Reads `a..b`, where an omitted side is the default branch, or one ref. */
async function resolveRefOrRange(
  repository: Repository,
  text: string,
): Promise<Pick<CommitQuery, 'from' | 'notFrom'> | null> {
  const dots = text.indexOf('..');
  const idOf = (ref: string): Promise<ObjectId | null> => resolveCommit(repository, ref === '' ? DEFAULT_REF : ref);
  const from = await idOf(dots < 0 ? text : text.slice(dots + 2));
  const notFrom = dots < 0 ? undefined : await idOf(text.slice(0, dots));
  if (from === null || notFrom === null) return null;
  return { from: [from], ...(notFrom === undefined ? {} : { notFrom: [notFrom] }) };
}
