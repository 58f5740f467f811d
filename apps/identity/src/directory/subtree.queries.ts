import { prepareStatement } from '@rookery/persistence';
import type { PreparedStatement } from '@rookery/persistence';

/** Returns the ids of the namespace $1 and of all namespaces below it. */
export const SUBTREE = prepareStatement(
  'directory_subtree',
  'select n.id from namespaces n where n.traversal_ids @> array[$1::bigint]',
);

/** Memberships of, and shares with, the sources of a relation `source (type, id)`. */
const OF_SOURCES = `select 'membership' as kind, m.id from members m join source on source.type = m.source_type and source.id = m.source_id
  union all select 'share', s.id from shares s join source on source.type = s.source_type and source.id = s.source_id`;

const NAMESPACES_AND_WITHIN = `source as (
    select 'namespace' as type, id from tree
    union all select 'project', p.id from projects p where p.namespace_id in (select id from tree)
  )
  select source.type as kind, source.id from source
  union all ${OF_SOURCES}
  union all select 'share', s.id from shares s where s.group_id in (select id from tree)`;

/**
 * Statements for the rows that are deleted together with a row. They return kind and id, possibly with duplicates. $1
 * is the id of the deleted row.
 */
export const BELONGINGS: Readonly<Record<'user' | 'namespace' | 'project', PreparedStatement>> = {
  project: prepareStatement(
    'directory_belongings_of_project',
    `with source as (select 'project' as type, $1::bigint as id) ${OF_SOURCES}`,
  ),
  namespace: prepareStatement(
    'directory_belongings_of_namespace',
    `with tree as (select n.id from namespaces n where n.traversal_ids @> array[$1::bigint]), ${NAMESPACES_AND_WITHIN}`,
  ),
  user: prepareStatement(
    'directory_belongings_of_user',
    `with tree as (select n.id from namespaces n where n.owner_id = $1::bigint), ${NAMESPACES_AND_WITHIN}
     union all select 'membership', m.id from members m where m.user_id = $1::bigint
     union all select 'project', p.id from projects p where p.creator_id = $1::bigint
     union all select 'token', t.id from access_tokens t where t.user_id = $1::bigint`,
  ),
};

/** Selects the projects of a namespace and of all below it. `$1` is the namespace. */
export const PROJECTS_BELOW = prepareStatement(
  'directory_projects_below',
  `select p.id from projects p join namespaces home on home.id = p.namespace_id
   where home.traversal_ids @> array[$1::bigint]`,
);

/** Selects the namespaces that are marked for deletion. `$1` are ids. */
export const MARKED_ABOVE = prepareStatement(
  'directory_marked_above',
  'select id from namespaces where id = any($1::bigint[]) and marked_for_deletion_on is not null',
);
