/** All groups and projects as they stand, and who was invited where. States are values; a change makes another one. */
export type Visibility = 'private' | 'internal' | 'public';
export type SourceKey = `${'group' | 'project'} ${number}`;

export interface Group {
  readonly id: number;
  readonly parent: number | null;
  readonly path: string;
  readonly visibility: Visibility;
}
export interface Project {
  readonly id: number;
  readonly group: number;
  readonly path: string;
  readonly visibility: Visibility;
}
export type Thing =
  | { readonly kind: 'group'; readonly thing: Group }
  | { readonly kind: 'project'; readonly thing: Project };

/** A group invited to a group or project. Shape: `over` when it ended on the day on which it was given. */
export interface Share {
  readonly source: SourceKey;
  readonly group: number;
  readonly level: number;
  readonly over: boolean;
}
/** Shape: what was deleted is not in it; `former` holds full paths that projects left. */
export interface Forest {
  readonly groups: ReadonlyMap<number, Group>;
  readonly projects: ReadonlyMap<number, Project>;
  readonly former: ReadonlyMap<string, number>;
  readonly shares: readonly Share[];
}
export const NO_FOREST: Forest = { groups: new Map(), projects: new Map(), former: new Map(), shares: [] };

export type Reference = { readonly kind: 'group' | 'project' } & ({ readonly id: number } | { readonly path: string });

export function keyOf({ kind, id }: { readonly kind: 'group' | 'project'; readonly id: number }): SourceKey {
  return `${kind} ${id}`;
}

export function keyOfThing({ kind, thing }: Thing): SourceKey {
  return keyOf({ kind, id: thing.id });
}

export function sourceOf(key: SourceKey): { readonly kind: 'group' | 'project'; readonly id: number } {
  const [kind, id] = key.split(' ') as ['group' | 'project', string];
  return { kind, id: Number(id) };
}

/** Shape: from the group itself to its root. */
export function above(forest: Forest, id: number | null): readonly Group[] {
  const group = id === null ? undefined : forest.groups.get(id);
  return group ? [group, ...above(forest, group.parent)] : [];
}

/** The group itself, or the group of a project; null when there is no such source. */
export function homeOf(forest: Forest, key: SourceKey): number | null {
  const { kind, id } = sourceOf(key);
  if (kind === 'project') return forest.projects.get(id)?.group ?? null;
  return forest.groups.has(id) ? id : null;
}

/** Is the source the group or anything below it? */
export function isWithin(forest: Forest, key: SourceKey, group: number): boolean {
  return above(forest, homeOf(forest, key)).some(({ id }) => id === group);
}

export function rootOf(forest: Forest, id: number): number | undefined {
  return above(forest, id).at(-1)?.id;
}

export function fullPathOfGroup(forest: Forest, id: number): string {
  return above(forest, id)
    .map((group) => group.path)
    .reverse()
    .join('/');
}

export function fullPathOf(forest: Forest, project: Project): string {
  return `${fullPathOfGroup(forest, project.group)}/${project.path}`;
}

export function find(forest: Forest, ref: Reference): Thing | null {
  if (ref.kind === 'project') {
    const all = [...forest.projects.values()];
    const thing = 'id' in ref ? forest.projects.get(ref.id) : all.find((one) => fullPathOf(forest, one) === ref.path);
    return thing ? { kind: 'project', thing } : null;
  }
  const all = [...forest.groups.values()];
  const thing =
    'id' in ref ? forest.groups.get(ref.id) : all.find((one) => fullPathOfGroup(forest, one.id) === ref.path);
  return thing ? { kind: 'group', thing } : null;
}

/** Shape: the same map with one entry set. */
export function withEntry<K, V>(map: ReadonlyMap<K, V>, key: K, value: V): ReadonlyMap<K, V> {
  return new Map(map).set(key, value);
}
