import type { SignedInViewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { createNoteableReader } from '../../base/noteables/reader';
import type { ParentFacts } from '../../base/noteables/reader';

interface SubjectNote {
  readonly authorId: number;
  readonly system: boolean;
}

/**
 * Permissions for notes, by the viewer's role in the noteable's project or group. Source: reference work-tracking 2.3,
 * 2.4.
 */
export const notePolicy = {
  /** Archived projects take no notes; internal notes may be written by users who may read them. */
  mayCreate(viewer: SignedInViewer, parent: ParentFacts, isInternal: boolean): boolean {
    const reader = createNoteableReader(viewer, parent);
    return !parent.archived && (!isInternal || reader.readsInternal);
  },

  /** Administrators and owners may set the creation time; the parameter is ignored for other users. */
  mayBackdate(viewer: SignedInViewer, parent: ParentFacts): boolean {
    return viewer.isAdmin || parent.level >= ACCESS_LEVELS.owner;
  },

  /** Only members may write while the discussion is locked. */
  mayCreateLocked(viewer: SignedInViewer, parent: ParentFacts): boolean {
    return createNoteableReader(viewer, parent).isMember;
  },

  /**
   * Developers, and `people`: the authors of the noteable, the thread and the note. Only the members among them may resolve
   * while the discussion is locked.
   */
  mayResolve(viewer: SignedInViewer, parent: ParentFacts, people: readonly number[], isLocked: boolean): boolean {
    if (parent.archived || (isLocked && !createNoteableReader(viewer, parent).isMember)) return false;
    return viewer.isAdmin || parent.level >= ACCESS_LEVELS.developer || people.includes(viewer.userId);
  },

  /** The author or a maintainer; only members while the discussion is locked. System notes cannot be edited. */
  mayEdit(viewer: SignedInViewer, parent: ParentFacts, note: SubjectNote, isLocked: boolean): boolean {
    if (note.system || parent.archived) return false;
    if (isLocked && !createNoteableReader(viewer, parent).isMember) return false;
    return viewer.isAdmin || note.authorId === viewer.userId || parent.level >= ACCESS_LEVELS.maintainer;
  },
};
