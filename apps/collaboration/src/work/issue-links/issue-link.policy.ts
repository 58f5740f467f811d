import type { SignedInViewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { ParentFacts } from '../../base/noteables/reader';

/** Who may link issues and undo it. Source: reference work-tracking 9.1. */
export const issueLinkPolicy = {
  /** Whoever has a role in the project; asked of both ends. */
  mayLink(viewer: SignedInViewer, project: ParentFacts): boolean {
    return !project.archived && (viewer.isAdmin || project.level >= ACCESS_LEVELS.guest);
  },
};
