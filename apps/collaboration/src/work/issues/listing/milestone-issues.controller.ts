import { Controller } from '@nestjs/common';
import { Endpoint, page, source } from '@rookery/api-v4';
import type { JsonPage } from '@rookery/api-v4';
import type { Viewer } from '@rookery/kernel';
import { milestoneAbilities } from '../../../planning/milestones/milestones.controller';
import { OneMilestone } from '../../../planning/milestones/milestones.dto';
import { stamped } from '../../../base/noteables/noteable-routes.dto';
import type { PlanningCall } from '../../../base/noteables/planning-routes.dto';
import { issueShape } from '../issue.shape';
import { MilestoneIssuesQueries } from './milestone-issues.queries';

/** The same route below projects and below groups. */
function milestoneIssuesBelow(kind: 'project' | 'group') {
  @Controller()
  class MilestoneIssuesController {
    constructor(readonly queries: MilestoneIssuesQueries) {}

    @Endpoint('GET', `/${kind}s/:id/milestones/:milestone_id/issues`, {
      about: `Issues that have a milestone of a ${kind}, newest first.`,
      source: 'reference work-tracking 9.5',
      within: source(kind),
      may: milestoneAbilities.mayRead,
      params: OneMilestone,
      fails: [404],
      answers: page(issueShape.presenter),
    })
    list({ params, viewer, within, page }: PlanningCall<OneMilestone, Viewer>): Promise<JsonPage> {
      return this.queries.page(viewer, within, params.milestone_id, page);
    }
  }
  return stamped(`${kind === 'project' ? 'Project' : 'Group'}MilestoneIssuesController`, MilestoneIssuesController);
}

export const ProjectMilestoneIssuesController = milestoneIssuesBelow('project');
export const GroupMilestoneIssuesController = milestoneIssuesBelow('group');
