import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { oneByOne } from '../../talk/mentions/quick-actions/action-set';
import type { Outcome } from '../../talk/mentions/quick-actions/action-set';
import { QuickActionsService } from '../../talk/mentions/quick-actions/quick-actions.service';
import type { NamedNoteable } from '../../base/noteables/reader';
import { SubscriptionsService } from './subscriptions.service';

const SAID = {
  subscribe: 'You follow this from now on.',
  unsubscribe: 'You follow this no more.',
} as const;

/** Commands about following things. Source: reference work-tracking 2.6, 9.7. */
@Injectable()
export class SubscriptionActions {
  constructor(
    actions: QuickActionsService,
    private readonly subscriptions: SubscriptionsService,
  ) {
    actions.declare({
      names: Object.keys(SAID),
      fits: ({ abilities }) => abilities.includes('subscriptions'),
      plan:
        ({ viewer }, commands) =>
        (tx, on) =>
          oneByOne(tx, commands, ({ name }) => this.follow(tx, viewer, on, name as keyof typeof SAID)),
    });
  }

  private async follow(tx: Tx, viewer: SignedInViewer, on: NamedNoteable, name: keyof typeof SAID): Promise<Outcome> {
    await this.subscriptions.followIn(tx, viewer, on, name === 'subscribe');
    return { said: SAID[name], changes: { subscription_event: name } };
  }
}
