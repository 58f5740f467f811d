import type { ProjectFacts } from '@rookery/directory';
import type { Viewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';

/** What must be known of the project and of the viewer in it. Shape: any ProjectScope. */
export type ParentFacts = Pick<ProjectFacts, 'id' | 'fullPath' | 'visibility' | 'archived' | 'issuesAccessLevel'> & {
  readonly level: number;
};

/** What a viewer may read among the issues of one project, decided once and handed to SQL as plain values. */
export interface Reader {
  readonly viewerId: number | null;
  readonly isAdmin: boolean;
  readonly isMember: boolean;
  /** False when issues are switched off, or shown to members only and the viewer is none. */
  readonly readsIssues: boolean;
  readonly readsConfidential: boolean;
  readonly readsInternal: boolean;
}

/**
 * Reading rules of a project's issues and their notes: confidential issues from planner on (author with a role and
 * assignees besides, which SQL adds), internal notes from reporter on.
 * Source: reference work-tracking 2.3, 2.4, 9.1; ADR 0070.
 */
export function readerOf(viewer: Viewer, project: ParentFacts): Reader {
  const isMember = viewer.isAdmin || project.level >= ACCESS_LEVELS.guest;
  return {
    viewerId: viewer.userId,
    isAdmin: viewer.isAdmin,
    isMember,
    readsIssues: project.issuesAccessLevel === 'enabled' || (project.issuesAccessLevel === 'private' && isMember),
    readsConfidential: viewer.isAdmin || project.level >= ACCESS_LEVELS.planner,
    readsInternal: viewer.isAdmin || project.level >= ACCESS_LEVELS.reporter,
  };
}
