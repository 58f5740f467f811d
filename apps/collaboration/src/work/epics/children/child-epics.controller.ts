import { Controller } from '@nestjs/common';
import { ability, created, Endpoint, group, JsonText, one, page } from '@rookery/api-v4';
import type { Call, GroupScope, JsonPage } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { epicPolicy } from '../epic.policy';
import { listedEpicShape } from '../epic.shape';
import type { NamedEpic } from '../issues/epic-issues.queries';
import { childEpicLinkShape } from './child-epic.shape';
import { CreateChildEpic, ListChildEpics, OneChildEpic, ReorderChildEpic } from './child-epics.dto';
import { ChildEpicsQueries } from './child-epics.queries';
import { ChildEpicsService } from './child-epics.service';

type ChildCall<P> = Call<P, GroupScope, SignedInViewer>;

/** Where the plan has epics below epics; who may do more is asked once the epic is found. */
const mayNest = ability('epic.nest', ({ within }: ChildCall<unknown>) => epicPolicy.mayNest(within), {
  signedIn: true,
});
/** One widely used client asks for `links`. */
const ALIASES = ['groups/:id/-/epics/:epic_iid/epics', 'groups/:id/epics/:epic_iid/links'];
const many = {
  source: 'reference work-tracking 5.7',
  within: group('id', 'copy'),
  may: mayNest,
  fails: [404],
  aliases: ALIASES,
} as const;
const single = { ...many, aliases: ALIASES.map((alias) => `${alias}/:child_epic_id`) } as const;

/** Epics below epics. */
@Controller('groups/:id/epics/:epic_iid/epics')
export class ChildEpicsController {
  constructor(
    private readonly queries: ChildEpicsQueries,
    private readonly children: ChildEpicsService,
  ) {}

  @Endpoint('GET', '', {
    ...many,
    about: 'Lists the children of an epic, as far as the caller may know of them, in its order.',
    params: ListChildEpics,
    answers: page(listedEpicShape.presenter),
  })
  list(call: ChildCall<ListChildEpics>): Promise<JsonPage> {
    return this.queries.page(call.viewer, named(call), call.page);
  }

  @Endpoint('POST', '', {
    ...many,
    about: 'Opens an epic below another, before its other children.',
    params: CreateChildEpic,
    answers: created(childEpicLinkShape.presenter),
    fails: [404, 409, 429],
  })
  async create(call: ChildCall<CreateChildEpic>): Promise<JsonText> {
    const { title, confidential } = call.params;
    return new JsonText(await this.children.create(call.viewer, named(call), { title, confidential }));
  }

  @Endpoint('POST', ':child_epic_id', {
    ...single,
    about: 'Puts an epic below another, before its other children; one of another parent is taken from there.',
    params: OneChildEpic,
    answers: created(listedEpicShape.presenter),
    fails: [404, 409, 429],
  })
  async assign(call: ChildCall<OneChildEpic>): Promise<JsonText> {
    return new JsonText(await this.children.assign(call.viewer, named(call), call.params.child_epic_id));
  }

  @Endpoint('PUT', ':child_epic_id', {
    ...single,
    about: 'Puts a child of an epic behind one and before another, and lists them.',
    params: ReorderChildEpic,
    answers: page(listedEpicShape.presenter),
  })
  async reorder(call: ChildCall<ReorderChildEpic>): Promise<JsonPage> {
    const { child_epic_id: childId, move_before_id: before, move_after_id: after } = call.params;
    await this.children.reorder(call.viewer, named(call), childId, { before, after });
    return this.queries.page(call.viewer, named(call), call.page);
  }

  @Endpoint('DELETE', ':child_epic_id', {
    ...single,
    about: 'Takes an epic out from below its parent and answers it.',
    params: OneChildEpic,
    answers: one(listedEpicShape.presenter),
    fails: [404, 429],
  })
  async remove(call: ChildCall<OneChildEpic>): Promise<JsonText> {
    return new JsonText(await this.children.remove(call.viewer, named(call), call.params.child_epic_id));
  }
}

function named({ params, within }: ChildCall<ListChildEpics>): NamedEpic {
  return { group: within, iid: params.epic_iid };
}
