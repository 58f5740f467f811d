/** The state of all groups, projects and shares. States are immutable values; a change returns a new one. */
export type Visibility = 'private' | 'internal' | 'public';
export type SourceKey = `${'group' | 'project'} ${number}`;

export interface Group {
  readonly id: number;
  readonly parent: number | null;
  readonly path: string;
  readonly visibility: Visibility;
  /** Marked for deletion. */
  readonly isMarked?: true;
}
export interface Project {
  readonly id: number;
  readonly group: number;
  readonly path: string;
  readonly visibility: Visibility;
  readonly isMarked?: true;
}
export type Source =
  | { readonly kind: 'group'; readonly entity: Group }
  | { readonly kind: 'project'; readonly entity: Project };

/** A group invited to a group or project. `isExpired` is set if the share ended on the day on which it was given. */
export interface Share {
  readonly source: SourceKey;
  readonly group: number;
  readonly level: number;
  readonly isExpired: boolean;
}
/** All groups, projects and shares that were not deleted. `former` maps former full paths to project ids. */
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

export function keyOfSource({ kind, entity }: Source): SourceKey {
  return keyOf({ kind, id: entity.id });
}

export function sourceOf(key: SourceKey): { readonly kind: 'group' | 'project'; readonly id: number } {
  const [kind, id] = key.split(' ') as ['group' | 'project', string];
  return { kind, id: Number(id) };
}

/** Returns the group itself and the groups above it, up to its root. */
export function selfAndAncestors(forest: Forest, id: number | null): readonly Group[] {
  const group = id === null ? undefined : forest.groups.get(id);
  return group ? [group, ...selfAndAncestors(forest, group.parent)] : [];
}

/** Reports whether a group or project takes no writes because it or a group above is marked for deletion. */
export function isReadOnly(forest: Forest, { kind, entity }: Source): boolean {
  const group = kind === 'group' ? entity.id : entity.group;
  return entity.isMarked === true || selfAndAncestors(forest, group).some((above) => above.isMarked === true);
}

/** Returns the id of the group itself, or of the group of a project; null when there is no such source. */
export function groupIdOf(forest: Forest, key: SourceKey): number | null {
  const { kind, id } = sourceOf(key);
  if (kind === 'project') return forest.projects.get(id)?.group ?? null;
  return forest.groups.has(id) ? id : null;
}

/** Reports whether the source is the group or a descendant of it. */
export function isWithin(forest: Forest, key: SourceKey, group: number): boolean {
  return selfAndAncestors(forest, groupIdOf(forest, key)).some(({ id }) => id === group);
}

export function rootOf(forest: Forest, id: number): number | undefined {
  return selfAndAncestors(forest, id).at(-1)?.id;
}

export function fullPathOfGroup(forest: Forest, id: number): string {
  return selfAndAncestors(forest, id)
    .map((group) => group.path)
    .reverse()
    .join('/');
}

export function fullPathOf(forest: Forest, project: Project): string {
  return `${fullPathOfGroup(forest, project.group)}/${project.path}`;
}

export function findSource(forest: Forest, ref: Reference): Source | null {
  if (ref.kind === 'project') {
    const all = [...forest.projects.values()];
    const entity = 'id' in ref ? forest.projects.get(ref.id) : all.find((one) => fullPathOf(forest, one) === ref.path);
    return entity ? { kind: 'project', entity } : null;
  }
  const all = [...forest.groups.values()];
  const entity =
    'id' in ref ? forest.groups.get(ref.id) : all.find((one) => fullPathOfGroup(forest, one.id) === ref.path);
  return entity ? { kind: 'group', entity } : null;
}

/** Returns a copy of the map with one entry set. */
export function withEntry<K, V>(map: ReadonlyMap<K, V>, key: K, value: V): ReadonlyMap<K, V> {
  return new Map(map).set(key, value);
}
