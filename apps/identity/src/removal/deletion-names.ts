/** Name and path of a group or project. */
export interface Names {
  readonly name: string;
  readonly path: string;
}

const suffixOf = (id: number): string => `-deletion_scheduled-${id}`;

/**
 * Returns the names of a group or project that is marked for deletion, so that a new one can have the present names.
 * Source: reference identity-and-import 2.6.
 */
export function markedNames({ name, path }: Names, id: number): Names {
  return { name: `${name}${suffixOf(id)}`, path: `${path}${suffixOf(id)}` };
}

/** Returns the names before the mark. Names without its suffix stay as they are. */
export function namesBefore({ name, path }: Names, id: number): Names {
  const suffix = suffixOf(id);
  const before = (text: string): string => (text.endsWith(suffix) ? text.slice(0, -suffix.length) : text);
  return { name: before(name), path: before(path) };
}
