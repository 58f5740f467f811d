import type { ProjectScope } from '@rookery/api-v4';
import { mayReadCode } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { createNoteableReader, canReadFeature } from '../../base/noteables/reader';
import type { ParentFacts } from '../../base/noteables/reader';

const { reporter, developer, owner } = ACCESS_LEVELS;

/** Permissions on merge requests. Source: reference repositories 8.1. */
export const mergeRequestPolicy = {
  /** Developers of a project with merge requests. */
  mayCreate(viewer: SignedInViewer, project: ProjectScope): boolean {
    if (project.archived || !canReadFeature('merge_requests', project, createNoteableReader(viewer, project)))
      return false;
    return hasLevel(viewer, project, developer);
  },

  /** Readers of the target's code; the source needs `mayCreate`. */
  mayTarget(viewer: SignedInViewer, target: ProjectScope): boolean {
    if (target.archived || !canReadFeature('merge_requests', target, createNoteableReader(viewer, target)))
      return false;
    return mayReadCode(viewer, target);
  },

  /** The author and developers. */
  mayEdit(viewer: SignedInViewer, project: ParentFacts, { authorId }: { readonly authorId: number }): boolean {
    return !project.archived && (authorId === viewer.userId || hasLevel(viewer, project, developer));
  },

  /** Permission to set people, labels and milestone; these fields are ignored from other callers. */
  mayPlan(viewer: SignedInViewer, project: ParentFacts): boolean {
    return hasLevel(viewer, project, reporter);
  },

  mayDelete(viewer: SignedInViewer, project: ParentFacts): boolean {
    return !project.archived && hasLevel(viewer, project, owner);
  },
};

function hasLevel(viewer: SignedInViewer, project: ParentFacts, level: number): boolean {
  return viewer.isAdmin || project.level >= level;
}
