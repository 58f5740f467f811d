import type { GroupScope, NamespaceFacts, ProjectScope } from '@rookery/api-v4';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { SignedInViewer, Viewer } from '@rookery/kernel';
import { readerOf, reads } from './reader';
import type { NamedNoteable } from './reader';

/** Where labels and milestones are kept. */
export type PlanningSource = ProjectScope | GroupScope;

/** The thing that a path names, and all that is known of where it is. */
export interface PlacedNoteable extends NamedNoteable {
  readonly parent: PlanningSource;
}

/** Who may do what with that by which things are planned: labels and milestones. Source: reference work-tracking 9.4, 9.5. */
export const planningPolicy = {
  /** Whoever sees the place; in a project, whoever reads something there that could have one. */
  mayRead(viewer: Viewer, source: PlanningSource): boolean {
    if (source.kind === 'group') return true;
    const reader = readerOf(viewer, source);
    return reads('issues', source, reader) || reads('merge_requests', source, reader);
  },

  /** Weights and links that block are of the plans premium and ultimate. Source: reference work-tracking 1.4. */
  isPaid({ plan }: Pick<NamespaceFacts, 'plan'>): boolean {
    return plan !== 'free';
  },

  mayManage(viewer: SignedInViewer, source: PlanningSource): boolean {
    const isWritable = source.kind === 'group' || (!source.archived && planningPolicy.mayRead(viewer, source));
    return isWritable && (viewer.isAdmin || source.level >= ACCESS_LEVELS.planner);
  },
};
