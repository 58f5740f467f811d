import type { ProjectScope } from '@rookery/api-v4';
import { mayReadCode } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { readerOf, reads } from '../../base/noteables/reader';
import type { ParentFacts } from '../../base/noteables/reader';

const { reporter, developer, owner } = ACCESS_LEVELS;

/** Permissions on merge requests. Source: reference repositories 8.1. */
export const mergeRequestPolicy = {
  /** Developers of a project with merge requests. */
  mayCreate(viewer: SignedInViewer, project: ProjectScope): boolean {
    if (project.archived || !reads('merge_requests', project, readerOf(viewer, project))) return false;
    return holds(viewer, project, developer);
  },

  /** Readers of the target's code; the source needs `mayCreate`. */
  mayTarget(viewer: SignedInViewer, target: ProjectScope): boolean {
    if (target.archived || !reads('merge_requests', target, readerOf(viewer, target))) return false;
    return mayReadCode(viewer, target);
  },

  /** The author and developers. */
  mayEdit(viewer: SignedInViewer, project: ParentFacts, { authorId }: { readonly authorId: number }): boolean {
    return !project.archived && (authorId === viewer.userId || holds(viewer, project, developer));
  },

  /** Permission to set people, labels and milestone; these fields are ignored from other callers. */
  mayPlan(viewer: SignedInViewer, project: ParentFacts): boolean {
    return holds(viewer, project, reporter);
  },

  mayDelete(viewer: SignedInViewer, project: ParentFacts): boolean {
    return !project.archived && holds(viewer, project, owner);
  },
};

function holds(viewer: SignedInViewer, project: ParentFacts, level: number): boolean {
  return viewer.isAdmin || project.level >= level;
}
