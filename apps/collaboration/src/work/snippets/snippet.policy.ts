import type { SignedInViewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { createNoteableReader, canReadFeature } from '../../base/noteables/reader';
import type { ParentFacts } from '../../base/noteables/reader';

interface SubjectSnippet {
  readonly authorId: number;
}

/** Permissions on snippets, for snippets that the viewer sees. Source: reference work-tracking 9.2. */
export const snippetPolicy = {
  mayCreate(viewer: SignedInViewer, project: ParentFacts): boolean {
    if (project.archived || !canReadFeature('snippets', project, createNoteableReader(viewer, project))) return false;
    return viewer.isAdmin || project.level >= ACCESS_LEVELS.reporter;
  },

  /** The author, with any role or none, and maintainers. */
  mayChange(viewer: SignedInViewer, project: ParentFacts, snippet: SubjectSnippet): boolean {
    if (project.archived) return false;
    return viewer.isAdmin || snippet.authorId === viewer.userId || project.level >= ACCESS_LEVELS.maintainer;
  },

  /** All users except external ones may create personal snippets. External users own nothing outside of projects. */
  mayCreatePersonal(viewer: SignedInViewer): boolean {
    return viewer.isAdmin || !viewer.isExternal;
  },

  mayChangePersonal(viewer: SignedInViewer, snippet: SubjectSnippet): boolean {
    return viewer.isAdmin || snippet.authorId === viewer.userId;
  },
};
