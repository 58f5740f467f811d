import type { SignedInViewer } from '@rookery/kernel';
import { ACCESS_LEVELS } from '@rookery/kernel';
import { readerOf, reads } from '../../base/noteables/reader';
import type { ParentFacts } from '../../base/noteables/reader';
import { planningPolicy } from '../../base/noteables/planning.policy';
import type { Permits } from './issue-change';
import type { IssueProject } from './issues.queries';

interface SubjectIssue {
  readonly authorId: number;
  readonly assigneeIds: readonly number[];
}

/** Who may do what with issues. Source: reference work-tracking 9.1. */
export const issuePolicy = {
  /** Anybody who may read issues here and is signed in: members of private projects, everybody of others. */
  mayCreate(viewer: SignedInViewer, project: ParentFacts): boolean {
    return !project.archived && reads('issues', project, readerOf(viewer, project));
  },

  /** Assignees, due date, confidentiality and lock are set by planners and above; wishes of others are ignored. */
  mayPlan(viewer: SignedInViewer, project: ParentFacts): boolean {
    return viewer.isAdmin || project.level >= ACCESS_LEVELS.planner;
  },

  /** What of a wish counts. There are no new weights in the plan free. Source: reference work-tracking 1.4, 9.1. */
  permits(viewer: SignedInViewer, project: IssueProject): Permits {
    const plan = issuePolicy.mayPlan(viewer, project);
    const weigh = plan && planningPolicy.isPaid(project.namespace);
    return { plan, weigh, backdate: issuePolicy.mayBackdate(viewer, project) };
  },

  /** Given times and numbers: administrators and owners; wishes of others are ignored. */
  mayBackdate(viewer: SignedInViewer, project: ParentFacts): boolean {
    return viewer.isAdmin || project.level >= ACCESS_LEVELS.owner;
  },

  mayEdit(viewer: SignedInViewer, project: ParentFacts, issue: SubjectIssue): boolean {
    return !project.archived && (issue.authorId === viewer.userId || issuePolicy.mayPlan(viewer, project));
  },

  /** Closing and opening again is also for those who work on it. */
  mayChangeState(viewer: SignedInViewer, project: ParentFacts, issue: SubjectIssue): boolean {
    if (project.archived) return false;
    return issuePolicy.mayEdit(viewer, project, issue) || issue.assigneeIds.includes(viewer.userId);
  },

  /** Planners and owners, not the roles between them. */
  mayDelete(viewer: SignedInViewer, project: ParentFacts): boolean {
    if (project.archived) return false;
    return viewer.isAdmin || project.level === ACCESS_LEVELS.planner || project.level >= ACCESS_LEVELS.owner;
  },
};
