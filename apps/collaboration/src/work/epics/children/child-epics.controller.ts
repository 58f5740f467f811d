import { Controller } from '@nestjs/common';
import { ability, created, Endpoint, group, JsonText, one, page } from '@rookery/api-v4';
import type { Call, GroupScope, JsonPage } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { epicPolicy } from '../epic.policy';
import { listedEpicShape } from '../epic.shape';
import type { EpicKey } from '../issues/epic-issues.queries';
import { childEpicLinkShape } from './child-epic.shape';
import { CreateChildEpic, ListChildEpics, IdentifyChildEpic, ReorderChildEpic } from './child-epics.dto';
import { ChildEpicsQueries } from './child-epics.queries';
import { ChildEpicsService } from './child-epics.service';

type ChildEpicCall<P> = Call<P, GroupScope, SignedInViewer>;

/** Allows readers of a group whose plan has child epics; further permissions are checked after the epic is found. */
const mayNest = ability('epic.nest', ({ within }: ChildEpicCall<unknown>) => epicPolicy.mayNest(within), {
  signedIn: true,
});
/** `links` is an alias for one widely used client. */
const ALIASES = ['groups/:id/-/epics/:epic_iid/epics', 'groups/:id/epics/:epic_iid/links'];
const many = {
  source: 'reference work-tracking 5.7',
  within: group('id', 'copy'),
  may: mayNest,
  fails: [404],
  aliases: ALIASES,
} as const;
const single = { ...many, aliases: ALIASES.map((alias) => `${alias}/:child_epic_id`) } as const;

/** Routes of the child epics of an epic. */
@Controller('groups/:id/epics/:epic_iid/epics')
export class ChildEpicsController {
  constructor(
    private readonly queries: ChildEpicsQueries,
    private readonly children: ChildEpicsService,
  ) {}

  @Endpoint('GET', '', {
    ...many,
    about: 'Lists the child epics that the caller sees, in their order.',
    params: ListChildEpics,
    answers: page(listedEpicShape.presenter),
  })
  list(call: ChildEpicCall<ListChildEpics>): Promise<JsonPage> {
    return this.queries.list(call.viewer, toEpicKey(call), call.page);
  }

  @Endpoint('POST', '', {
    ...many,
    about: 'Creates an epic as the first child of another.',
    params: CreateChildEpic,
    answers: created(childEpicLinkShape.presenter),
    fails: [404, 409, 429],
  })
  async create(call: ChildEpicCall<CreateChildEpic>): Promise<JsonText> {
    const { title, confidential } = call.params;
    return new JsonText(await this.children.create(call.viewer, toEpicKey(call), { title, confidential }));
  }

  @Endpoint('POST', ':child_epic_id', {
    ...single,
    about: 'Makes an epic the first child of another; it leaves its previous parent.',
    params: IdentifyChildEpic,
    answers: created(listedEpicShape.presenter),
    fails: [404, 409, 429],
  })
  async assign(call: ChildEpicCall<IdentifyChildEpic>): Promise<JsonText> {
    return new JsonText(await this.children.assign(call.viewer, toEpicKey(call), call.params.child_epic_id));
  }

  @Endpoint('PUT', ':child_epic_id', {
    ...single,
    about: 'Moves a child epic between two others and lists the children.',
    params: ReorderChildEpic,
    answers: page(listedEpicShape.presenter),
  })
  async reorder(call: ChildEpicCall<ReorderChildEpic>): Promise<JsonPage> {
    const { child_epic_id: childId, move_before_id: before, move_after_id: after } = call.params;
    await this.children.reorder(call.viewer, toEpicKey(call), childId, { before, after });
    return this.queries.list(call.viewer, toEpicKey(call), call.page);
  }

  @Endpoint('DELETE', ':child_epic_id', {
    ...single,
    about: 'Removes an epic from its parent and returns it.',
    params: IdentifyChildEpic,
    answers: one(listedEpicShape.presenter),
    fails: [404, 429],
  })
  async remove(call: ChildEpicCall<IdentifyChildEpic>): Promise<JsonText> {
    return new JsonText(await this.children.remove(call.viewer, toEpicKey(call), call.params.child_epic_id));
  }
}

function toEpicKey({ params, within }: ChildEpicCall<ListChildEpics>): EpicKey {
  return { group: within, iid: params.epic_iid };
}
