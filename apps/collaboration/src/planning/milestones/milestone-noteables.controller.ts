import { Controller } from '@nestjs/common';
import { Endpoint, page, projectOrGroup } from '@rookery/api-v4';
import type { JsonPage } from '@rookery/api-v4';
import type { Viewer } from '@rookery/kernel';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { nameClass } from '../../base/noteables/noteable-routes.dto';
import type { PlanningCall } from '../../base/noteables/planning-routes.dto';
import { MilestoneNoteablesQueries } from './milestone-noteables.queries';
import { milestoneAbilities } from './milestones.controller';
import { IdentifyMilestone } from './milestones.dto';

/** Builds the controller that lists the noteables of one kind of the milestones of projects or of groups. */
export function milestoneNoteablesController(kind: NoteableKind, within: 'project' | 'group') {
  @Controller()
  class MilestoneNoteablesController {
    constructor(readonly queries: MilestoneNoteablesQueries) {}

    @Endpoint('GET', `/${within}s/:id/milestones/:milestone_id/${kind.table}`, {
      about: `Lists the ${kind.word}s of a milestone of a ${within}, newest first.`,
      source: 'reference work-tracking 9.5',
      within: projectOrGroup(within),
      may: milestoneAbilities.mayRead,
      params: IdentifyMilestone,
      fails: [404],
      answers: page(kind.listed.presenter),
    })
    list({ params, viewer, within: parent, page }: PlanningCall<IdentifyMilestone, Viewer>): Promise<JsonPage> {
      return this.queries.list(kind, viewer, parent, { milestoneId: params.milestone_id, page });
    }
  }
  const place = within === 'project' ? 'Project' : 'Group';
  return nameClass(`${place}Milestone${kind.type}sController`, MilestoneNoteablesController);
}
