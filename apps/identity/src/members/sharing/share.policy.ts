import type { Viewer } from '@rookery/kernel';
import type { RowOf } from '@rookery/persistence';
import type { Share } from '../member.entity';

/** A group invited to a group or project, as statements read it. */
export type ShareRow = RowOf<Share, Exclude<keyof Share, 'createdAt'>>;

/** Access of the members of an invited group: the maximum level, and the end. */
export interface ShareGrant {
  readonly group_access: number;
  readonly expires_at?: string | null;
}

/** The group or project that is shared, with the names of the tables. */
export interface ShareSource {
  readonly type: 'namespace' | 'project';
  readonly id: number;
  /** The group itself, or the namespace of the project. */
  readonly namespaceId: number;
  /** Access level of the caller. */
  readonly level: number;
}

/**
 * Whether the viewer may share at this level, or end such a share. It must not be above the viewer's own. Source:
 * reference identity-and-import 2.6, 2.8.
 */
export function mayGrantShareLevel(viewer: Viewer, source: Pick<ShareSource, 'level'>, level: number): boolean {
  return viewer.isAdmin || level <= source.level;
}

/** Facts about the location of a share that decide whether it is allowed. */
export interface ShareHome {
  readonly traversalIds: readonly number[];
  /** Whether sharing is locked here or in a group above. */
  readonly isLocked: boolean;
  /** Whether the top-level group forbids sharing outside of its hierarchy. */
  readonly isClosed: boolean;
}
export interface InvitedGroup {
  readonly id: number;
  readonly traversalIds: readonly number[];
}

/** Whether the invited group is outside of a top-level group that forbids this. */
export function isOutsideClosedHierarchy(
  home: Pick<ShareHome, 'traversalIds' | 'isClosed'>,
  invited: InvitedGroup,
): boolean {
  return home.isClosed && home.traversalIds[0] !== invited.traversalIds[0];
}

/** Whether the invited group is the group itself or one above it. Its members already have their level here. */
export function isInvitedGroupAtOrAbove(
  home: Pick<ShareHome, 'traversalIds'>,
  invited: Pick<InvitedGroup, 'id'>,
): boolean {
  return home.traversalIds.includes(invited.id);
}
