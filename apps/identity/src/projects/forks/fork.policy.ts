import type { Viewer, Visibility } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';

/** What of a project decides about copying it. */
export interface ForkSource {
  readonly visibility: Visibility;
  readonly level: number;
  readonly forking: string;
  readonly repository: string;
}

/**
 * Whoever may read the content may copy it: in open projects everybody, in private ones reporters, where the feature
 * is for members only members who are reporters. Source: reference identity-and-import 10.2.
 */
export function mayFork(viewer: Viewer, source: ForkSource): boolean {
  const features = [source.forking, source.repository];
  if (features.includes('disabled')) return false;
  if (viewer.isAdmin || source.level >= ACCESS_LEVELS.reporter) return true;
  return source.visibility !== 'private' && !features.includes('private');
}
