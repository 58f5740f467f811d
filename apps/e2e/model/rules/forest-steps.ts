import type { Forest, Group, Project, Share, SourceKey, Source, Visibility } from './forest';
import { selfAndAncestors, fullPathOf, groupIdOf, isWithin, keyOf, withEntry } from './forest';

/** Functions that return the forest after a change. Source: reference identity-and-import 2.6, 10.2. */
export const VISIBILITIES: readonly Visibility[] = ['private', 'internal', 'public'];

export function withGroup(forest: Forest, group: Group): Forest {
  return { ...forest, groups: withEntry(forest.groups, group.id, group) };
}

export function withProject(forest: Forest, project: Project): Forest {
  return { ...forest, projects: withEntry(forest.projects, project.id, project) };
}

export function withSourceFields(
  forest: Forest,
  { kind, entity }: Source,
  over: { path?: string; visibility?: Visibility; isMarked?: true },
): Forest {
  if (kind === 'project') return withProject(forest, { ...entity, ...over });
  return withGroup(forest, { ...entity, ...over });
}

/** Adds the full paths of all projects in the source as former paths, before it moves or is renamed. */
export function withFormerPaths(forest: Forest, about: Source): Forest {
  const former = new Map(forest.former);
  for (const project of forest.projects.values())
    if (isPartOf(forest, project, about)) former.set(fullPathOf(forest, project), project.id);
  return { ...forest, former };
}

/** Marks the source for deletion, which gives its path free. */
export function marked(forest: Forest, about: Source): Forest {
  const path = `${about.entity.path}-deletion_scheduled-${about.entity.id}`;
  return withSourceFields(withFormerPaths(forest, about), about, { path, isMarked: true });
}

/** Moves the source into a group, or a group to the top; lowers visibilities to that of the new parent. */
export function moved(forest: Forest, about: Source, to: number | null): Forest {
  const { groups, projects, ...rest } = withFormerPaths(forest, about);
  const most = to === null ? 'public' : forest.groups.get(to)!.visibility;
  const inside = (id: number): boolean => about.kind === 'group' && below(forest, id, about);
  return {
    ...rest,
    groups: mapped(groups, (group) => {
      if (!inside(group.id)) return group;
      const visibility = lower(group.visibility, most);
      return { ...group, visibility, parent: group.id === about.entity.id ? to : group.parent };
    }),
    projects: mapped(projects, (project) => {
      if (!isPartOf(forest, project, about)) return project;
      const group = about.kind === 'project' ? to! : project.group;
      return { ...project, visibility: lower(project.visibility, most), group };
    }),
  };
}

/** Deletes the source with its descendants and all shares that any of these give or receive. */
export function without(forest: Forest, about: Source): Forest {
  const groups = new Map([...forest.groups].filter(([id]) => about.kind === 'project' || !below(forest, id, about)));
  const projects = new Map([...forest.projects].filter(([, project]) => !isPartOf(forest, project, about)));
  const left: Forest = { ...forest, groups, projects };
  const shares = forest.shares.filter(({ source, group }) => groupIdOf(left, source) !== null && groups.has(group));
  return { ...left, shares };
}

/** Adds a share; it replaces an expired one. */
export function withShare(forest: Forest, share: Share): Forest {
  return { ...forest, shares: [...withoutShare(forest, share.source, share.group).shares, share] };
}

export function withoutShare(forest: Forest, source: SourceKey, group: number): Forest {
  return { ...forest, shares: forest.shares.filter((one) => one.source !== source || one.group !== group) };
}

/** Returns the share that is in force. */
export function shareOf(forest: Forest, source: SourceKey, group: number): Share | undefined {
  return forest.shares.find((one) => one.source === source && one.group === group && !one.isExpired);
}

/** Reports whether a group can be invited: not twice, and not to itself or its descendants. */
export function isShareable(forest: Forest, source: SourceKey, group: number): boolean {
  const home = groupIdOf(forest, source);
  const isAtOrAbove = selfAndAncestors(forest, home).some(({ id }) => id === group);
  return home !== null && forest.groups.has(group) && !isAtOrAbove && !shareOf(forest, source, group);
}

/** Reports whether the source can move: not to its current parent, and a group not below itself. */
export function isMovable(forest: Forest, about: Source, to: number | null): boolean {
  if (about.kind === 'project') return to !== null && to !== about.entity.group;
  return (
    to !== about.entity.parent && !(to !== null && isWithin(forest, keyOf({ kind: 'group', id: to }), about.entity.id))
  );
}

function isPartOf(forest: Forest, project: Project, about: Source): boolean {
  return about.kind === 'project' ? project.id === about.entity.id : below(forest, project.group, about);
}

function below(forest: Forest, group: number, { entity }: Source): boolean {
  return selfAndAncestors(forest, group).some(({ id }) => id === entity.id);
}

function lower(one: Visibility, most: Visibility): Visibility {
  return VISIBILITIES[Math.min(VISIBILITIES.indexOf(one), VISIBILITIES.indexOf(most))]!;
}

function mapped<T>(map: ReadonlyMap<number, T>, change: (one: T) => T): ReadonlyMap<number, T> {
  return new Map([...map].map(([id, one]) => [id, change(one)] as const));
}
