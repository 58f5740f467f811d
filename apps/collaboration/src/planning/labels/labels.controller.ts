import { Controller } from '@nestjs/common';
import {
  ability,
  created,
  Endpoint,
  actorParentAndPrecondition,
  noContent,
  one,
  page,
  project,
  projectOrGroup,
} from '@rookery/api-v4';
import type { Page, Viewer } from '@rookery/kernel';
import { planningAbilities } from '../../base/noteables/planning-routes.dto';
import type { PlanningCall, PromotionCall } from '../../base/noteables/planning-routes.dto';
import { planningPolicy } from '../../base/noteables/planning.policy';
import { LabelPromotionService } from './label-promotion.service';
import { labelPresenter } from './label.presenter';
import type { LabelView } from './label-facts.queries';
import {
  CreateLabel,
  CreateProjectLabel,
  ListLabels,
  IdentifyLabel,
  IdentifyNamedLabel,
  UpdateLabel,
  UpdateNamedLabel,
  UpdateNamedProjectLabel,
  UpdateProjectLabel,
} from './labels.dto';
import { LabelsService } from './labels.service';

const SOURCE = 'reference work-tracking 9.4';
const { mayRead, mayManage, mayPromote } = planningAbilities('label');
const mayFollow = ability(
  'label.subscribe',
  ({ viewer, within }: PlanningCall<unknown>) => planningPolicy.mayRead(viewer, within),
  { signedIn: true },
);

/** Parameters of labels of projects only. */
type PriorityParam = { readonly priority?: number | null };

/** Creates the controller with the label routes of projects or of groups. */
function createLabelsController(
  kind: 'project' | 'group',
  params: {
    readonly create: new () => CreateLabel & PriorityParam;
    readonly update: new () => UpdateLabel & PriorityParam;
    readonly updateNamed: new () => UpdateNamedLabel & PriorityParam;
  },
) {
  const base = `/${kind}s/:id/labels`;
  const below = { within: projectOrGroup(kind), source: SOURCE } as const;

  @Controller()
  class LabelsController {
    constructor(readonly labels: LabelsService) {}

    @Endpoint('GET', base, {
      ...below,
      about: `Lists the labels of a ${kind} and of the groups above it, by name.`,
      may: mayRead,
      params: ListLabels,
      answers: page(labelPresenter),
    })
    list({ params, viewer, within, page }: PlanningCall<ListLabels, Viewer>): Promise<Page<LabelView>> {
      return this.labels.list(viewer, within, params, page);
    }

    @Endpoint('GET', `${base}/:label_id`, {
      ...below,
      about: `Shows one label of a ${kind} or of a group above it.`,
      may: mayRead,
      params: IdentifyLabel,
      fails: [404],
      answers: one(labelPresenter),
    })
    show({ params, viewer, within }: PlanningCall<IdentifyLabel, Viewer>): Promise<LabelView> {
      return this.labels.show(viewer, within, params);
    }

    @Endpoint('POST', base, {
      ...below,
      about: `Adds a label to a ${kind}.`,
      may: mayManage,
      params: params.create,
      fails: [409],
      answers: created(labelPresenter),
    })
    create({ params, viewer, within }: PlanningCall<CreateLabel & PriorityParam>): Promise<LabelView> {
      return this.labels.create(viewer, within, params);
    }

    @Endpoint('PUT', `${base}/:label_id`, {
      ...below,
      about: `Changes a label of a ${kind}.`,
      may: mayManage,
      params: params.update,
      fails: [404, 409],
      answers: one(labelPresenter),
    })
    update({
      params: { label_id, ...change },
      viewer,
      within,
    }: PlanningCall<UpdateLabel & PriorityParam>): Promise<LabelView> {
      return this.labels.update(viewer, within, { label_id }, change);
    }

    @Endpoint('PUT', base, {
      ...below,
      about: `Changes a label of a ${kind} that is given by parameters.`,
      may: mayManage,
      params: params.updateNamed,
      fails: [404, 409],
      answers: one(labelPresenter),
    })
    updateNamed({
      params: { label_id, name, ...change },
      viewer,
      within,
    }: PlanningCall<UpdateNamedLabel & PriorityParam>): Promise<LabelView> {
      return this.labels.update(viewer, within, { label_id, name }, change);
    }

    @Endpoint('DELETE', `${base}/:label_id`, {
      ...below,
      about: `Removes a label of a ${kind}, also from everything that has it.`,
      may: mayManage,
      params: IdentifyLabel,
      fails: [404, 412],
      answers: noContent(),
    })
    remove(call: PlanningCall<IdentifyLabel>): Promise<void> {
      return this.labels.remove(call.params, actorParentAndPrecondition(call));
    }

    @Endpoint('DELETE', base, {
      ...below,
      about: `Removes a label of a ${kind} that is given by parameters.`,
      may: mayManage,
      params: IdentifyNamedLabel,
      fails: [404, 412],
      answers: noContent(),
    })
    removeNamed(call: PlanningCall<IdentifyNamedLabel>): Promise<void> {
      return this.labels.remove(call.params, actorParentAndPrecondition(call));
    }

    @Endpoint('POST', `${base}/:label_id/subscribe`, {
      ...below,
      about: 'Subscribes the caller, who is notified when the label is added.',
      may: mayFollow,
      params: IdentifyLabel,
      fails: [304, 404],
      answers: created(labelPresenter),
    })
    subscribe({ params, viewer, within }: PlanningCall<IdentifyLabel>): Promise<LabelView> {
      return this.labels.subscribe(viewer, within, params);
    }

    @Endpoint('POST', `${base}/:label_id/unsubscribe`, {
      ...below,
      about: 'Unsubscribes the caller from the label.',
      may: mayFollow,
      params: IdentifyLabel,
      fails: [304, 404],
      answers: created(labelPresenter),
    })
    unsubscribe({ params, viewer, within }: PlanningCall<IdentifyLabel>): Promise<LabelView> {
      return this.labels.unsubscribe(viewer, within, params);
    }
  }
  return LabelsController;
}

export const ProjectLabelsController = createLabelsController('project', {
  create: CreateProjectLabel,
  update: UpdateProjectLabel,
  updateNamed: UpdateNamedProjectLabel,
});
export const GroupLabelsController = createLabelsController('group', {
  create: CreateLabel,
  update: UpdateLabel,
  updateNamed: UpdateNamedLabel,
});

@Controller()
export class LabelPromotionController {
  constructor(private readonly promotion: LabelPromotionService) {}

  @Endpoint('PUT', '/projects/:id/labels/:label_id/promote', {
    about: 'Promotes a label of a project to a label of its group.',
    source: SOURCE,
    within: project('id'),
    may: mayPromote,
    params: IdentifyLabel,
    fails: [404, 409],
    answers: one(labelPresenter),
  })
  promote({ params, viewer, within }: PromotionCall<IdentifyLabel>): Promise<LabelView> {
    return this.promotion.promote(viewer, within, params.label_id);
  }
}
