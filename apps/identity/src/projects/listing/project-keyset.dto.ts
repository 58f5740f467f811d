import type { KeysetOption, KeysetPage, KeysetRequest } from '@rookery/api-v4';
import { keysetPage } from '@rookery/api-v4';
import type { ProjectRow } from '../project-row';

/** Keyset pagination of projects exists only by id. Source: reference identity-and-import 1.3. */
export const KEYSET: KeysetOption = { orderBy: ['id'], offsetCapFor: 'Project' };

/**
 * Returns a page of projects with the parameters of the next page. `rows` has up to one row more than the page. The link
 * names the order, which a request may omit: the default order of offset pages has no keyset.
 */
export function toProjectKeysetPage(
  { perPage }: KeysetRequest,
  sort: 'asc' | 'desc',
  rows: readonly ProjectRow[],
): KeysetPage<ProjectRow> {
  return keysetPage(perPage, rows, ({ id }) => ({
    order_by: 'id',
    ...(sort === 'asc' ? { id_after: id } : { id_before: id }),
  }));
}
