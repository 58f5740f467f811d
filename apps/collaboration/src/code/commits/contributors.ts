import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { listContributors, resolveCommit } from '@rookery/git';
import type { Contributor, ObjectId, Repository } from '@rookery/git';
import { NotFound, offsetOf } from '@rookery/kernel';
import type { Page, PageRequest } from '@rookery/kernel';
import { LRUCache } from 'lru-cache';
import { ProjectRepositories } from '../repositories/project-repositories';

/** Order of a list of contributors. Source: reference repositories 4.4. */
export interface ContributorOrder {
  readonly order_by: 'commits' | 'email' | 'name';
  readonly sort: 'asc' | 'desc';
}

/** Contributors of all cached lists together. */
const MOST_CACHED = 100_000;
const DEFAULT_REF = 'HEAD';

/**
 * Lists contributors of repositories. A list costs a walk through the whole history. Lists are cached by commit id, because
 * the history of a commit never changes. Bounds: 100,000 contributors in all cached lists; the least recently used list is
 * removed first.
 */
@Injectable()
export class Contributors {
  private readonly known = new LRUCache<ObjectId, readonly Contributor[]>({
    maxSize: MOST_CACHED,
    sizeCalculation: ({ length }) => Math.max(1, length),
  });

  constructor(private readonly repositories: ProjectRepositories) {}

  /** Returns a page of the contributors to a ref, by default to the default branch. Errors: NotFound. */
  list(
    project: ProjectScope,
    ref: string | undefined,
    order: ContributorOrder & { readonly page: PageRequest },
  ): Promise<Page<Contributor>> {
    return this.repositories.useRepository(project, async (repository) => {
      const id = await resolveCommit(repository, ref ? ref : DEFAULT_REF);
      if (id === null && ref) throw new NotFound('');
      const found = id === null ? [] : await this.listCachedContributors(repository, id);
      const [from, to] = [offsetOf(order.page), offsetOf(order.page) + order.page.perPage];
      const rows = found.toSorted(createContributorComparator(order)).slice(from, to);
      return { rows, total: found.length, hasNext: found.length > to };
    });
  }

  private async listCachedContributors(repository: Repository, id: ObjectId): Promise<readonly Contributor[]> {
    const found = this.known.get(id) ?? (await listContributors(repository, id));
    this.known.set(id, found);
    return found;
  }
}

/** Contributors with equal values follow each other by e-mail. */
function createContributorComparator({
  order_by: field,
  sort,
}: ContributorOrder): (a: Contributor, b: Contributor) => number {
  const sign = sort === 'asc' ? 1 : -1;
  const compare = <T extends string | number>(a: T, b: T): number => (a < b ? -sign : a > b ? sign : 0);
  return (a, b) => compare(a[field], b[field]) || compare(a.email, b.email);
}
