import type { GroupScope } from '@rookery/api-v4';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { planningPolicy } from '../../base/noteables/planning.policy';

/** Permissions on epics. Source: reference work-tracking 1.4, 5.1. */
export const epicPolicy = {
  /** Every viewer of the group may read its epics if the plan has epics. */
  mayRead(group: Pick<GroupScope, 'plan'>): boolean {
    return planningPolicy.isPaid(group);
  },

  /** Child epics need the plan ultimate. */
  mayNest({ plan }: Pick<GroupScope, 'plan'>): boolean {
    return plan === 'ultimate';
  },

  /** Planners may write epics, unless the group or a group above it is marked for deletion. */
  mayWrite(viewer: SignedInViewer, group: Pick<GroupScope, 'level' | 'archived'>): boolean {
    if (group.archived) return false;
    return viewer.isAdmin || group.level >= ACCESS_LEVELS.planner;
  },

  /** Permission to set creation and update times; times from other callers are ignored. */
  mayBackdate(viewer: SignedInViewer, group: Pick<GroupScope, 'level'>): boolean {
    return viewer.isAdmin || group.level >= ACCESS_LEVELS.owner;
  },

  /** Planners and owners, but not the roles between them. */
  mayDelete(viewer: SignedInViewer, group: Pick<GroupScope, 'level' | 'archived'>): boolean {
    if (group.archived) return false;
    return viewer.isAdmin || group.level === ACCESS_LEVELS.planner || group.level >= ACCESS_LEVELS.owner;
  },
};
