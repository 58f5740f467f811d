import { Controller } from '@nestjs/common';
import {
  created,
  Endpoint,
  actorParentAndPrecondition,
  JsonText,
  noContent,
  one,
  page,
  project,
  projectOrGroup,
} from '@rookery/api-v4';
import type { JsonPage } from '@rookery/api-v4';
import type { Viewer } from '@rookery/kernel';
import { planningAbilities } from '../../base/noteables/planning-routes.dto';
import type { PlanningCall, PromotionCall } from '../../base/noteables/planning-routes.dto';
import { MilestonePromotionService } from './milestone-promotion.service';
import { milestoneShape } from './milestone.shape';
import {
  CreateMilestone,
  ListGroupMilestones,
  ListMilestones,
  IdentifyMilestone,
  UpdateMilestone,
} from './milestones.dto';
import { MilestonesQueries } from './milestones.queries';
import { MilestonesService } from './milestones.service';

const SOURCE = 'reference work-tracking 9.5';
const milestone = milestoneShape.presenter;
export const milestoneAbilities = planningAbilities('milestone');
const { mayRead, mayManage, mayPromote } = milestoneAbilities;

/** Creates the controller with the milestone routes of projects or of groups. */
function createMilestonesController(kind: 'project' | 'group', List: new () => ListMilestones) {
  const base = `/${kind}s/:id/milestones`;
  const below = { within: projectOrGroup(kind), source: SOURCE } as const;

  @Controller()
  class MilestonesController {
    constructor(
      readonly queries: MilestonesQueries,
      readonly milestones: MilestonesService,
    ) {}

    @Endpoint('GET', base, {
      ...below,
      about: `Lists the milestones of a ${kind}, the earliest due date first.`,
      may: mayRead,
      params: List,
      answers: page(milestone),
    })
    list({ params, viewer, within, page }: PlanningCall<ListMilestones, Viewer>): Promise<JsonPage> {
      return this.queries.list(viewer, within, params, page);
    }

    @Endpoint('GET', `${base}/:milestone_id`, {
      ...below,
      about: `Shows one milestone of a ${kind}.`,
      may: mayRead,
      params: IdentifyMilestone,
      fails: [404],
      answers: one(milestone),
    })
    async show({ params, within }: PlanningCall<IdentifyMilestone, Viewer>): Promise<JsonText> {
      return new JsonText(await this.queries.findMilestone(within, params.milestone_id));
    }

    @Endpoint('POST', base, {
      ...below,
      about: `Adds a milestone to a ${kind}.`,
      may: mayManage,
      params: CreateMilestone,
      answers: created(milestone),
    })
    async create({ params, viewer, within }: PlanningCall<CreateMilestone>): Promise<JsonText> {
      return new JsonText(await this.milestones.create(viewer, within, params));
    }

    @Endpoint('PUT', `${base}/:milestone_id`, {
      ...below,
      about: `Changes a milestone of a ${kind}, closes it or reopens it.`,
      may: mayManage,
      params: UpdateMilestone,
      fails: [404, 429],
      answers: one(milestone),
    })
    async update({
      params: { milestone_id, ...change },
      viewer,
      within,
    }: PlanningCall<UpdateMilestone>): Promise<JsonText> {
      return new JsonText(await this.milestones.update(viewer, within, milestone_id, change));
    }

    @Endpoint('DELETE', `${base}/:milestone_id`, {
      ...below,
      about: `Removes a milestone of a ${kind}, also from everything that has it.`,
      may: mayManage,
      params: IdentifyMilestone,
      fails: [404, 412],
      answers: noContent(),
    })
    remove(call: PlanningCall<IdentifyMilestone>): Promise<void> {
      return this.milestones.remove(call.params.milestone_id, actorParentAndPrecondition(call));
    }
  }
  return MilestonesController;
}

export const ProjectMilestonesController = createMilestonesController('project', ListMilestones);
export const GroupMilestonesController = createMilestonesController('group', ListGroupMilestones);

@Controller()
export class MilestonePromotionController {
  constructor(private readonly promotion: MilestonePromotionService) {}

  @Endpoint('POST', '/projects/:id/milestones/:milestone_id/promote', {
    about: 'Promotes a milestone of a project to a milestone of its group.',
    source: SOURCE,
    within: project('id'),
    may: mayPromote,
    params: IdentifyMilestone,
    fails: [404],
    answers: one(milestone),
  })
  async promote({ params, viewer, within }: PromotionCall<IdentifyMilestone>): Promise<JsonText> {
    return new JsonText(await this.promotion.promote(viewer, within, params.milestone_id));
  }
}
