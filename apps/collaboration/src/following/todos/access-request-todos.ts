import { Injectable } from '@nestjs/common';
import { statement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { accessRequestReceiversSql } from './access-request-receivers';

/** An access request to a group or project that was made or settled. `at` is in ISO 8601. */
export interface AccessRequestChange {
  readonly eventId: string;
  readonly userId: number;
  readonly sourceType: 'group' | 'project';
  readonly sourceId: number;
  readonly at: string;
}

interface AccessRequestChangeParams {
  readonly events: readonly string[];
  readonly users: readonly number[];
  readonly types: readonly string[];
  readonly sources: readonly number[];
  readonly times: readonly string[];
}

const CHANGES = `unnest(:events::uuid[], :users::bigint[], :types::text[], :sources::bigint[], :times::timestamptz[])
       as r (event_id, user_id, source_type, source_id, at)`;

/** To-dos for users who may accept the request. */
const insertPendingTodos = statement<AccessRequestChangeParams, never>(
  'todos_raise_access_requests',
  `insert into todos (user_id, author_id, action, project_id, group_id, target_type, target_id, source_event_id, created_at, updated_at)
   select receiver.user_id, r.user_id, 'member_access_requested', p.id, case when p.id is null then home.id end,
     case when p.id is null then 'Namespace' else 'Project' end, r.source_id, r.event_id, r.at, r.at
   from ${CHANGES}
   left join directory_projects p on r.source_type = 'project' and p.id = r.source_id
   join directory_namespaces home on home.id = case when r.source_type = 'project' then p.namespace_id else r.source_id end
   cross join lateral ${accessRequestReceiversSql('r.user_id')} receiver
   on conflict do nothing`,
);

/** Completes to-dos of all users about requests that were settled later. */
const completeTodos = statement<AccessRequestChangeParams, never>(
  'todos_settle_access_requests',
  `update todos t set state = 'done', updated_at = now() from ${CHANGES}
   where t.author_id = r.user_id and t.action = 'member_access_requested' and t.state = 'pending' and t.target_id = r.source_id
     and t.target_type = case when r.source_type = 'project' then 'Project' else 'Namespace' end and t.created_at <= r.at`,
);

/** To-dos about access requests. Source: reference work-tracking 6.3, 6.4. */
@Injectable()
export class AccessRequestTodos {
  async raiseTodos(tx: Tx, requests: readonly AccessRequestChange[]): Promise<void> {
    if (requests.length > 0) await tx.run(insertPendingTodos, toChangeParams(requests));
  }

  async settleTodos(tx: Tx, requests: readonly AccessRequestChange[]): Promise<void> {
    if (requests.length > 0) await tx.run(completeTodos, toChangeParams(requests));
  }
}

function toChangeParams(changes: readonly AccessRequestChange[]): AccessRequestChangeParams {
  return {
    events: changes.map((one) => one.eventId),
    users: changes.map((one) => one.userId),
    types: changes.map((one) => one.sourceType),
    sources: changes.map((one) => one.sourceId),
    times: changes.map((one) => one.at),
  };
}
