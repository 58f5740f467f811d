import { Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Conflict, NotFound } from '@rookery/kernel';
import type { Page, PageRequest } from '@rookery/kernel';
import { defineCollection, filter, Work } from '@rookery/persistence';
import type { AllFilters, Collection } from '@rookery/persistence';
import { Release } from './release.entity';

/** Filters of a list. */
export interface ReleaseFilters {
  readonly updated_before?: Date;
  readonly updated_after?: Date;
}

/** Selection and order of a list. */
export interface ReleaseQuery extends ReleaseFilters {
  readonly order_by: 'released_at' | 'created_at';
  readonly sort: 'asc' | 'desc';
}

const FILTERS: AllFilters<ReleaseFilters> = {
  updated_before: filter.compares('row.updated_at', '<='),
  updated_after: filter.compares('row.updated_at', '>='),
};

/** Rows of releases. */
export const releases = defineCollection(Release, {
  resource: '',
  within: 'projectId',
  bytes: 'coalesce(octet_length(row.description), 0)',
  filters: FILTERS,
  taken: { uq_releases_tag: () => new Conflict('Release already exists') },
});

/** Reads rows of releases. Source: reference repositories 7.1. */
@Injectable()
export class ReleasesQueries {
  private readonly releases: Collection<Release, ReleaseFilters>;

  constructor(work: Work) {
    this.releases = releases.on(work);
  }

  list({ id }: ProjectScope, query: ReleaseQuery, page: PageRequest): Promise<Page<Release>> {
    const { order_by: by, sort, ...filters } = query;
    const direction = sort === 'asc' ? 'ASC' : 'DESC';
    const at = by === 'created_at' ? 'createdAt' : 'releasedAt';
    return this.releases.list({ page, within: id, filters, order: { [at]: direction, id: direction } });
  }

  /** Returns one release. Errors: NotFound. */
  findRelease({ id }: ProjectScope, tag: string): Promise<Release> {
    return this.releases.find({ tag }, id);
  }

  /** Returns the release with the latest time, which may be in the future. Errors: NotFound. */
  async findLatest({ id }: ProjectScope): Promise<Release> {
    const page = { page: 1, perPage: 1 };
    const { rows } = await this.releases.list({ page, within: id, order: { releasedAt: 'DESC', id: 'DESC' } });
    if (!rows[0]) throw new NotFound('');
    return rows[0];
  }
}
