import { Controller } from '@nestjs/common';
import { accessRequestChanged, groupDeleted } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { AccessRequestTodos } from './access-request-todos';
import { attachedTodos } from './todo-removal';

/** Raises and completes to-dos about access requests. Source: reference work-tracking 6.3, 6.4. */
@Controller()
export class AccessRequestsConsumer {
  constructor(
    private readonly todos: AccessRequestTodos,
    private readonly directory: Directory,
  ) {}

  @Consume(accessRequestChanged, { effect: 'raise-todos' })
  async changed({ tx, events }: EffectBatch<typeof accessRequestChanged>): Promise<void> {
    await this.directory.assertCurrentFor(tx, events);
    const changes = events.map(({ id: eventId, data }) => ({
      eventId,
      userId: data.user_id,
      sourceType: data.source_type,
      sourceId: data.source_id,
      at: data.changed_at,
      isRequest: data.state === 'requested',
    }));
    // A request of the same user after the settlement is newer and stays.
    await this.todos.raiseTodos(
      tx,
      changes.filter(({ isRequest }) => isRequest),
    );
    await this.todos.settleTodos(
      tx,
      changes.filter(({ isRequest }) => !isRequest),
    );
  }

  @Consume(groupDeleted, { effect: 'drop-todos' })
  async groupDeleted({ tx, events }: EffectBatch<typeof groupDeleted>): Promise<void> {
    const ids = events.map((event) => event.data.group_id);
    await this.directory.assertDeleted(tx, 'group', events, ids);
    await attachedTodos.deleteRows(tx, 'group', ids);
  }
}
