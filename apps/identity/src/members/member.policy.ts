import type { Viewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { MemberSource } from './listing/member-source';

/**
 * Permission to manage members. In groups owners, in projects maintainers. Source: reference identity-and-import 2.8,
 * 12.
 */
export function mayManageMembers(viewer: Viewer, source: Pick<MemberSource, 'kind' | 'level'>): boolean {
  const needed = source.kind === 'group' ? ACCESS_LEVELS.owner : ACCESS_LEVELS.maintainer;
  return viewer.isAdmin || source.level >= needed;
}

/** Whether the viewer may grant, change or revoke this level. It must not be above the viewer's own. */
export function mayGrantMemberLevel(viewer: Viewer, source: Pick<MemberSource, 'level'>, level: number): boolean {
  return viewer.isAdmin || level <= source.level;
}

const LEVEL_NAMES: Readonly<Record<number, string>> = {
  5: 'Minimal Access',
  10: 'Guest',
  15: 'Planner',
  20: 'Reporter',
  30: 'Developer',
  40: 'Maintainer',
  50: 'Owner',
};

/**
 * Returns why a direct level must not be below the inherited one; null if it is not below. Source: reference
 * identity-and-import 2.8.
 */
export function inheritedLevelProblem(
  level: number,
  inherited: { readonly access_level: number; readonly name: string },
): string | null {
  if (level >= inherited.access_level) return null;
  const role = LEVEL_NAMES[inherited.access_level] ?? String(inherited.access_level);
  return `should be greater than or equal to ${role} inherited membership from group ${inherited.name}`;
}
