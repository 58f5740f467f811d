import type { SignedInViewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { ParentFacts } from '../../base/noteables/reader';

/** Permissions to create and delete links of issues. Source: reference work-tracking 9.1. */
export const issueLinkPolicy = {
  /** Members of the project with any role. Both ends of a link are checked. */
  mayLink(viewer: SignedInViewer, project: ParentFacts): boolean {
    return !project.archived && (viewer.isAdmin || project.level >= ACCESS_LEVELS.guest);
  },
};
