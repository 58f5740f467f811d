import { Controller } from '@nestjs/common';
import type { Call, ProjectScope } from '@rookery/api-v4';
import { created, Endpoint, noContent, one, page, project } from '@rookery/api-v4';
import type { Refusals } from '@rookery/api-v4';
import { NotFound, Refused } from '@rookery/kernel';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { whileFeatureFlagsAreOn } from '../feature-flags-clients/while-flags-are-on.permission';
import type { UserList } from './user-list.entity';
import { userListPresenter } from './user-list.presenter';
import type { UserListView } from './user-list.presenter';
import { CreateUserList, ListUserLists, IdentifyUserList, UpdateUserList } from './user-lists.dto';
import { FeatureFlagsUserListsService } from './user-lists.service';

/** Checks permission before parameters. Parameter errors are answered under `message`. */
const REFUSALS: Refusals = {
  authorizeFirst: true,
  parametersAs: (problems) => new Refused(problems.join(', '), { verbatim: true }),
};
const SHARED = {
  source: 'requirements 3 §4 Feature flag user lists; reference packages-and-admin 9.1',
  within: project(),
  may: whileFeatureFlagsAreOn('developer'),
  refusals: REFUSALS,
} as const;
const BASE = '/projects/:id/feature_flags_user_lists';

type ProjectCall<P> = Call<P, ProjectScope, SignedInViewer>;

@Controller()
export class UserListsController {
  constructor(private readonly lists: FeatureFlagsUserListsService) {}

  @Endpoint('GET', BASE, {
    ...SHARED,
    about: "Lists the user lists of a project's feature flags, oldest first.",
    params: ListUserLists,
    answers: page(userListPresenter),
  })
  async list({ within, params, page }: ProjectCall<ListUserLists>): Promise<Page<UserListView>> {
    const found = await this.lists.list(within.id, params, page);
    return { ...found, rows: found.rows.map((list) => ({ list, project: within })) };
  }

  @Endpoint('POST', BASE, {
    ...SHARED,
    about: 'Creates a user list.',
    params: CreateUserList,
    answers: created(userListPresenter),
  })
  create({ within, params, viewer }: ProjectCall<CreateUserList>): Promise<UserListView> {
    return toUserListView(within, this.lists.create(within.id, params, viewer.userId));
  }

  @Endpoint('GET', `${BASE}/:iid`, {
    ...SHARED,
    about: 'Returns a user list.',
    params: IdentifyUserList,
    answers: one(userListPresenter),
    fails: [404],
  })
  show({ within, params }: ProjectCall<IdentifyUserList>): Promise<UserListView> {
    return toUserListView(within, this.lists.show(within.id, parseUserListIid(params)));
  }

  @Endpoint('PUT', `${BASE}/:iid`, {
    ...SHARED,
    about: 'Changes the sent fields of a user list.',
    params: UpdateUserList,
    answers: one(userListPresenter),
    fails: [404],
  })
  update({ within, params: { iid, ...change }, viewer }: ProjectCall<UpdateUserList>): Promise<UserListView> {
    return toUserListView(within, this.lists.update(within.id, parseUserListIid({ iid }), change, viewer.userId));
  }

  @Endpoint('DELETE', `${BASE}/:iid`, {
    ...SHARED,
    about: 'Deletes a user list that no strategy uses.',
    params: IdentifyUserList,
    answers: noContent(),
    fails: [404, 409],
  })
  remove({ within, params, viewer }: ProjectCall<IdentifyUserList>): Promise<void> {
    return this.lists.remove(within.id, parseUserListIid(params), viewer.userId);
  }
}

/** Errors: NotFound for a text that is not a number. */
function parseUserListIid({ iid }: IdentifyUserList): number {
  const number = /^\d{1,15}$/.test(iid) ? Number(iid) : 0;
  if (number === 0) throw new NotFound();
  return number;
}

async function toUserListView(project: ProjectScope, list: Promise<UserList>): Promise<UserListView> {
  return { list: await list, project };
}
