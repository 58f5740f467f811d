import { isLongerThan } from '@rookery/kernel';
import { searchCondition } from '@rookery/persistence';
import type { Bind } from '@rookery/persistence';

/**
 * Shorter search texts must match the whole name or path. Units: characters. Source: reference identity-and-import 2.2.
 */
const SHORTEST_PART = 3;
const COLUMNS = ['n.name', 'n.path'];

/**
 * SQL condition: the namespace `n` contains the text in its name or path, or in its full path. A short text must be the
 * whole name or path.
 */
export function namespaceSearchSql(text: string, bind: Bind, inFullPath: boolean): string | false {
  if (text === '') return false;
  if (isLongerThan(text, SHORTEST_PART - 1))
    return searchCondition({ short: COLUMNS, long: inFullPath ? ['n.full_path'] : [] }, [text], bind);
  const place = bind(text);
  return `(${COLUMNS.map((column) => `lower(${column}) = lower(${place})`).join(' or ')})`;
}
