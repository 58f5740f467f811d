import { ACCESS_LEVELS } from '@rookery/kernel';

/** Maximum number of users who are notified of one request. Source: reference work-tracking 6.3. */
const RECEIVERS = 10;
const { maintainer, owner } = ACCESS_LEVELS;

/**
 * Lateral subquery for the users who may accept an access request, with the column `user_id`. These are the newest
 * direct members with the level at the nearest place that has any, from the project or group itself upwards, or the
 * owner of the personal namespace. `home` is the alias of the group or of the project's namespace. `p` is the alias of
 * the project, with null columns for a request to a group. `requester` is an SQL expression for a user id.
 */
export function accessRequestReceiversSql(requester: string): string {
  return `(
     select able.user_id from (
       select one.user_id, one.joined, one.depth, max(one.depth) over () as nearest from (
         select m.user_id, m.id as joined, place.depth from (
           select 'project' as type, p.id, 1000000::bigint as depth where p.id is not null
           union all select 'namespace', above.id, above.depth
             from unnest(home.traversal_ids) with ordinality as above (id, depth)) place
         join directory_memberships m on m.source_type = place.type and m.source_id = place.id
         where m.access_level >= case when p.id is null then ${owner} else ${maintainer} end
           and (m.expires_on is null or m.expires_on > (statement_timestamp() at time zone 'UTC')::date)
         union all select home.owner_id, 0, 0 where home.owner_id is not null) one
       join directory_users u on u.id = one.user_id and u.state = 'active' and u.kind = 'human'
       where one.user_id <> ${requester}) able
     where able.depth = able.nearest order by able.joined desc limit ${RECEIVERS})`;
}
