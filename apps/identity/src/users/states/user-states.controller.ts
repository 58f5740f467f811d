import { Controller } from '@nestjs/common';
import type { Call, EndpointOptions, JsonText } from '@rookery/api-v4';
import { administrator, Endpoint, json } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { OneUser } from '../users.dto';
import type { StateAnswer } from './user-state-rules';
import { UserStatesService } from './user-states.service';

type StateCall = Call<OneUser, undefined, SignedInViewer>;
type Answer = Promise<StateAnswer>;

const says = (about: string): EndpointOptions<OneUser, undefined, StateAnswer | JsonText, SignedInViewer> => ({
  about,
  source: 'reference identity-and-import 10.1',
  may: administrator(),
  params: OneUser,
  answers: json<StateAnswer>({ type: ['boolean', 'null'] }, { status: 201 }),
});

@Controller()
export class UserStatesController {
  constructor(private readonly states: UserStatesService) {}

  @Endpoint('POST', '/users/:id/activate', says('Lets a deactivated user in again.'))
  activate(call: StateCall): Answer {
    return this.states.change(call.viewer, call.params.id, 'activate');
  }

  @Endpoint('POST', '/users/:id/approve', says('Lets in a user who waits for it.'))
  approve(call: StateCall): Answer {
    return this.states.change(call.viewer, call.params.id, 'approve');
  }

  @Endpoint('POST', '/users/:id/ban', says('Bans an active user.'))
  ban(call: StateCall): Answer {
    return this.states.change(call.viewer, call.params.id, 'ban');
  }

  @Endpoint('POST', '/users/:id/block', says('Blocks a user; null for one who was blocked already.'))
  block(call: StateCall): Answer {
    return this.states.change(call.viewer, call.params.id, 'block');
  }

  @Endpoint('POST', '/users/:id/deactivate', says('Puts a dormant account to rest; null when it was already.'))
  deactivate(call: StateCall): Answer {
    return this.states.change(call.viewer, call.params.id, 'deactivate');
  }

  @Endpoint('POST', '/users/:id/unban', says('Lifts a ban.'))
  unban(call: StateCall): Answer {
    return this.states.change(call.viewer, call.params.id, 'unban');
  }

  @Endpoint('POST', '/users/:id/unblock', says('Unblocks a user; false for one who was not blocked.'))
  unblock(call: StateCall): Answer {
    return this.states.change(call.viewer, call.params.id, 'unblock');
  }
}
