import type { GroupScope } from '@rookery/api-v4';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { planningPolicy } from '../../base/noteables/planning.policy';

/** Who may do what with epics. Source: reference work-tracking 1.4, 5.1. */
export const epicPolicy = {
  /** Whoever is signed in and sees the group, where its plan has epics. */
  mayRead(group: Pick<GroupScope, 'plan'>): boolean {
    return planningPolicy.isPaid(group);
  },

  /** Epics below epics are of the plan ultimate. */
  mayNest({ plan }: Pick<GroupScope, 'plan'>): boolean {
    return plan === 'ultimate';
  },

  mayWrite(viewer: SignedInViewer, group: Pick<GroupScope, 'level'>): boolean {
    return viewer.isAdmin || group.level >= ACCESS_LEVELS.planner;
  },

  /** Given times; wishes of others are ignored. */
  mayBackdate(viewer: SignedInViewer, group: Pick<GroupScope, 'level'>): boolean {
    return viewer.isAdmin || group.level >= ACCESS_LEVELS.owner;
  },

  /** Planners and owners, not the roles between them. */
  mayDelete(viewer: SignedInViewer, group: Pick<GroupScope, 'level'>): boolean {
    return viewer.isAdmin || group.level === ACCESS_LEVELS.planner || group.level >= ACCESS_LEVELS.owner;
  },
};
