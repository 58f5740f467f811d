import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { executeCommandsInSavepoints } from '../../talk/mentions/quick-actions/action-set';
import type { ActionResult } from '../../talk/mentions/quick-actions/action-set';
import { QuickActionsService } from '../../talk/mentions/quick-actions/quick-actions.service';
import type { NoteableReference } from '../../base/noteables/reader';
import { SubscriptionsService } from './subscriptions.service';

const MESSAGES = {
  subscribe: 'You follow this from now on.',
  unsubscribe: 'You follow this no more.',
} as const;

/** Quick actions that subscribe to noteables and unsubscribe. Source: reference work-tracking 2.6, 9.7. */
@Injectable()
export class SubscriptionQuickActions {
  constructor(
    actions: QuickActionsService,
    private readonly subscriptions: SubscriptionsService,
  ) {
    actions.declareSet({
      names: Object.keys(MESSAGES),
      supportsKind: ({ abilities }) => abilities.includes('subscriptions'),
      plan:
        ({ viewer }, commands) =>
        (tx, on) =>
          executeCommandsInSavepoints(tx, commands, ({ name }) =>
            this.setSubscription(tx, viewer, on, name as keyof typeof MESSAGES),
          ),
    });
  }

  private async setSubscription(
    tx: Tx,
    viewer: SignedInViewer,
    on: NoteableReference,
    name: keyof typeof MESSAGES,
  ): Promise<ActionResult> {
    await this.subscriptions.setInTransaction(tx, viewer, on, name === 'subscribe');
    return { said: MESSAGES[name], changes: { subscription_event: name } };
  }
}
