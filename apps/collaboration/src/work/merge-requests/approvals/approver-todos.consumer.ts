import { Controller } from '@nestjs/common';
import { mergeRequestCreated } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { statement } from '@rookery/persistence';
import { parentAccessSql } from '../../../base/noteables/noteable-kinds';
import { resolveEventCauseTime, findActorId } from '../../../base/noteables/subjects';
import { effectiveNotificationSettingSql } from '../../../following/notification-settings/effective-setting-sql';
import { TodoRecorder } from '../../../following/todos/todo-recorder';
import { mergeRequestKind } from '../merge-request.kind';
import { NAMED_APPROVER_SQL, OF_MERGE_REQUEST_SQL, RULES_HAVE_EFFECT_SQL } from './approval-sql';

interface Approver {
  readonly merge_request_id: number;
  readonly user_id: number;
}
/**
 * Users whom rules of open merge requests name as approvers and whose effective setting has the switch `approver` on. Few
 * users have any such setting, so it is looked for before their access and their effective setting are read.
 */
const findApprovers = statement<{ merge_requests: readonly number[] }, Approver>(
  'approvers_to_notify',
  `select i.id as merge_request_id, u.id as user_id
   from merge_requests i
   cross join lateral (
     select distinct named.user_id from approval_rules r cross join lateral ${NAMED_APPROVER_SQL} named
     where ${OF_MERGE_REQUEST_SQL} and r.rule_type = 'regular' and exists (select 1 from notification_settings s
       where s.user_id = named.user_id and s.level = 'custom' and (s.switches ->> 'approver')::boolean)) approver
   join directory_users u on u.id = approver.user_id and u.id <> i.author_id
   join lateral ${parentAccessSql(mergeRequestKind, { user: 'u.id', isAdmin: 'u.admin', isExternal: 'u.external' })} a on true
   ${effectiveNotificationSettingSql(mergeRequestKind)}
   where i.id = any(:merge_requests::bigint[]) and i.state = 'opened' and ${RULES_HAVE_EFFECT_SQL}
     and setting.level = 'custom' and (setting.switches ->> 'approver')::boolean
   order by i.id, u.id`,
);

/** To-dos for approvers of new merge requests who asked for them. Source: reference work-tracking 6.3. */
@Controller()
export class ApproverTodosConsumer {
  constructor(
    private readonly todos: TodoRecorder,
    private readonly directory: Directory,
  ) {}

  @Consume(mergeRequestCreated, { effect: 'raise-approver-todos' })
  async raiseTodos({ tx, events }: EffectBatch<typeof mergeRequestCreated>): Promise<void> {
    await this.directory.assertCurrentFor(tx, events);
    const approvers = await tx.run(findApprovers, { merge_requests: events.map(({ aggregateId }) => aggregateId) });
    const candidates = events.flatMap((event) => {
      const target = { targetType: mergeRequestKind.type, targetId: event.aggregateId, noteId: null };
      const cause = {
        eventId: event.id,
        authorId: findActorId(event),
        at: resolveEventCauseTime(event, event.data.created_at),
      };
      const ofEvent = approvers.filter((one) => one.merge_request_id === event.aggregateId);
      return ofEvent.map(({ user_id: userId }) => {
        return { ...cause, ...target, userId, action: 'added_approver' as const };
      });
    });
    await this.todos.raiseTodos(tx, candidates);
  }
}
