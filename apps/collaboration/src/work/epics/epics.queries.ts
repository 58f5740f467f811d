import { Inject, Injectable } from '@nestjs/common';
import type { GroupScope } from '@rookery/api-v4';
import { Directory, withinGroupSql } from '@rookery/directory';
import type { JsonPage, JsonPageRow, PageRequest, SignedInViewer } from '@rookery/kernel';
import { jsonPageOf, NotFound } from '@rookery/kernel';
import { Database, isUsualPage, CachedStatements, ListQuery } from '@rookery/persistence';
import type { SqlDraft, Statement } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { groupAccessRowSql } from '../../base/noteables/access-sql';
import { jsonArraySql } from '../../base/noteables/json.shape';
import type { ShapeSql } from '../../base/noteables/json.shape';
import { toReaderSql } from '../../base/noteables/noteable-kinds';
import { createNoteableReader } from '../../base/noteables/reader';
import { epicKind } from './epic.kind';
import { epicTextBytesSql, epicDetailShape, listedEpicShape } from './epic.shape';
import { epicFilters, epicSorting } from './listing/epic-filter';
import type { EpicFilter, EpicOrder } from './listing/epic-filter';

/** Facts of an epic's group that queries and permissions need. Any GroupScope fits. */
export type EpicGroup = Pick<
  GroupScope,
  'kind' | 'id' | 'level' | 'plan' | 'archived' | 'fullPath' | 'traversalIds' | 'visibility'
>;

/** Groups whose epics a list includes next to those of the named group, if the reader sees them. */
export interface IncludedGroups {
  readonly includesAncestors: boolean;
  readonly includesDescendants: boolean;
}

// First parameters of the list statement: the viewer and the group.
const PERSON = { user: '$1::bigint', isAdmin: '$2::boolean', isExternal: '$3::boolean' };
const GROUP = '$4::bigint';
const ABOVE_GROUP = '$5::bigint[]';
// Parameters of statements on one epic: its group and number, the facts of the group that are shown, and the viewer.
const ONE = { fullPath: '$3::text', above: '$4::bigint[]', readsInternal: 'false' };
const READS_CONFIDENTIAL = '$5::boolean';
const ONE_PERSON = { user: '$6::bigint', isAdmin: '$7::boolean', isExternal: '$8::boolean' };
const FILTERS = epicFilters(PERSON.user, {
  type: 'Epic',
  project: null,
  above: 'a.traversal_ids',
  strays: null,
});
const ROWS = `(select own.*, a.full_path, a.traversal_ids, a.reads_internal, a.reads_confidential as may_edit, a.seen_as
  from epics own where own.group_id = a.group_id) i`;

/**
 * Reads epics; each statement leaves out epics that the viewer may not see. Source: reference work-tracking 5.1, 5.3.
 */
@Injectable()
export class EpicsQueries {
  private readonly kept = new CachedStatements();
  private readonly listed: { readonly plain: ShapeSql; readonly labelled: ShapeSql };
  private readonly ones: { readonly detailed: string; readonly written: string };

  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    const rows = { fullPath: 'i.full_path', above: 'i.traversal_ids', readsInternal: 'i.reads_internal' };
    const sql = { externalUrl, ...rows, seenAs: 'i.seen_as', mayEdit: 'i.may_edit', person: PERSON };
    this.listed = {
      plain: listedEpicShape.toSql(sql),
      labelled: listedEpicShape.toSql({ ...sql, withLabelDetails: true }),
    };
    const from = `as json from epics i where i.group_id = $1::bigint and i.iid = $2::bigint`;
    const own = { externalUrl, ...ONE, person: ONE_PERSON };
    const detail = epicDetailShape.toSql({ ...own, mayEdit: READS_CONFIDENTIAL, viewer: ONE_PERSON.user });
    this.ones = {
      detailed: `select ${detail.sql} ${from} and ${isEpicVisibleSql(ONE_PERSON.user, READS_CONFIDENTIAL)}`,
      written: `select ${listedEpicShape.toSql({ ...own, mayEdit: READS_CONFIDENTIAL }).sql} ${from}`,
    };
  }

  /** Returns one epic as JSON text. Errors: NotFound if the viewer sees no such epic. */
  async findEpic(viewer: SignedInViewer, group: EpicGroup, iid: number): Promise<string> {
    await this.directory.requireFresh(viewer);
    return this.queryJson('epics_one', this.ones.detailed, valuesOfEpicStatement(viewer, group, iid));
  }

  /** Returns an epic as JSON text after a permitted write. */
  async answer(viewer: SignedInViewer, group: EpicGroup, iid: number): Promise<string> {
    return this.queryJson('epics_written', this.ones.written, valuesOfEpicStatement(viewer, group, iid));
  }

  async list(
    viewer: SignedInViewer,
    group: EpicGroup,
    o: {
      readonly reach: IncludedGroups;
      readonly filter: EpicFilter;
      readonly order: EpicOrder;
      readonly page: PageRequest;
    },
  ): Promise<JsonPage> {
    await this.directory.requireFresh(viewer);
    const { userId, isAdmin, isExternal } = viewer;
    const values = [userId, isAdmin, isExternal, group.id, group.traversalIds];
    const [row] = await this.database.run<JsonPageRow>(this.pageStatement(values, o));
    return jsonPageOf(o.page, row!);
  }

  pageStatement(
    values: readonly unknown[],
    o: {
      readonly reach: IncludedGroups;
      readonly filter: EpicFilter;
      readonly order: EpicOrder;
      readonly page: PageRequest;
    },
  ): Statement {
    const { reach, filter, order, page } = o;
    return this.kept.findOrCompose(statementNameOfUsualEpicPage(o), values, (): SqlDraft => {
      const list = new ListQuery<never>({
        name: 'epics',
        from: 'epics i',
        carries: 'i.*',
        bytes: epicTextBytesSql(order),
        values,
      });
      list
        .where(epicKind.visibleSql(toReaderSql('a', PERSON.user)))
        .narrow(FILTERS, filter)
        .orderBy(epicSorting(order));
      return list.fromEach(['read a', ROWS]).jsonSql(page, {
        with: `read as materialized (${groupsWithReadableEpicsSql(reach)})`,
        rows: (...rows) =>
          jsonArraySql(order.withLabelDetails === true ? this.listed.labelled : this.listed.plain, ...rows),
      });
    });
  }

  private async queryJson(statementName: string, text: string, values: readonly unknown[]): Promise<string> {
    const statement = this.kept.findOrCompose(statementName, values, () => ({ text, values }));
    const [row] = await this.database.run<{ json: string }>(statement);
    if (!row) throw new NotFound();
    return row.json;
  }
}

function valuesOfEpicStatement(viewer: SignedInViewer, group: EpicGroup, iid: number): unknown[] {
  const { userId, isAdmin, isExternal } = viewer;
  const { readsConfidential } = createNoteableReader(viewer, group);
  return [group.id, iid, group.fullPath, group.traversalIds, readsConfidential, userId, isAdmin, isExternal];
}

/** The listed groups with epics that the viewer sees; access is computed once per group. */
function groupsWithReadableEpicsSql({
  includesAncestors: ancestors,
  includesDescendants: descendants,
}: IncludedGroups): string {
  const own = descendants ? withinGroupSql({ namespace: 'n', traversalIds: ABOVE_GROUP }) : `n.id = ${GROUP}`;
  const wanted = ancestors ? `(${own} or n.id = any(${ABOVE_GROUP}))` : own;
  return `select a.*, case when a.group_id = ${GROUP} then '' else a.full_path end as seen_as
    from (select n.id from directory_namespaces n
      where ${wanted} and exists (select 1 from epics e where e.group_id = n.id) offset 0) used
    cross join lateral ${groupAccessRowSql('used.id', PERSON)} a`;
}

/** Boolean SQL: a reader of the group may see the epic `i`. Arguments are SQL expressions. */
function isEpicVisibleSql(viewer: string, readsConfidential: string): string {
  return epicKind.visibleSql({ viewer, isMember: 'true', readsConfidential });
}

/**
 * Name of the prepared statement for a first page filtered by state alone, as most lists are; null if the statement is
 * not kept.
 */
function statementNameOfUsualEpicPage(o: {
  readonly reach: IncludedGroups;
  readonly filter: EpicFilter;
  readonly order: EpicOrder;
  readonly page: PageRequest;
}): string | null {
  const { state = 'all', author, ...rest } = o.filter;
  const { orderBy, sort, withLabelDetails } = o.order;
  const isPlain = [...Object.values(rest), ...Object.values(author ?? {})].every((value) => value === undefined);
  const isUsual = isUsualPage(o.page) && isPlain && withLabelDetails !== true && !o.reach.includesAncestors;
  const reach = o.reach.includesDescendants ? 'below' : 'own';
  return isUsual ? `epics_${reach}_${state}_${orderBy}_${sort}_${o.page.perPage}` : null;
}
