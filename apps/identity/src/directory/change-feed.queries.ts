import { prepareStatement } from '@rookery/persistence';
import { projectAccessLevelSql, groupAccessLevelSql } from '@rookery/directory';
import { OWN_TABLES } from './reach/reach-sql';
import { directoryRowStateSql } from './change-states';
import { isReaderPositionInHistorySql } from './history/histories.queries';

/**
 * Reads the log from version $1 on, in one snapshot, as the JSON of the answer: whole versions, with at least $2
 * entries if there are as many. A reader of another epoch ($3) gets the log from the beginning. $4 is the reader's life
 * of the log.
 */
export const CHANGES = prepareStatement(
  'directory_changes_after',
  `with head as (
     select version, epoch, life, compacted_to,
       ${isReaderPositionInHistorySql({ version: '$1::bigint', epoch: '$3::text', life: '$4::text' })} as is_known,
       case when epoch = $3::text then $1::bigint else 0 end as since from directory_head
   ), up_to as (
     select coalesce((
       select c.version from directory_changes c where c.version > head.since
       order by c.version, c.ordinal offset $2::integer - 1 limit 1
     ), head.version) as version from head
   )
   select head.version, head.epoch, head.is_known, up_to.version as up_to, json_build_object(
     'epoch', head.epoch, 'life', head.life, 'head', head.version, 'upTo', up_to.version, 'compactedTo', head.compacted_to,
     'changes', coalesce((
       select json_agg(json_build_object('version', c.version, 'kind', c.kind, 'id', c.entity_id, 'state', c.state)
         order by c.version, c.ordinal)
       from directory_changes c where c.version > head.since and c.version <= up_to.version
     ), '[]'::json))::text as answer
   from head, up_to`,
);

const decisionAnswerColumnSql = (project: string, namespace: string, level: string): string =>
  `json_build_object('version', h.version, 'epoch', h.epoch, 'project', ${project}, 'namespace', ${namespace},
     'access_level', ${level})::text as answer`;
// Users who are not active can see nothing. $1 is null for an anonymous caller.
const admitted = `($1::bigint is null or exists (select 1 from users viewer where viewer.id = $1::bigint and viewer.state = 'active'))`;

const PROJECT = `select ${decisionAnswerColumnSql(
  `case when p.id is not null then ${directoryRowStateSql('project', 'p')} end`,
  `case when n.id is not null then ${directoryRowStateSql('namespace', 'n')} end`,
  projectAccessLevelSql({ user: '$1::bigint', project: 'p.id', namespace: 'n', tables: OWN_TABLES }),
)}
  from directory_head h left join (projects p join namespaces n on n.id = p.namespace_id) on ${admitted} and`;

const GROUP = `select ${decisionAnswerColumnSql(
  'null::json',
  `case when n.id is not null then ${directoryRowStateSql('namespace', 'n')} end`,
  groupAccessLevelSql({ user: '$1::bigint', namespace: 'n', tables: OWN_TABLES }),
)}
  from directory_head h left join namespaces n on ${admitted} and`;

/**
 * Statements that give the same decision as an up-to-date copy. $1 is the viewer's id or null, followed by the
 * reference.
 */
export const DECIDE = {
  projectById: prepareStatement('directory_decide_project_by_id', `${PROJECT} p.id = $2::bigint`),
  /** $2 full path of the namespace, $3 path of the project. */
  projectByPath: prepareStatement(
    'directory_decide_project_by_path',
    `${PROJECT} lower(n.full_path) = lower($2::text) and lower(p.path) = lower($3::text)`,
  ),
  groupById: prepareStatement('directory_decide_group_by_id', `${GROUP} n.id = $2::bigint`),
  groupByPath: prepareStatement('directory_decide_group_by_path', `${GROUP} lower(n.full_path) = lower($2::text)`),
};
