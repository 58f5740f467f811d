import type { ObjectId, RefName } from '@rookery/git';
import { offsetOf, pageOf, Unprocessable } from '@rookery/kernel';
import type { Page, PageRequest } from '@rookery/kernel';

/** Ref of a list. */
export interface ListedRef {
  readonly name: RefName;
  /** Without `refs/heads/` or `refs/tags/`. */
  readonly shortName: string;
  readonly id: ObjectId;
}

/** One page. `next` has the parameters of the next keyset page. It is null on the last page. */
export type RefPage<T> =
  | Page<T>
  | { readonly rows: readonly T[]; readonly next: { readonly page_token: string } | null };

/** Position of a page. `token` is the short name of the last ref of the page before. */
export interface RefPosition {
  readonly page: PageRequest;
  readonly isKeyset: boolean;
  readonly token: string | undefined;
  /** The list is in the order of names, so that a list whose token has been deleted continues after its place. */
  readonly nameOrder: 'asc' | 'desc' | null;
}

/**
 * Cuts one page out of a list, and loads its rows only. Errors: Unprocessable for a token that is not part of the list.
 * Source: reference repositories 5.1.
 */
export async function refPage<T>(
  refs: readonly ListedRef[],
  position: RefPosition,
  load: (refs: readonly ListedRef[]) => Promise<readonly T[]>,
): Promise<RefPage<T>> {
  const { page, isKeyset } = position;
  if (!isKeyset) {
    const start = offsetOf(page);
    const { rows, total, hasNext } = pageOf(page, refs.slice(start, start + page.perPage + 1), refs.length);
    return { rows: await load(rows), total, hasNext };
  }
  const start = findPageStartIndex(refs, position);
  const shown = refs.slice(start, start + page.perPage);
  const last = shown.at(-1);
  const hasNext = last !== undefined && start + page.perPage < refs.length;
  return { rows: await load(shown), next: hasNext ? { page_token: last.shortName } : null };
}

function findPageStartIndex(refs: readonly ListedRef[], { token, nameOrder }: RefPosition): number {
  if (token === undefined || token === '') return 0;
  const index = refs.findIndex(({ shortName }) => shortName === token);
  if (index >= 0) return index + 1;
  if (nameOrder === null) throw new Unprocessable(`Invalid page token: ${token}`);
  const bytes = Buffer.from(token);
  const isAfter = ({ shortName }: ListedRef): boolean => {
    const order = Buffer.compare(Buffer.from(shortName), bytes);
    return nameOrder === 'asc' ? order > 0 : order < 0;
  };
  const next = refs.findIndex(isAfter);
  return next < 0 ? refs.length : next;
}
