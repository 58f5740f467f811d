import type { Viewer } from '@rookery/kernel';
import type { ShareSource } from './share-row';

/** Nobody gives, or takes, a level above his own. Source: reference identity-and-import 2.8; ADR 0105. */
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
