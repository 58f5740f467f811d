import { Inject, Injectable } from '@nestjs/common';
import { groupAccessLevelSql } from '@rookery/directory';
import type { JsonPage, JsonPageRow, PageRequest } from '@rookery/kernel';
import { jsonPageOf } from '@rookery/kernel';
import { Database, toStatement, instantSql, ListQuery } from '@rookery/persistence';
import { Links, platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { OWN_TABLES, directlyReachedProjectsSql } from '../../directory/reach/reach-sql';
import { reachedGroupsSql, allReachedNamespacesSql } from '../../directory/reach/reached-groups-sql';

const USER = '$1::bigint';
const LEVEL = '$2::int';
/** Base URL of links. */
const BASE = '$3::text';

const userLevelInNamespaceSql = (namespace: string): string =>
  `nullif(${groupAccessLevelSql({ user: USER, namespace, tables: OWN_TABLES })}, 0)`;

const GROUP = `json_build_object('id', n.id, 'web_url', ${BASE} || 'groups/' || n.full_path, 'name', n.name,
  'parent_id', n.parent_id, 'organization_id', 1, 'access_levels', ${userLevelInNamespaceSql('n')}, 'visibility', n.visibility)`;
const NAMESPACE = `json_build_object('id', n.id, 'name', n.name, 'path', n.path, 'kind', n.kind, 'full_path', n.full_path,
  'parent_id', n.parent_id,
  'avatar_url', case when n.avatar_url like '/%' then ${BASE} || substr(n.avatar_url, 2) else n.avatar_url end,
  'web_url', ${BASE} || case when n.kind = 'group' then 'groups/' else '' end || n.full_path)`;
const PROJECT = `json_build_object('id', p.id, 'description', p.description, 'name', p.name,
  'name_with_namespace', n.full_name || ' / ' || p.name, 'path', p.path,
  'path_with_namespace', n.full_path || '/' || p.path, 'created_at', ${instantSql('p.created_at')},
  'access_levels', json_build_object(
    'project_access_level', (select m.access_level from members m where m.source_type = 'project' and m.source_id = p.id
      and m.user_id = ${USER} and (m.expires_on is null or m.expires_on > (statement_timestamp() at time zone 'UTC')::date)),
    'group_access_level', case when n.kind = 'group' then ${userLevelInNamespaceSql('n')} end),
  'visibility', p.visibility, 'web_url', ${BASE} || n.full_path || '/' || p.path, 'namespace', ${NAMESPACE})`;

const IS_GROUP = `n.id = any(array(${reachedGroupsSql({ user: USER, level: LEVEL })}))`;
const IS_PROJECT = `(p.namespace_id in (${allReachedNamespacesSql({ user: USER, level: LEVEL })})
  or p.id in (${directlyReachedProjectsSql(USER, LEVEL)}))`;

/** Groups and projects in which the holder of a token has a level. Source: reference identity-and-import 4.7. */
@Injectable()
export class TokenAssociationsQueries {
  private readonly base: string;

  constructor(
    private readonly db: Database,
    @Inject(platformSettings.token) settings: SettingsOf<typeof platformSettings>,
  ) {
    this.base = new Links(settings.externalUrl).webUrl('');
  }

  /** Returns one JSON object with both lists, each of them paged. The total is that of the longer list. */
  async list(userId: number, minLevel: number, request: PageRequest): Promise<JsonPage> {
    const values = [userId, minLevel, this.base];
    const groups = new ListQuery({ name: 'token-groups', from: 'namespaces n', carries: 'n.*', values }).where(
      IS_GROUP,
    );
    const projects = new ListQuery({
      name: 'token-projects',
      from: 'projects p',
      carries: 'p.*',
      joins: 'join namespaces n on n.id = p.namespace_id',
      values,
    }).where(IS_PROJECT);
    const rows = (object: string) => (from: string, order: string) =>
      `(select coalesce(json_agg(${object} order by ${order}), '[]') ${from})`;
    const text = `select json_build_object('groups', ${groups.arraySql(request, rows(GROUP))},
        'projects', ${projects.arraySql(request, rows(PROJECT))})::text as json,
      greatest(${groups.countSql}, ${projects.countSql}) as counted, null as has_more`;
    // Both statements have the same parameter values at the same positions.
    const [row] = await this.db.run<JsonPageRow>(toStatement({ text, values: groups.values }));
    return jsonPageOf(request, row!);
  }
}
