/** Name and path of a group or project. */
export interface NameAndPath {
  readonly name: string;
  readonly path: string;
}

const scheduledDeletionSuffix = (id: number): string => `-deletion_scheduled-${id}`;

/**
 * Returns the names of a group or project that is marked for deletion, so that a new one can have the present names.
 * Source: reference identity-and-import 2.6.
 */
export function appendDeletionSuffix({ name, path }: NameAndPath, id: number): NameAndPath {
  return { name: `${name}${scheduledDeletionSuffix(id)}`, path: `${path}${scheduledDeletionSuffix(id)}` };
}

/** Returns the names before the mark. Names without its suffix stay as they are. */
export function stripDeletionSuffix({ name, path }: NameAndPath, id: number): NameAndPath {
  const suffix = scheduledDeletionSuffix(id);
  const before = (text: string): string => (text.endsWith(suffix) ? text.slice(0, -suffix.length) : text);
  return { name: before(name), path: before(path) };
}
