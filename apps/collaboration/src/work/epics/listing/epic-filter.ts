import { filter } from '@rookery/persistence';
import type { Bind, Filters, OrderTerm } from '@rookery/persistence';
import { reactionFilterSql } from '../../../talk/award-emoji/reaction-filter';
import { containsWordsSql } from '../../issues/listing/issue-filter';
import { hasLabelSql, labelFilterSql } from '../../../planning/labels/labelling/label-filter';
import type { LabelFilter, LabelReach } from '../../../planning/labels/labelling/label-filter';
import { userIdByUsernameSql } from '../../../base/noteables/access-sql';

interface AuthorFilter {
  readonly authorId?: number | undefined;
  readonly authorUsername?: string | undefined;
}

/** Filter of a list of epics. Each part is optional; all given parts must match. */
export interface EpicFilter {
  readonly author?: AuthorFilter | undefined;
  readonly labels?: LabelFilter | undefined;
  readonly state?: 'opened' | 'closed' | 'all' | undefined;
  readonly confidential?: boolean | undefined;
  readonly search?: string | undefined;
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
  readonly updatedAfter?: Date | undefined;
  readonly updatedBefore?: Date | undefined;
  /** An emoji that the caller reacted with, `None` or `Any`. */
  readonly reaction?: string | undefined;
  readonly not?: (AuthorFilter & { readonly labels?: LabelFilter | undefined }) | undefined;
}

export interface EpicOrder {
  readonly orderBy: 'created_at' | 'updated_at' | 'title';
  readonly sort: 'asc' | 'desc';
  /** Labels as objects instead of names. */
  readonly withLabelDetails?: boolean;
}

/** Filters of lists of epics `i`. `viewer` is the placeholder of the caller's id. */
export function epicFilters(viewer: string, reach: LabelReach): Filters<EpicFilter> {
  return {
    author: (author, bind) => authorConditions(author, bind).join(' and '),
    labels: (labels, bind) => labelFilterSql(labels, reach, bind),
    state: (state) => state !== 'all' && `i.state = '${state}'`,
    confidential: filter.whether('i.confidential'),
    search: (text, bind) => containsWordsSql(text, bind, ['title', 'description']),
    createdAfter: filter.compares('i.created_at', '>='),
    createdBefore: filter.compares('i.created_at', '<='),
    updatedAfter: filter.compares('i.updated_at', '>='),
    updatedBefore: filter.compares('i.updated_at', '<='),
    reaction: (name, bind) => reactionFilterSql('Epic', viewer, name, bind),
    not: (not, bind) =>
      [...authorConditions(not, bind), ...(not.labels === undefined ? [] : [hasLabelSql(not.labels, reach, bind)])]
        .map((condition) => `(${condition}) is not true`)
        .join(' and '),
  };
}

function authorConditions({ authorId, authorUsername }: AuthorFilter, bind: Bind): string[] {
  return [
    ...(authorId === undefined ? [] : [`i.author_id = ${bind(authorId)}::bigint`]),
    ...(authorUsername === undefined ? [] : [`i.author_id = ${userIdByUsernameSql(bind(authorUsername))}`]),
  ];
}

/** Order of a list. Titles are compared without regard to case. */
export function epicSorting({ orderBy, sort }: EpicOrder): readonly OrderTerm[] {
  return [[orderBy === 'title' ? 'lower(i.title)' : `i.${orderBy}`, sort]];
}
