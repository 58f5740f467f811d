import { isLongerThan } from '@rookery/kernel';
import { wordsIn } from '@rookery/persistence';
import type { Bind } from '@rookery/persistence';

/** Units: characters. Source: reference identity-and-import 2.2. */
const SHORTEST_PART = 3;
const COLUMNS = ['n.name', 'n.path'];

/** Part of the name or path of a namespace `n`, or of its full path; a shorter text is the whole name or path. */
export function searchedNamespaces(text: string, bind: Bind, inFullPath: boolean): string | false {
  if (text === '') return false;
  if (isLongerThan(text, SHORTEST_PART - 1))
    return wordsIn({ short: COLUMNS, long: inFullPath ? ['n.full_path'] : [] }, [text], bind);
  const place = bind(text);
  return `(${COLUMNS.map((column) => `lower(${column}) = lower(${place})`).join(' or ')})`;
}
