import { Inject, Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import type { JsonPage, JsonPageRow, PageRequest, Viewer } from '@rookery/kernel';
import { jsonPageOf, NotFound } from '@rookery/kernel';
import { Database, CachedStatements, ListQuery, statement } from '@rookery/persistence';
import type { DeclaredStatement, SqlDraft, Statement } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { jsonArraySql } from '../../base/noteables/json.shape';
import type { ShapeSql } from '../../base/noteables/json.shape';
import { requireNoteableReader } from '../../base/noteables/reader';
import type { Reader } from '../../base/noteables/reader';
import { labelOrMilestoneAppliesSql } from '../../base/noteables/reach-sql';
import { unreachableLabelsSql } from '../../planning/labels/labelling/label-filter';
import { mergeRequestFilters, toMergeRequestLabelReach } from './listing/merge-request-filter';
import type { MergeRequestFilter } from './listing/merge-request-filter';
import {
  mergeRequestSorting,
  needsStrayLabelsForMergeRequests,
  composeMergeRequestPageStatementName,
} from './listing/merge-request-order';
import type { MergeRequestOrder } from './listing/merge-request-order';
import { mergeRequestKind } from './merge-request.kind';
import {
  mergeRequestTextBytesSql,
  mergeRequestDetailShape,
  mergeRequestShape,
  shownMergeRequestShape,
  simpleMergeRequestShape,
} from './merge-request.shape';

/** Parameters of every statement here. `groups` are the ids of the ancestor groups, from the root down. */
export interface MergeRequestReaderParams {
  readonly project: number;
  readonly viewer: number | null;
  readonly reads_internal: boolean;
  readonly full_path: string;
  readonly groups: readonly number[];
  readonly is_admin: boolean;
  readonly is_external: boolean;
}
/** Values of one merge request that the request itself computes; null leaves the key out. */
export interface ComputedFields {
  readonly diverged: number | null;
  readonly rebasing: boolean | null;
}
type MergeRequestReadParams = MergeRequestReaderParams & { readonly iid: number };
type JsonRow = { readonly json: string };

const READS_INTERNAL = ':reads_internal::boolean';
const GROUPS = ':groups::bigint[]';
const PERSON = { user: ':viewer::bigint', isAdmin: ':is_admin::boolean', isExternal: ':is_external::boolean' };
const HERE = { project: ':project::bigint', above: GROUPS };
const LABELS = toMergeRequestLabelReach({ ...HERE, strays: '(select strays.ids from strays)' });
const STRAYS = `strays as materialized (select ${unreachableLabelsSql(HERE)} as ids)`;
const REACH = { person: PERSON, labels: LABELS, milestones: labelOrMilestoneAppliesSql('m', HERE) };
const FILTERS = mergeRequestFilters(REACH);

/** Reads merge requests of a project. Every reader of the project's merge requests sees all of them. */
@Injectable()
export class MergeRequestsQueries {
  private readonly listed: {
    readonly plain: ShapeSql;
    readonly labelled: ShapeSql;
    readonly simple: ShapeSql;
  };
  private readonly kept = new CachedStatements();
  private readonly one: DeclaredStatement<MergeRequestReadParams & ComputedFields, JsonRow>;
  private readonly written: DeclaredStatement<MergeRequestReadParams, JsonRow>;

  constructor(
    private readonly database: Database,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    const project = { fullPath: ':full_path::text', above: GROUPS };
    const sql = { externalUrl, ...project, readsInternal: READS_INTERNAL, person: PERSON };
    this.listed = {
      plain: mergeRequestShape.toSql(sql),
      labelled: mergeRequestShape.toSql({ ...sql, withLabelDetails: true }),
      simple: simpleMergeRequestShape.toSql(sql),
    };
    const viewer = PERSON.user;
    const named = 'from merge_requests i where i.project_id = :project::bigint and i.iid = :iid::bigint';
    const detail = mergeRequestDetailShape.toSql({ ...sql, viewer });
    const computed = { divergedCommits: ':diverged::integer', rebaseInProgress: ':rebasing::boolean' };
    const shown = shownMergeRequestShape.toSql({ ...sql, viewer, ...computed });
    this.one = statement('merge_requests_one', () => `select ${shown.sql} as json ${named}`);
    this.written = statement('merge_requests_written', () => `select ${detail.sql} as json ${named}`);
  }

  /** Returns one merge request as JSON text. Errors: NotFound, Forbidden. */
  async findMergeRequest(
    viewer: Viewer,
    project: ProjectScope,
    iid: number,
    computed: ComputedFields,
  ): Promise<string> {
    const values = readerValues(viewer, project, readerOfMergeRequests(viewer, project));
    const [row] = await this.database.run(this.one, { ...values, iid, ...computed });
    if (!row) throw new NotFound();
    return row.json;
  }

  /** Returns a merge request as JSON text after a permitted write. */
  async answer(viewer: Viewer, project: ProjectScope, iid: number): Promise<string> {
    const values = readerValues(viewer, project, readerOfMergeRequests(viewer, project));
    const [row] = await this.database.run(this.written, { ...values, iid });
    if (!row) throw new NotFound();
    return row.json;
  }

  /** Returns a page of merge requests with one statement. Errors: NotFound, Forbidden. */
  async list(
    viewer: Viewer,
    project: ProjectScope,
    filter: MergeRequestFilter,
    order: MergeRequestOrder,
    page: PageRequest,
  ): Promise<JsonPage> {
    const values = readerValues(viewer, project, readerOfMergeRequests(viewer, project));
    const [row] = await this.database.run(this.pageStatement(values, filter, order, page));
    return jsonPageOf(page, row!);
  }

  pageStatement(
    values: MergeRequestReaderParams,
    filter: MergeRequestFilter,
    order: MergeRequestOrder,
    page: PageRequest,
  ): Statement<JsonPageRow> {
    return this.kept.findOrCompose(
      composeMergeRequestPageStatementName('page', filter, order, page),
      values,
      (): SqlDraft => {
        const parts = {
          name: 'merge_requests',
          from: 'merge_requests i',
          carries: 'i.*',
          bytes: mergeRequestTextBytesSql(order),
        };
        return new ListQuery<never>({ ...parts, values })
          .where('i.project_id = :project::bigint')
          .narrow(FILTERS, filter)
          .orderBy(mergeRequestSorting(order, REACH))
          .jsonSql(page, {
            ...(needsStrayLabelsForMergeRequests(filter, order) ? { with: STRAYS } : {}),
            rows: (...rows) => jsonArraySql(this.chooseShape(order), ...rows),
          });
      },
    );
  }

  private chooseShape({ withLabelDetails, isSimple }: MergeRequestOrder): ShapeSql {
    if (isSimple === true) return this.listed.simple;
    return withLabelDetails === true ? this.listed.labelled : this.listed.plain;
  }
}

function readerOfMergeRequests(viewer: Viewer, project: ProjectScope): Reader {
  return requireNoteableReader(viewer, { kind: mergeRequestKind, parent: project });
}

function readerValues(viewer: Viewer, project: ProjectScope, reader: Reader): MergeRequestReaderParams {
  return {
    project: project.id,
    viewer: reader.viewerId,
    reads_internal: reader.readsInternal,
    full_path: project.fullPath,
    groups: project.namespace.traversalIds,
    is_admin: viewer.isAdmin,
    is_external: viewer.isExternal,
  };
}
