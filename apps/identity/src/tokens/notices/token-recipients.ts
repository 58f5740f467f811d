import { Injectable } from '@nestjs/common';
import type { Tx } from '@rookery/persistence';

/** Bounds: recipients per token. */
const MOST = 100;

const TODAY = `(statement_timestamp() at time zone 'UTC')::date`;

/**
 * SQL: recipients of notices about a token. None for an impersonation token. A user's own token: the user. The bot of a
 * project: maintainers and owners; that of a group, and service accounts: owners. Direct members come first; inherited
 * ones only if there are no direct ones.
 */
const RECIPIENTS = `
  with wanted as (
    select t.id as token_id, t.user_id, u.kind, u.state, coalesce(t.resource_type, 'group') as resource_type,
      coalesce(t.resource_id, sa.group_id) as resource_id
    from access_tokens t join users u on u.id = t.user_id left join service_accounts sa on sa.user_id = u.id
    where t.id = any($1) and not t.impersonation
  ), placed as (
    select w.*, case when w.resource_type = 'group' then 'namespace' else 'project' end as source_type,
      (select n.traversal_ids from namespaces n where n.id = case when w.resource_type = 'group' then w.resource_id
        else (select p.namespace_id from projects p where p.id = w.resource_id) end) as traversal_ids
    from wanted w
  )
  select w.token_id, coalesce(array_agg(r.user_id order by r.user_id) filter (where r.user_id is not null), '{}') as user_ids
  from placed w left join lateral (
    select w.user_id where w.kind = 'human' and w.state = 'active'
    union
    (select held.user_id from (
      select m.user_id, rank() over (order by (m.source_type = w.source_type and m.source_id = w.resource_id) desc) as place
      from members m join users u on u.id = m.user_id and u.kind = 'human' and u.state = 'active'
      where w.kind <> 'human'
        and ((m.source_type = 'namespace' and m.source_id = any(w.traversal_ids))
          or (w.source_type = 'project' and m.source_type = 'project' and m.source_id = w.resource_id))
        and m.access_level >= case when w.source_type = 'project' then 40 else 50 end
        and (m.expires_on is null or m.expires_on > ${TODAY})
    ) held where held.place = 1 limit ${MOST})
  ) r on true
  group by w.token_id`;

/** Recipients of notices about tokens. Source: reference identity-and-import 4.5. */
@Injectable()
export class TokenNoticeRecipients {
  /** Maps each token to the ids of the users who receive its notices. */
  async listByToken(tx: Tx, tokenIds: readonly number[]): Promise<ReadonlyMap<number, number[]>> {
    const rows = await tx.query<{ token_id: number; user_ids: number[] }>(RECIPIENTS, [tokenIds]);
    return new Map(rows.map((row) => [row.token_id, row.user_ids]));
  }
}
