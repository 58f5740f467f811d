import { Controller } from '@nestjs/common';
import type { Call, EndpointOptions, JsonText } from '@rookery/api-v4';
import { administrator, Endpoint, json } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { IdentifyUser } from '../users.dto';
import type { StateAnswer } from './user-state-rules';
import { UserStatesService } from './user-states.service';

type StateCall = Call<IdentifyUser, undefined, SignedInViewer>;
type StateAnswerPromise = Promise<StateAnswer>;

const stateEndpointOptions = (
  about: string,
): EndpointOptions<IdentifyUser, undefined, StateAnswer | JsonText, SignedInViewer> => ({
  about,
  source: 'reference identity-and-import 10.1',
  may: administrator(),
  params: IdentifyUser,
  answers: json<StateAnswer>({ type: ['boolean', 'null'] }, { status: 201 }),
});

@Controller()
export class UserStatesController {
  constructor(private readonly states: UserStatesService) {}

  @Endpoint('POST', '/users/:id/activate', stateEndpointOptions('Reactivates a deactivated user.'))
  activate(call: StateCall): StateAnswerPromise {
    return this.states.changeState(call.viewer, call.params.id, 'activate');
  }

  @Endpoint('POST', '/users/:id/approve', stateEndpointOptions('Approves a user who is waiting for approval.'))
  approve(call: StateCall): StateAnswerPromise {
    return this.states.changeState(call.viewer, call.params.id, 'approve');
  }

  @Endpoint('POST', '/users/:id/ban', stateEndpointOptions('Bans an active user.'))
  ban(call: StateCall): StateAnswerPromise {
    return this.states.changeState(call.viewer, call.params.id, 'ban');
  }

  @Endpoint(
    'POST',
    '/users/:id/block',
    stateEndpointOptions('Blocks a user. Returns null if the user is already blocked.'),
  )
  block(call: StateCall): StateAnswerPromise {
    return this.states.changeState(call.viewer, call.params.id, 'block');
  }

  @Endpoint(
    'POST',
    '/users/:id/deactivate',
    stateEndpointOptions('Deactivates a dormant user. Returns null if the user is already deactivated.'),
  )
  deactivate(call: StateCall): StateAnswerPromise {
    return this.states.changeState(call.viewer, call.params.id, 'deactivate');
  }

  @Endpoint('POST', '/users/:id/unban', stateEndpointOptions('Lifts a ban.'))
  unban(call: StateCall): StateAnswerPromise {
    return this.states.changeState(call.viewer, call.params.id, 'unban');
  }

  @Endpoint(
    'POST',
    '/users/:id/unblock',
    stateEndpointOptions('Unblocks a user. Returns false if the user is not blocked.'),
  )
  unblock(call: StateCall): StateAnswerPromise {
    return this.states.changeState(call.viewer, call.params.id, 'unblock');
  }
}
