import type { GroupScope, NamespaceFacts, ProjectScope } from '@rookery/api-v4';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { SignedInViewer, Viewer } from '@rookery/kernel';
import { createNoteableReader, canReadFeature } from './reader';
import type { NoteableReference } from './reader';

/** The project or group that labels and milestones belong to. */
export type PlanningSource = ProjectScope | GroupScope;

/** A noteable named by a path, with the full scope of its parent. */
export interface NoteableWithParent extends NoteableReference {
  readonly parent: PlanningSource;
}

/** Access rules for labels and milestones. Source: reference work-tracking 9.4, 9.5. */
export const planningPolicy = {
  /**
   * Whether the viewer may read labels and milestones. Every viewer of a group may; in a project, a viewer who can read its
   * issues or merge requests.
   */
  mayRead(viewer: Viewer, source: PlanningSource): boolean {
    if (source.kind === 'group') return true;
    const reader = createNoteableReader(viewer, source);
    return canReadFeature('issues', source, reader) || canReadFeature('merge_requests', source, reader);
  },

  /** Whether the plan has weights and blocking links: premium and ultimate. Source: reference work-tracking 1.4. */
  isPaid({ plan }: Pick<NamespaceFacts, 'plan'>): boolean {
    return plan !== 'free';
  },

  mayManage(viewer: SignedInViewer, source: PlanningSource): boolean {
    const isWritable = !source.archived && planningPolicy.mayRead(viewer, source);
    return isWritable && (viewer.isAdmin || source.level >= ACCESS_LEVELS.planner);
  },
};
