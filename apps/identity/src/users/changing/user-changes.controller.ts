import { Controller } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import { administrator, Endpoint, json, one, signedIn } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { InvalidParameters, NotFound } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import { userDetail } from '../user.presenter';
import type { UserRow } from '../user.entity';
import { UsersQueries } from '../users.queries';
import { UpdateOwnAvatar, UpdateUser } from '../users.dto';
import { UserChangesService } from './user-changes.service';

@Controller()
export class UserChangesController {
  constructor(
    private readonly changes: UserChangesService,
    private readonly queries: UsersQueries,
    private readonly links: Links,
  ) {}

  @Endpoint('PUT', '/users/:id', {
    about: 'Changes a user. A new username also moves the personal namespace with its projects.',
    source: 'reference identity-and-import 10.1',
    may: administrator(),
    params: UpdateUser,
    fails: [409],
    answers: one(userDetail),
  })
  async update(call: Call<UpdateUser, undefined, SignedInViewer>): Promise<UserRow> {
    await this.changes.update(call.params.id, call.params);
    const user = await this.queries.findUser(call.params.id);
    if (!user) throw new NotFound('User');
    return user;
  }

  @Endpoint('PUT', '/user/avatar', {
    about: "Changes or removes the caller's avatar.",
    source: 'reference identity-and-import 2.6',
    may: signedIn(),
    params: UpdateOwnAvatar,
    answers: json<{ avatar_url: string | null }>({
      type: 'object',
      properties: { avatar_url: { type: ['string', 'null'] } },
      required: ['avatar_url'],
    }),
  })
  async changeOwnAvatar({ viewer, params }: Call<UpdateOwnAvatar, undefined, SignedInViewer>) {
    if (params.avatar === undefined) throw new InvalidParameters(['avatar is missing']);
    const path = await this.changes.changeOwnAvatar(viewer.userId, params.avatar);
    return { avatar_url: path === null ? null : this.links.webUrl(path.slice(1)) };
  }
}
