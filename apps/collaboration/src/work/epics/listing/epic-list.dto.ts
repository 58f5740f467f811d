import { InvalidParameters } from '@rookery/kernel';
import { splitList, scalarToText } from '../../../base/noteables/list-values';
import { parseId } from '../../../planning/people/people-filter';
import { toLabelFilter } from '../../../planning/labels/labelling/label-filter';
import type { ListEpics } from '../epics.dto';
import type { EpicFilter } from './epic-filter';

/** Limit of names in an exclusion, the same as of other lists of parameters. */
const MOST_LABELS = 1000;

/** Maps the parameters of a list to a filter. Errors: InvalidParameters. Source: reference work-tracking 5.3. */
export function toEpicFilter(params: ListEpics): EpicFilter {
  return {
    author: { authorId: params.author_id, authorUsername: params.author_username || undefined },
    labels: toLabelFilter(params.labels),
    state: params.state,
    confidential: params.confidential,
    search: params.search,
    createdAfter: params.created_after,
    createdBefore: params.created_before,
    updatedAfter: params.updated_after,
    updatedBefore: params.updated_before,
    reaction: params.my_reaction_emoji || undefined,
    not: params.not && parseExclusion(params.not),
  };
}

function parseExclusion(not: Readonly<Record<string, unknown>>): EpicFilter['not'] {
  const authorId = parseId('not[author_id]', scalarToText(not['author_id']));
  const authorUsername = scalarToText(not['author_username']) || undefined;
  if (authorId !== undefined && authorUsername !== undefined) {
    throw new InvalidParameters(['author_id, author_username are mutually exclusive']);
  }
  return { authorId, authorUsername, labels: toLabelFilter(splitList(not['labels']).slice(0, MOST_LABELS)) };
}
