import { Inject, Injectable } from '@nestjs/common';
import { Directory, visibleGroupSql, withinGroupSql } from '@rookery/directory';
import { jsonPageOf, NotFound } from '@rookery/kernel';
import type { JsonPage, JsonPageRow, PageRequest, Viewer } from '@rookery/kernel';
import { Database, filter, isUsualPage, CachedStatements, ListQuery } from '@rookery/persistence';
import type { AllFilters, SqlDraft, Statement } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { projectAccessRowSql } from '../../base/noteables/access-sql';
import { jsonArraySql } from '../../base/noteables/json.shape';
import type { ShapeSql } from '../../base/noteables/json.shape';
import type { PlanningSource } from '../../base/noteables/planning.policy';
import { MILESTONE_BYTES, milestoneShape, PROJECT_PATH } from './milestone.shape';

/** Filters of a list of milestones. Source: reference work-tracking 9.5. */
export interface MilestoneFilters {
  readonly iids?: readonly number[];
  readonly state?: 'active' | 'closed' | 'all';
  readonly title?: string;
  readonly search?: string;
  readonly updated_before?: Date;
  readonly updated_after?: Date;
  /** Day as `YYYY-MM-DD`. */
  readonly containing_date?: string;
}

/** Further sources of a list, in addition to the project or group. */
export interface MilestoneReach {
  readonly include_ancestors?: boolean;
  /** Only for groups. */
  readonly include_descendants?: boolean;
}

const FILTERS: AllFilters<MilestoneFilters> = {
  iids: (iids, bind) => `m.iid = any(${bind(iids)}::bigint[])`,
  state: (state) => state !== 'all' && `m.state = '${state}'`,
  title: (title, bind) => title !== '' && `m.title = ${bind(title)}`,
  search: filter.containsIn({ short: ['m.title'], long: ['m.description'] }),
  updated_before: filter.compares('m.updated_at', '<='),
  updated_after: filter.compares('m.updated_at', '>='),
  containing_date: (day, bind) => {
    const place = `${bind(day)}::date`;
    return `(m.start_on is not null or m.due_on is not null)
      and coalesce(m.start_on <= ${place}, true) and coalesce(m.due_on >= ${place}, true)`;
  },
};

// The first parameters of every list statement: the project or group, ids from its root namespace down, and the viewer.
const VIEWER = { user: '$3::bigint', isAdmin: '$4::boolean', isExternal: '$5::boolean' };
const ABOVE = 'select m.* from milestones m where m.group_id = any($2::bigint[])';
/** Restricts milestones to one project or group before any filter, so that texts of others are not searched. */
const joinMilestonesSql = (condition: string): string =>
  `cross join lateral (select m.* from milestones m where ${condition} offset 0) m`;
const GROUPS_BELOW = `select m.* from directory_namespaces n ${joinMilestonesSql('m.group_id = n.id')}
  where ${withinGroupSql({ namespace: 'n', traversalIds: '$2' })} and n.id <> $1::bigint
    and ${visibleGroupSql({ namespace: 'n', viewer: '$3', isAdmin: '$4', isExternal: '$5' })}`;
/** Checks access once per project, and only for projects with milestones. */
const PROJECTS_BELOW = `select m.* from (
    select p.id from directory_namespaces n join directory_projects p on p.namespace_id = n.id
    where ${withinGroupSql({ namespace: 'n', traversalIds: '$2' })}
      and exists (select 1 from milestones of_it where of_it.project_id = p.id) offset 0) below
  join lateral ${projectAccessRowSql('below.id', VIEWER)} a on a.reads_issues or a.reads_merge_requests
  ${joinMilestonesSql('m.project_id = below.id')}`;

/** Queries for milestones of projects and groups, with one statement per request. Source: reference work-tracking 9.5. */
@Injectable()
export class MilestonesQueries {
  private readonly kept = new CachedStatements();
  private readonly shown: ShapeSql;

  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    this.shown = milestoneShape.toSql({ externalUrl, projectPath: PROJECT_PATH });
  }

  /** Page of milestones, the earliest due date first, those without a date last; the newest first on equal days. */
  async list(
    viewer: Viewer,
    source: PlanningSource,
    query: MilestoneFilters & MilestoneReach,
    page: PageRequest,
  ): Promise<JsonPage> {
    if (query.include_descendants) await this.directory.requireFresh(viewer);
    const above = source.kind === 'project' ? source.namespace.traversalIds : source.traversalIds;
    const values = [source.id, above, viewer.userId, viewer.isAdmin, viewer.isExternal];
    const [row] = await this.database.run<JsonPageRow>(this.pageStatement(source.kind, query, page, values));
    return jsonPageOf(page, row!);
  }

  pageStatement(
    kind: PlanningSource['kind'],
    query: MilestoneFilters & MilestoneReach,
    page: PageRequest,
    values: readonly unknown[],
  ): Statement {
    return this.kept.findOrCompose(statementNameOfMilestonePage(kind, query, page), values, (): SqlDraft => {
      const list = new ListQuery<never>({
        name: 'milestones',
        from: 'milestones m',
        carries: 'm.*',
        bytes: MILESTONE_BYTES,
        values,
      });
      list.narrow(FILTERS, query).orderBy([
        ['m.due_on', 'asc', 'nulls last'],
        ['m.id', 'desc'],
      ]);
      const further = milestoneSourcesSql(kind, query);
      if (further.length === 0) list.where(`m.${kind}_id = $1::bigint`);
      else list.fromParts(further);
      return list.jsonSql(page, { rows: (...rows) => jsonArraySql(this.shown, ...rows) });
    });
  }

  /**
   * Returns a milestone as JSON text. Errors: NotFound, also for milestones of groups above, and of groups and projects
   * below.
   */
  async findMilestone(source: Pick<PlanningSource, 'kind' | 'id'>, id: number): Promise<string> {
    const values = [id, source.id];
    const statement = this.kept.findOrCompose(`milestones_one_in_${source.kind}`, values, () => ({
      text: `select ${this.shown.sql} as json from milestones m
        where m.id = $1::bigint and m.${source.kind}_id = $2::bigint`,
      values,
    }));
    const [row] = await this.database.run<{ json: string }>(statement);
    if (!row) throw new NotFound();
    return row.json;
  }
}

/** Returns the sources of a list if the project or group alone is not enough; each part uses its own index. */
function milestoneSourcesSql(
  kind: PlanningSource['kind'],
  { include_ancestors, include_descendants }: MilestoneReach,
): readonly string[] {
  const below = include_descendants && kind === 'group' ? [GROUPS_BELOW, PROJECTS_BELOW] : [];
  if (!include_ancestors && below.length === 0) return [];
  const own = `select m.* from milestones m where m.${kind}_id = $1::bigint`;
  // The namespaces above a group include the group itself.
  const upwards = include_ancestors ? [ABOVE, ...(kind === 'project' ? [own] : [])] : [own];
  return [...upwards, ...below];
}

/** Returns the statement name of a page that only the state filters; null for other pages, which are not prepared. */
function statementNameOfMilestonePage(
  kind: PlanningSource['kind'],
  { state = 'all', include_ancestors = false, include_descendants = false, ...rest }: MilestoneFilters & MilestoneReach,
  page: PageRequest,
): string | null {
  const isPlain = !include_descendants && Object.values(rest).every((value) => value === undefined);
  const reach = include_ancestors ? 'up' : 'own';
  return isUsualPage(page) && isPlain ? `milestones_of_${kind}_${reach}_${state}_${page.perPage}` : null;
}
