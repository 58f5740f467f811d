import type { Viewer } from '@rookery/kernel';
import type { RowOf } from '@rookery/persistence';
import type { Share } from '../member.entity';

/** A group invited to a group or project, as statements read it. */
export type ShareRow = RowOf<Share, Exclude<keyof Share, 'createdAt'>>;

/** What is given to the members of an invited group: at most this level, until this day. */
export interface ShareGrant {
  readonly group_access: number;
  readonly expires_at?: string | null;
}

/** The group or project that is shared, in the terms of the tables. */
export interface ShareSource {
  readonly type: 'namespace' | 'project';
  readonly id: number;
  /** The group itself, or the namespace of the project. */
  readonly namespaceId: number;
  /** Level of the caller. */
  readonly level: number;
}

/** Nobody gives, or takes, a level above their own. Source: reference identity-and-import 2.6, 2.8. */
export function mayShareAt(viewer: Viewer, source: Pick<ShareSource, 'level'>, level: number): boolean {
  return viewer.isAdmin || level <= source.level;
}

/** What decides over a share besides the caller: the namespace that it lies in, with all above it. */
export interface ShareHome {
  readonly traversalIds: readonly number[];
  /** Is sharing locked here or in a group above? */
  readonly isLocked: boolean;
  /** Does the top-level group keep its groups to themselves? */
  readonly isClosed: boolean;
}
export interface InvitedGroup {
  readonly id: number;
  readonly traversalIds: readonly number[];
}

/** Groups outside of the top-level group may not be invited when it says so. */
export function isOutside(home: Pick<ShareHome, 'traversalIds' | 'isClosed'>, invited: InvitedGroup): boolean {
  return home.isClosed && home.traversalIds[0] !== invited.traversalIds[0];
}

/** Members of this group and of those above have their level here already. */
export function isAtOrAbove(home: Pick<ShareHome, 'traversalIds'>, invited: Pick<InvitedGroup, 'id'>): boolean {
  return home.traversalIds.includes(invited.id);
}
