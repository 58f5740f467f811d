import type { Forest, Group, Project, Share, SourceKey, Thing, Visibility } from './forest';
import { above, fullPathOf, homeOf, isWithin, keyOf, withEntry } from './forest';

/** What becomes of the forest when something is done to it. Source: reference identity-and-import 2.6, 10.2. */
export const VISIBILITIES: readonly Visibility[] = ['private', 'internal', 'public'];

export function withGroup(forest: Forest, group: Group): Forest {
  return { ...forest, groups: withEntry(forest.groups, group.id, group) };
}

export function withProject(forest: Forest, project: Project): Forest {
  return { ...forest, projects: withEntry(forest.projects, project.id, project) };
}

export function withThing(
  forest: Forest,
  { kind, thing }: Thing,
  over: { path?: string; visibility?: Visibility },
): Forest {
  if (kind === 'project') return withProject(forest, { ...thing, ...over });
  return withGroup(forest, { ...thing, ...over });
}

/** All projects that a new path or place of the thing takes away from where they are lead on from there. */
export function withFormerPaths(forest: Forest, about: Thing): Forest {
  const former = new Map(forest.former);
  for (const project of forest.projects.values())
    if (isPartOf(forest, project, about)) former.set(fullPathOf(forest, project), project.id);
  return { ...forest, former };
}

/** The thing below another group, or a group at the top; nothing in it is seen by more people than its new home. */
export function moved(forest: Forest, about: Thing, to: number | null): Forest {
  const { groups, projects, ...rest } = withFormerPaths(forest, about);
  const most = to === null ? 'public' : forest.groups.get(to)!.visibility;
  const inside = (id: number): boolean => about.kind === 'group' && below(forest, id, about);
  return {
    ...rest,
    groups: mapped(groups, (group) => {
      if (!inside(group.id)) return group;
      const visibility = lower(group.visibility, most);
      return { ...group, visibility, parent: group.id === about.thing.id ? to : group.parent };
    }),
    projects: mapped(projects, (project) => {
      if (!isPartOf(forest, project, about)) return project;
      const group = about.kind === 'project' ? to! : project.group;
      return { ...project, visibility: lower(project.visibility, most), group };
    }),
  };
}

/** Without the thing and all that is below it, and without the shares of and with any of that. */
export function without(forest: Forest, about: Thing): Forest {
  const groups = new Map([...forest.groups].filter(([id]) => about.kind === 'project' || !below(forest, id, about)));
  const projects = new Map([...forest.projects].filter(([, project]) => !isPartOf(forest, project, about)));
  const left: Forest = { ...forest, groups, projects };
  const shares = forest.shares.filter(({ source, group }) => homeOf(left, source) !== null && groups.has(group));
  return { ...left, shares };
}

/** Shape: a share that ran out gives way to the new one. */
export function withShare(forest: Forest, share: Share): Forest {
  return { ...forest, shares: [...withoutShare(forest, share.source, share.group).shares, share] };
}

export function withoutShare(forest: Forest, source: SourceKey, group: number): Forest {
  return { ...forest, shares: forest.shares.filter((one) => one.source !== source || one.group !== group) };
}

/** The share that counts. */
export function shareOf(forest: Forest, source: SourceKey, group: number): Share | undefined {
  return forest.shares.find((one) => one.source === source && one.group === group && !one.over);
}

/** May a group be invited there? Not twice, and not where its members have their level anyway. */
export function isShareable(forest: Forest, source: SourceKey, group: number): boolean {
  const home = homeOf(forest, source);
  const isAtOrAbove = above(forest, home).some(({ id }) => id === group);
  return home !== null && forest.groups.has(group) && !isAtOrAbove && !shareOf(forest, source, group);
}

/** May it go there? Not where it is, and a group not below itself. */
export function isMovable(forest: Forest, about: Thing, to: number | null): boolean {
  if (about.kind === 'project') return to !== null && to !== about.thing.group;
  return (
    to !== about.thing.parent && !(to !== null && isWithin(forest, keyOf({ kind: 'group', id: to }), about.thing.id))
  );
}

function isPartOf(forest: Forest, project: Project, about: Thing): boolean {
  return about.kind === 'project' ? project.id === about.thing.id : below(forest, project.group, about);
}

function below(forest: Forest, group: number, { thing }: Thing): boolean {
  return above(forest, group).some(({ id }) => id === thing.id);
}

function lower(one: Visibility, most: Visibility): Visibility {
  return VISIBILITIES[Math.min(VISIBILITIES.indexOf(one), VISIBILITIES.indexOf(most))]!;
}

function mapped<T>(map: ReadonlyMap<number, T>, change: (one: T) => T): ReadonlyMap<number, T> {
  return new Map([...map].map(([id, one]) => [id, change(one)] as const));
}
