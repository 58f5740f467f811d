import { Controller } from '@nestjs/common';
import type { Call, KeysetPage } from '@rookery/api-v4';
import { administrator, anyone, created, Endpoint, keysetPage, one, page, signedIn } from '@rookery/api-v4';
import type { Page, SignedInViewer } from '@rookery/kernel';
import { Forbidden, isSignedIn, NotFound } from '@rookery/kernel';
import { currentUser, userDetail, userInList } from './user.presenter';
import type { UserRow } from './user.entity';
import { CreateUser, ListUsers, ShowUser } from './users.dto';
import { UsersQueries } from './users.queries';
import { UsersService } from './users.service';

const SOURCE = 'reference identity-and-import 10.1';
/** Filters of users that have no effect as `false`. */
const ONLY_TRUE = ['active', 'blocked'] as const;

@Controller()
export class UsersController {
  constructor(
    private readonly users: UsersService,
    private readonly queries: UsersQueries,
  ) {}

  @Endpoint('GET', '/user', {
    about: 'Returns the user of the token.',
    source: SOURCE,
    may: signedIn(),
    tokenScopes: ['read_user'],
    answers: one(currentUser),
  })
  current(call: Call<object, undefined, SignedInViewer>): Promise<UserRow> {
    return this.requireUser(call.viewer.userId);
  }

  @Endpoint('GET', '/users', {
    about: 'Lists users, newest first. Anonymous callers must filter by username.',
    source: SOURCE,
    may: anyone(),
    tokenScopes: ['read_user'],
    params: ListUsers,
    withoutEffect: ({ params }) => ONLY_TRUE.filter((name) => params[name] === false),
    fails: [403],
    answers: page(userInList, { keyset: { orderBy: ['id', 'name', 'username'], offsetCapFor: 'User' } }),
  })
  async list(call: Call<ListUsers>): Promise<Page<UserRow> | KeysetPage<UserRow>> {
    if (!isSignedIn(call.viewer) && !call.params.username) throw new Forbidden();
    const { viewer, params, keyset } = call;
    if (!keyset) return this.queries.list(viewer, params, call.page);
    const rows = await this.queries.listAfter(viewer, params, keyset.perPage, keyset.cursor);
    return keysetPage(keyset.perPage, rows, (last) => ({ cursor: this.queries.toCursor(params, last) }));
  }

  @Endpoint('GET', '/users/:id', {
    about: 'Returns a user.',
    source: SOURCE,
    may: signedIn(),
    tokenScopes: ['read_user'],
    params: ShowUser,
    answers: one(userDetail),
  })
  async show({ viewer, params }: Call<ShowUser, undefined, SignedInViewer>): Promise<UserRow> {
    if (viewer.isAdmin) return this.requireUser(params.id, params.with_custom_attributes);
    const user = await this.queries.findVisible(viewer, params.id);
    if (!user) throw new NotFound('User');
    return user;
  }

  @Endpoint('POST', '/users', {
    about: 'Creates a user with a personal namespace.',
    source: SOURCE,
    may: administrator(),
    params: CreateUser,
    fails: [409],
    answers: created(userDetail),
  })
  async create(call: Call<CreateUser, undefined, SignedInViewer>): Promise<UserRow> {
    return this.requireUser(await this.users.create(call.viewer, call.params));
  }

  private async requireUser(id: number, withAttributes = false): Promise<UserRow> {
    const user = await this.queries.findUser(id, withAttributes);
    if (!user) throw new NotFound('User');
    return user;
  }
}
