import { Controller } from '@nestjs/common';
import {
  ability,
  checkUnmodifiedSince,
  created,
  Endpoint,
  group,
  JsonText,
  noContent,
  one,
  page,
} from '@rookery/api-v4';
import type { Call, GroupScope, JsonPage } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { epicPolicy } from './epic.policy';
import { epicDetailShape, listedEpicShape } from './epic.shape';
import { CreateEpic, toEpicUpdate, ListEpics, toNewEpic, IdentifyEpic, UpdateEpic } from './epics.dto';
import { EpicsQueries } from './epics.queries';
import { EpicsService } from './epics.service';
import { toEpicFilter } from './listing/epic-list.dto';
import { EpicQuickActionsService } from './quick-actions/epic-quick-actions.service';

/**
 * Limit of a request body: a description of a million characters, escaped. Units: bytes. Source: reference reliability
 * 6.3.
 */
const BODY_LIMIT = 8 * 1024 * 1024;

type EpicCall<P> = Call<P, GroupScope, SignedInViewer>;

/**
 * Allows readers of a group whose plan has epics; further permissions are checked after the epic is found. Source:
 * reference work-tracking 5.1.
 */
export const mayReadEpics = ability('epic.read', ({ within }: EpicCall<unknown>) => epicPolicy.mayRead(within), {
  signedIn: true,
});
const mayCreate = ability(
  'epic.create',
  ({ viewer, within }: EpicCall<unknown>) => epicPolicy.mayRead(within) && epicPolicy.mayWrite(viewer, within),
  { signedIn: true },
);

const SOURCE = 'requirements 1 §4 Epics; reference work-tracking 5.2';
const many = { source: SOURCE, within: group('id', 'copy'), aliases: ['groups/:id/-/epics'] } as const;
const single = { ...many, aliases: ['groups/:id/-/epics/:epic_iid'] } as const;

@Controller('groups/:id/epics')
export class EpicsController {
  constructor(
    private readonly queries: EpicsQueries,
    private readonly epics: EpicsService,
    private readonly quickActions: EpicQuickActionsService,
  ) {}

  @Endpoint('GET', '', {
    ...many,
    about: 'Lists the epics of a group and its subgroups.',
    may: mayReadEpics,
    params: ListEpics,
    answers: page(listedEpicShape.presenter),
  })
  list({ params, viewer, within, page }: EpicCall<ListEpics>): Promise<JsonPage> {
    const reach = {
      includesAncestors: params.include_ancestor_groups,
      includesDescendants: params.include_descendant_groups,
    };
    const order = { orderBy: params.order_by, sort: params.sort, withLabelDetails: params.with_labels_details };
    return this.queries.list(viewer, within, { reach, filter: toEpicFilter(params), order, page });
  }

  @Endpoint('GET', ':epic_iid', {
    ...single,
    about: 'Shows one epic.',
    may: mayReadEpics,
    params: IdentifyEpic,
    answers: one(epicDetailShape.presenter),
    fails: [404],
  })
  async show({ params, viewer, within }: EpicCall<IdentifyEpic>): Promise<JsonText> {
    return new JsonText(await this.queries.findEpic(viewer, within, params.epic_iid));
  }

  @Endpoint('POST', '', {
    ...many,
    about: 'Opens an epic.',
    may: mayCreate,
    params: CreateEpic,
    withoutEffect: (call, controller: EpicsController) => controller.listParametersWithoutEffect(call, 'created_at'),
    answers: created(listedEpicShape.presenter),
    fails: [409, 429],
    bodyLimit: BODY_LIMIT,
  })
  async create({ params, viewer, within }: EpicCall<CreateEpic>): Promise<JsonText> {
    return new JsonText(await this.quickActions.create(viewer, within, toNewEpic(params)));
  }

  @Endpoint('PUT', ':epic_iid', {
    ...single,
    about: 'Updates, closes or reopens an epic.',
    may: mayReadEpics,
    params: UpdateEpic,
    withoutEffect: (call, controller: EpicsController) => controller.listParametersWithoutEffect(call, 'updated_at'),
    answers: one(listedEpicShape.presenter),
    fails: [404, 409, 429],
    bodyLimit: BODY_LIMIT,
  })
  async update({ params, viewer, within }: EpicCall<UpdateEpic>): Promise<JsonText> {
    return new JsonText(await this.quickActions.update(viewer, within, params.epic_iid, toEpicUpdate(params)));
  }

  private listParametersWithoutEffect<T extends string>(
    { viewer, within }: EpicCall<unknown>,
    timeParameter: T,
  ): ('color' | T)[] {
    const color = this.epics.takesColour(viewer, within) ? [] : (['color'] as const);
    return epicPolicy.mayBackdate(viewer, within) ? [...color] : [...color, timeParameter];
  }

  @Endpoint('DELETE', ':epic_iid', {
    ...single,
    about: 'Deletes an epic.',
    may: mayReadEpics,
    params: IdentifyEpic,
    answers: noContent(),
    fails: [404, 412],
  })
  remove(call: EpicCall<IdentifyEpic>): Promise<void> {
    const { params, viewer, within } = call;
    return this.epics.remove(viewer, within, params.epic_iid, (updatedAt) => checkUnmodifiedSince(call, updatedAt));
  }
}
