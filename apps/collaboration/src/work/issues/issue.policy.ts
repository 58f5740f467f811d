import type { SignedInViewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { createNoteableReader, canReadFeature } from '../../base/noteables/reader';
import type { ParentFacts } from '../../base/noteables/reader';
import { planningPolicy } from '../../base/noteables/planning.policy';
import type { FieldPermissions } from './issue-change';
import type { IssueProject } from './issues.queries';

interface SubjectIssue {
  readonly authorId: number;
  readonly assigneeIds: readonly number[];
}

/** Permissions on issues. Source: reference work-tracking 9.1. */
export const issuePolicy = {
  /** Every signed-in user who may read the issues may create one: members of private projects, all users of others. */
  mayCreate(viewer: SignedInViewer, project: ParentFacts): boolean {
    return !project.archived && canReadFeature('issues', project, createNoteableReader(viewer, project));
  },

  /** Permission to set assignees, due date, confidentiality and lock; these fields are ignored from other callers. */
  mayPlan(viewer: SignedInViewer, project: ParentFacts): boolean {
    return viewer.isAdmin || project.level >= ACCESS_LEVELS.planner;
  },

  /**
   * Returns the permissions for single fields. The free plan has no new weights. Source: reference work-tracking 1.4,
   * 9.1.
   */
  fieldPermissions(viewer: SignedInViewer, project: IssueProject): FieldPermissions {
    const plan = issuePolicy.mayPlan(viewer, project);
    const weigh = plan && planningPolicy.isPaid(project.namespace);
    return { plan, weigh, backdate: issuePolicy.mayBackdate(viewer, project) };
  },

  /**
   * Permission to set times and numbers, for administrators and owners; these fields are ignored from other callers.
   */
  mayBackdate(viewer: SignedInViewer, project: ParentFacts): boolean {
    return viewer.isAdmin || project.level >= ACCESS_LEVELS.owner;
  },

  mayEdit(viewer: SignedInViewer, project: ParentFacts, issue: SubjectIssue): boolean {
    return !project.archived && (issue.authorId === viewer.userId || issuePolicy.mayPlan(viewer, project));
  },

  /** Assignees may close and reopen too. */
  mayChangeState(viewer: SignedInViewer, project: ParentFacts, issue: SubjectIssue): boolean {
    if (project.archived) return false;
    return issuePolicy.mayEdit(viewer, project, issue) || issue.assigneeIds.includes(viewer.userId);
  },

  /** Planners and owners, but not the roles between them. */
  mayDelete(viewer: SignedInViewer, project: ParentFacts): boolean {
    if (project.archived) return false;
    return viewer.isAdmin || project.level === ACCESS_LEVELS.planner || project.level >= ACCESS_LEVELS.owner;
  },
};
