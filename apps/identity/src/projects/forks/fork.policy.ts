import type { Viewer, Visibility } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';

/** Facts about a project that decide whether it may be forked. */
export interface ForkSource {
  readonly visibility: Visibility;
  readonly level: number;
  readonly forking: string;
  readonly repository: string;
}

/**
 * Permission to fork: callers who may read the repository. In public and internal projects all users, in private ones
 * reporters; with the feature level `private` only members who are reporters. Source: reference identity-and-import
 * 10.2.
 */
export function mayFork(viewer: Viewer, source: ForkSource): boolean {
  const features = [source.forking, source.repository];
  if (features.includes('disabled')) return false;
  if (viewer.isAdmin || source.level >= ACCESS_LEVELS.reporter) return true;
  return source.visibility !== 'private' && !features.includes('private');
}
