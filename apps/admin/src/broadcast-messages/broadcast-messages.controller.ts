import { Controller, Inject } from '@nestjs/common';
import type { Call } from '@rookery/api-v4';
import { administrator, anyone, actorAndParent, created, Endpoint, noContent, one, page } from '@rookery/api-v4';
import type { Clock, Page } from '@rookery/kernel';
import { CLOCK } from '@rookery/kernel';
import type { Collection } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import type { BroadcastMessageInput } from './broadcast-message.entity';
import { BroadcastMessage } from './broadcast-message.entity';
import { broadcastMessagePresenter } from './broadcast-message.presenter';
import { broadcastMessages } from './broadcast-messages';
import {
  CreateBroadcastMessage,
  ListDisplayedBroadcastMessages,
  IdentifyBroadcastMessage,
  UpdateBroadcastMessage,
} from './broadcast-messages.dto';
import { DisplayedMessagesService } from './displayed-messages.service';

const SOURCE = 'requirements 3 §4 Broadcast messages';

@Controller()
export class BroadcastMessagesController {
  private readonly messages: Collection<BroadcastMessage>;

  constructor(
    work: Work,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly displayed: DisplayedMessagesService,
  ) {
    this.messages = broadcastMessages.on(work);
  }

  @Endpoint('GET', '/broadcast_messages', {
    about: 'Lists all broadcast messages, newest first.',
    source: SOURCE,
    may: anyone(),
    answers: page(broadcastMessagePresenter),
  })
  list(call: Call): Promise<Page<BroadcastMessage>> {
    return this.messages.list({ page: call.page });
  }

  @Endpoint('GET', '/broadcast_messages/displayed', {
    about: 'Lists the active messages that target the given page and the caller.',
    source: 'reference packages-and-admin 7',
    may: anyone(),
    params: ListDisplayedBroadcastMessages,
    answers: page(broadcastMessagePresenter),
    fails: [404],
  })
  listDisplayed({
    params,
    viewer,
    page: asked,
  }: Call<ListDisplayedBroadcastMessages>): Promise<Page<BroadcastMessage>> {
    return this.displayed.list(params, viewer, asked);
  }

  @Endpoint('GET', '/broadcast_messages/:id', {
    about: 'Fetches one broadcast message.',
    source: SOURCE,
    may: anyone(),
    params: IdentifyBroadcastMessage,
    answers: one(broadcastMessagePresenter),
    fails: [404],
  })
  show(call: Call<IdentifyBroadcastMessage>): Promise<BroadcastMessage> {
    return this.messages.find(call.params.id);
  }

  @Endpoint('POST', '/broadcast_messages', {
    about: 'Creates a broadcast message.',
    source: SOURCE,
    may: administrator(),
    params: CreateBroadcastMessage,
    answers: created(broadcastMessagePresenter),
  })
  create(call: Call<CreateBroadcastMessage>): Promise<BroadcastMessage> {
    const message = BroadcastMessage.create(toBroadcastMessageInput(call.params), this.clock.now());
    return this.messages.create(message, actorAndParent(call));
  }

  @Endpoint('PUT', '/broadcast_messages/:id', {
    about: 'Changes the attributes that are sent.',
    source: SOURCE,
    may: administrator(),
    params: UpdateBroadcastMessage,
    answers: one(broadcastMessagePresenter),
    fails: [404],
  })
  update(call: Call<UpdateBroadcastMessage>): Promise<BroadcastMessage> {
    const change = (message: BroadcastMessage) =>
      message.change(toBroadcastMessageInput(call.params), this.clock.now());
    return this.messages.change(call.params.id, change, actorAndParent(call));
  }

  @Endpoint('DELETE', '/broadcast_messages/:id', {
    about: 'Deletes a broadcast message.',
    source: 'requirements 3 §4 Broadcast messages; reference packages-and-admin 7',
    may: administrator(),
    params: IdentifyBroadcastMessage,
    answers: noContent(),
    fails: [404],
  })
  async remove(call: Call<IdentifyBroadcastMessage>): Promise<void> {
    await this.messages.remove(call.params.id, actorAndParent(call));
  }
}

function toBroadcastMessageInput({
  target_access_levels: levels,
  ...rest
}: Partial<CreateBroadcastMessage>): BroadcastMessageInput {
  return levels === undefined ? rest : { ...rest, target_access_levels: levels.map(Number) };
}
