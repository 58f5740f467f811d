import type { SignedInViewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { readerOf } from '../noteables/reader';
import type { ParentFacts } from '../noteables/reader';

interface SubjectNote {
  readonly authorId: number;
  readonly system: boolean;
}

/** Who may do what with notes of a project's issues. Source: reference work-tracking 2.3, 2.4. */
export const notePolicy = {
  /** Nobody writes in an archived project; internal notes are for those who may read them. */
  mayCreate(viewer: SignedInViewer, project: ParentFacts, isInternal: boolean): boolean {
    const reader = readerOf(viewer, project);
    return !project.archived && (!isInternal || reader.readsInternal);
  },

  /** Back-dating: administrators and owners. Everybody else's wish is ignored. */
  mayBackdate(viewer: SignedInViewer, project: ParentFacts): boolean {
    return viewer.isAdmin || project.level >= ACCESS_LEVELS.owner;
  },

  /** The author or a maintainer; while the discussion is locked only members; system notes nobody. */
  mayEdit(viewer: SignedInViewer, project: ParentFacts, note: SubjectNote, isLocked: boolean): boolean {
    if (note.system || project.archived) return false;
    if (isLocked && !readerOf(viewer, project).isMember) return false;
    return viewer.isAdmin || note.authorId === viewer.userId || project.level >= ACCESS_LEVELS.maintainer;
  },
};
