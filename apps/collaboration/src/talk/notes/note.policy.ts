import type { SignedInViewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { readerOf } from '../../base/noteables/reader';
import type { ParentFacts } from '../../base/noteables/reader';

interface SubjectNote {
  readonly authorId: number;
  readonly system: boolean;
}

/** Who may do what with notes, in the project or group of what they stand on. Source: reference work-tracking 2.3, 2.4. */
export const notePolicy = {
  /** Nobody writes in an archived project; internal notes are for those who may read them. */
  mayCreate(viewer: SignedInViewer, parent: ParentFacts, isInternal: boolean): boolean {
    const reader = readerOf(viewer, parent);
    return !parent.archived && (!isInternal || reader.readsInternal);
  },

  /** Back-dating: administrators and owners. Everybody else's wish is ignored. */
  mayBackdate(viewer: SignedInViewer, parent: ParentFacts): boolean {
    return viewer.isAdmin || parent.level >= ACCESS_LEVELS.owner;
  },

  /** While the discussion is locked, only members write. */
  mayCreateLocked(viewer: SignedInViewer, parent: ParentFacts): boolean {
    return readerOf(viewer, parent).isMember;
  },

  /** Developers, and these people: who wrote the thing, who began the thread, who wrote the note. Locked: of them members. */
  mayResolve(viewer: SignedInViewer, parent: ParentFacts, people: readonly number[], isLocked: boolean): boolean {
    if (parent.archived || (isLocked && !readerOf(viewer, parent).isMember)) return false;
    return viewer.isAdmin || parent.level >= ACCESS_LEVELS.developer || people.includes(viewer.userId);
  },

  /** The author or a maintainer; while the discussion is locked only members; system notes nobody. */
  mayEdit(viewer: SignedInViewer, parent: ParentFacts, note: SubjectNote, isLocked: boolean): boolean {
    if (note.system || parent.archived) return false;
    if (isLocked && !readerOf(viewer, parent).isMember) return false;
    return viewer.isAdmin || note.authorId === viewer.userId || parent.level >= ACCESS_LEVELS.maintainer;
  },
};
