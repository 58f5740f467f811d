import { Controller } from '@nestjs/common';
import type { Call, ProjectScope } from '@rookery/api-v4';
import { created, Endpoint, none, one, page, project } from '@rookery/api-v4';
import type { Refusals } from '@rookery/api-v4';
import { NotFound, Refused } from '@rookery/kernel';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { whileFlagsAreOn } from '../feature-flags-clients/while-flags-are-on.permission';
import type { UserList } from './user-list.entity';
import { userListPresenter } from './user-list.presenter';
import type { ShownUserList } from './user-list.presenter';
import { CreateUserList, ListUserLists, OneUserList, UpdateUserList } from './user-lists.dto';
import { UserListsService } from './user-lists.service';

/** Who may not is told so before parameters are judged, and what is wrong with those stands under `message`. */
const REFUSALS: Refusals = {
  authorizeFirst: true,
  parametersAs: (problems) => new Refused(problems.join(', '), { verbatim: true }),
};
const SHARED = {
  source: 'requirements 3 §4 Feature flag user lists; reference packages-and-admin 9.1',
  within: project(),
  may: whileFlagsAreOn('developer'),
  refusals: REFUSALS,
} as const;
const BASE = '/projects/:id/feature_flags_user_lists';

type Of<P> = Call<P, ProjectScope, SignedInViewer>;

@Controller()
export class UserListsController {
  constructor(private readonly lists: UserListsService) {}

  @Endpoint('GET', BASE, {
    ...SHARED,
    about: 'Lists of users for the feature flags of a project, oldest first.',
    params: ListUserLists,
    answers: page(userListPresenter),
  })
  async list({ within, params, page }: Of<ListUserLists>): Promise<Page<ShownUserList>> {
    const found = await this.lists.list(within.id, params, page);
    return { ...found, rows: found.rows.map((list) => ({ list, project: within })) };
  }

  @Endpoint('POST', BASE, {
    ...SHARED,
    about: 'Makes a list of users.',
    params: CreateUserList,
    answers: created(userListPresenter),
  })
  create({ within, params, viewer }: Of<CreateUserList>): Promise<ShownUserList> {
    return shown(within, this.lists.create(within.id, params, viewer.userId));
  }

  @Endpoint('GET', `${BASE}/:iid`, {
    ...SHARED,
    about: 'One list of users.',
    params: OneUserList,
    answers: one(userListPresenter),
    fails: [404],
  })
  show({ within, params }: Of<OneUserList>): Promise<ShownUserList> {
    return shown(within, this.lists.show(within.id, iidOf(params)));
  }

  @Endpoint('PUT', `${BASE}/:iid`, {
    ...SHARED,
    about: 'Changes what is sent of a list of users.',
    params: UpdateUserList,
    answers: one(userListPresenter),
    fails: [404],
  })
  update({ within, params: { iid, ...change }, viewer }: Of<UpdateUserList>): Promise<ShownUserList> {
    return shown(within, this.lists.update(within.id, iidOf({ iid }), change, viewer.userId));
  }

  @Endpoint('DELETE', `${BASE}/:iid`, {
    ...SHARED,
    about: 'Removes a list of users that no strategy has.',
    params: OneUserList,
    answers: none(),
    fails: [404, 409],
  })
  remove({ within, params, viewer }: Of<OneUserList>): Promise<void> {
    return this.lists.remove(within.id, iidOf(params), viewer.userId);
  }
}

/** Errors: NotFound for a text that is no number. */
function iidOf({ iid }: OneUserList): number {
  const number = /^\d{1,15}$/.test(iid) ? Number(iid) : 0;
  if (number === 0) throw new NotFound();
  return number;
}

async function shown(project: ProjectScope, list: Promise<UserList>): Promise<ShownUserList> {
  return { list: await list, project };
}
