import { Inject, Injectable } from '@nestjs/common';
import type { PageRequest, Viewer } from '@rookery/kernel';
import { COUNT_LIMIT, NotFound, offsetOf } from '@rookery/kernel';
import { Database, prepared } from '@rookery/persistence';
import type { Prepared } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { arraySql } from '../json-rows/json-shape';
import type { JsonShape } from '../json-rows/json-shape';
import { visibleIssueSql } from '../noteables/noteable-kinds';
import { readerOf } from '../noteables/reader';
import type { ParentFacts } from '../noteables/reader';
import { addFilter, Conditions } from '../issue-lists/issue-filter';
import type { IssueFilter } from '../issue-lists/issue-filter';
import { issueDetailShape, issueShape } from './issue.shape';

export const ISSUE_ORDERS = ['created_at', 'updated_at', 'due_date', 'title'] as const;
/** Orders by what no issue has yet: they leave the order to the tie-breaker. */
export const EMPTY_ORDERS = [
  'priority',
  'relative_position',
  'label_priority',
  'milestone_due',
  'popularity',
  'weight',
] as const;

export interface IssueOrder {
  readonly orderBy: (typeof ISSUE_ORDERS)[number] | (typeof EMPTY_ORDERS)[number];
  readonly sort: 'asc' | 'desc';
}

/** Shape: `json` is one JSON array; `total` is null past COUNT_LIMIT. */
export interface IssuesPage {
  readonly json: string;
  readonly total: number | null;
  readonly hasNext: boolean;
}

// The first values of every statement here.
const READER = { viewer: '$2::bigint', isMember: '$3::boolean', readsConfidential: '$4::boolean' };
const READS_INTERNAL = '$5::boolean';
const FULL_PATH = '$6::text';
const VISIBLE = visibleIssueSql('i', READER);

/** Reading issues of a project; rows that the reader may not see are left out by the statement itself. */
@Injectable()
export class IssuesQueries {
  private readonly listed: JsonShape;
  private readonly one: Prepared;
  private readonly written: Prepared;

  constructor(
    private readonly database: Database,
    @Inject(platformSettings.token) platform: SettingsOf<typeof platformSettings>,
  ) {
    const sql = { externalUrl: platform.externalUrl, fullPath: FULL_PATH, readsInternal: READS_INTERNAL };
    this.listed = issueShape(sql);
    const detail = issueDetailShape({ ...sql, viewer: READER.viewer });
    const select = `select ${detail.sql} as json from issues i where i.project_id = $1::bigint and i.iid = $7::bigint`;
    this.one = prepared('issues_one', `${select} and ${VISIBLE}`);
    const unused = `${READER.isMember} is not null and ${READER.readsConfidential} is not null`;
    this.written = prepared('issues_written', `${select} and ${unused}`);
  }

  /**
   * Shape: the issue as one JSON object.
   * Errors: NotFound when there is none that the viewer may see.
   */
  async find(viewer: Viewer, project: ParentFacts, iid: number): Promise<string> {
    const { values, readsIssues } = readerValues(viewer, project);
    const [row] = readsIssues ? await this.database.prepared<{ json: string }>(this.one, [...values, iid]) : [];
    if (!row) throw new NotFound('Issue');
    return row.json;
  }

  /**
   * The answer to a write that was just allowed; shown even to somebody who could not ask for it, for instance a
   * stranger who opened a confidential issue.
   */
  async answer(viewer: Viewer, project: ParentFacts, iid: number): Promise<string> {
    const { values } = readerValues(viewer, project);
    const [row] = await this.database.prepared<{ json: string }>(this.written, [...values, iid]);
    if (!row) throw new NotFound('Issue');
    return row.json;
  }

  /** One statement: a count that stops past COUNT_LIMIT, and the page, cut by an index where the order has one. */
  async page(
    viewer: Viewer,
    project: ParentFacts,
    filter: IssueFilter,
    order: IssueOrder,
    page: PageRequest,
  ): Promise<IssuesPage> {
    const { values, readsIssues } = readerValues(viewer, project);
    if (!readsIssues) return { json: '[]', total: 0, hasNext: false };
    const text = this.pageSql(values, filter, order, page);
    const name = pageName(filter, order, page);
    const [row] = name
      ? await this.database.prepared<PageRow>(prepared(name, text), values)
      : await this.database.query<PageRow>(text, values);
    const counted = row!.counted;
    return {
      json: row!.json,
      total: counted > COUNT_LIMIT ? null : counted,
      hasNext: counted > COUNT_LIMIT ? row!.has_next : counted > page.page * page.perPage,
    };
  }

  /** The statement of a page; adds its values. */
  pageSql(values: unknown[], filter: IssueFilter, order: IssueOrder, page: PageRequest): string {
    const conditions = new Conditions(values);
    conditions.parts.push('i.project_id = $1::bigint', VISIBLE);
    addFilter(conditions, filter, READER.viewer);
    const by = orderSql(order);
    const rows = `from issues i where ${conditions.sql}`;
    const end = page.page * page.perPage;
    const cut = `from (select i.* ${rows} order by ${by} limit ${page.perPage} offset ${offsetOf(page)}) i`;
    // Past the counted part, only a look at the next row tells whether there is one.
    const hasNext = end < COUNT_LIMIT ? 'true' : `exists (select 1 ${rows} order by ${by} offset ${end} limit 1)`;
    return `select (select count(*)::integer from (select 1 ${rows} limit ${COUNT_LIMIT + 1}) c) as counted,
      ${hasNext} as has_next, ${arraySql(this.listed, cut, by)} as json
      where ${READS_INTERNAL} is not null and ${FULL_PATH} is not null`;
  }
}

interface PageRow {
  readonly counted: number;
  readonly has_next: boolean;
  readonly json: string;
}

/** Units: rows. The page sizes that clients ask for. */
const NAMED_PAGE_SIZES: readonly number[] = [20, 50, 100];

/** The name of a first page by state alone, which is what most lists are: planning one costs more than running it. */
function pageName(
  { state = 'all', ...filter }: IssueFilter,
  { orderBy, sort }: IssueOrder,
  page: PageRequest,
): string | null {
  const isFirst = page.page === 1 && NAMED_PAGE_SIZES.includes(page.perPage);
  const isDated = orderBy === 'created_at' || orderBy === 'updated_at';
  return isFirst && isDated && isPlain(filter) ? `issues_page_${state}_${orderBy}_${sort}_${page.perPage}` : null;
}

function isPlain({ scope, people, not, asksForMissing, ...rest }: IssueFilter): boolean {
  const values = [...Object.values(rest), ...Object.values(people ?? {}), ...Object.values(not ?? {})];
  return (scope ?? 'all') === 'all' && !asksForMissing && values.every((value) => value === undefined);
}

/** The first six values of every statement here. */
function readerValues(viewer: Viewer, project: ParentFacts): { values: unknown[]; readsIssues: boolean } {
  const reader = readerOf(viewer, project);
  const { viewerId, isMember, readsConfidential, readsInternal, readsIssues } = reader;
  return { values: [project.id, viewerId, isMember, readsConfidential, readsInternal, project.fullPath], readsIssues };
}

/** Issues without a due date come last in either direction. */
function orderSql({ orderBy, sort }: IssueOrder): string {
  switch (orderBy) {
    case 'created_at':
    case 'updated_at':
      return `i.${orderBy} ${sort}, i.id ${sort}`;
    case 'due_date':
      return `i.due_on ${sort} nulls last, i.id ${sort}`;
    case 'title':
      return `i.title ${sort}, i.id ${sort}`;
    default:
      return `i.id ${sort}`;
  }
}
