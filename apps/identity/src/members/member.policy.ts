import type { Viewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { MemberSource } from '../member-lists/member-source';

/** Groups: owners. Projects: maintainers. Source: reference identity-and-import 2.8, 12. */
export function mayManageMembers(viewer: Viewer, source: Pick<MemberSource, 'kind' | 'level'>): boolean {
  const needed = source.kind === 'group' ? ACCESS_LEVELS.owner : ACCESS_LEVELS.maintainer;
  return viewer.isAdmin || source.level >= needed;
}

/** Nobody gives, changes or takes a level above his own. */
export function mayDealWithLevel(viewer: Viewer, source: Pick<MemberSource, 'level'>, level: number): boolean {
  return viewer.isAdmin || level <= source.level;
}
