import { Inject, Injectable } from '@nestjs/common';
import { jsonPageOf, NotFound } from '@rookery/kernel';
import type { JsonPage, JsonPageRow, PageRequest, Viewer } from '@rookery/kernel';
import { Database, filter, isUsualPage, CachedStatements, ListQuery } from '@rookery/persistence';
import type { AllFilters, SqlDraft, RowOf, Statement, Tx } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { jsonArraySql } from '../../base/noteables/json.shape';
import type { ShapeSql } from '../../base/noteables/json.shape';
import { createNoteableReader, canReadFeature } from '../../base/noteables/reader';
import type { ParentFacts } from '../../base/noteables/reader';
import { requireUserAgentDetail } from '../../base/noteables/user-agent-details.queries';
import type { UserAgentDetail } from '../../base/noteables/user-agent-detail';
import type { SnippetFile } from './snippet.entity';
import { snippetKind } from './snippet.kind';
import { FILE_ORDER, SNIPPET_BRANCH, SNIPPET_BYTES, snippetShape } from './snippet.shape';

/** Place of a snippet: a project, or null for personal snippets. */
export type SnippetPlace = ParentFacts | null;
/** The snippet that a request path names. */
export interface SnippetKey {
  readonly place: SnippetPlace;
  readonly id: number;
}
/** Scope of a list: a project, the caller's personal snippets, or all public personal snippets. */
export type SnippetList = ParentFacts | 'own' | 'public';

/** Filters of lists of personal snippets. Source: reference work-tracking 9.2. */
export interface SnippetFilters {
  readonly created_after?: Date;
  readonly created_before?: Date;
}
export const SNIPPET_FILTERS: AllFilters<SnippetFilters> = {
  created_after: filter.compares('i.created_at', '>='),
  created_before: filter.compares('i.created_at', '<='),
};

/** A snippet that is locked for a change. */
export interface LockedSnippet {
  readonly id: number;
  readonly at: Date;
}
export type SnippetContent = RowOf<SnippetFile, 'path' | 'content'>;

// First parameters of every statement here: the project, the viewer, and the viewer's access.
const READER = { viewer: '$2::bigint', isMember: '$3::boolean', readsConfidential: 'false' };
const ID = '$6::bigint';
const SHOWN = { fullPath: '$5::text' };
const VISIBLE = {
  project: `i.project_id = $1::bigint and ${snippetKind.visibleSql(READER)}`,
  personal: `i.project_id is null and (i.visibility = 'public' or $3::boolean or i.author_id = $2::bigint
    or (i.visibility = 'internal' and $2::bigint is not null and not $4::boolean))`,
};
// The owner is hidden from the planner in a subquery. With a row estimate for this user or project, a custom plan looks
// cheaper than the generic one, and PostgreSQL would plan each request again. Membership is hidden for the same reason:
// for a member the visibility condition vanishes.
const HIDDEN_READER = { ...READER, isMember: '(select $3::boolean)' };
const LISTED = {
  project: `i.project_id = (select $1::bigint) and ${snippetKind.visibleSql(HIDDEN_READER)}`,
  own: 'i.project_id is null and i.author_id = (select $2::bigint)',
  public: `i.project_id is null and i.visibility = 'public'`,
};

/**
 * Reads snippets; each statement leaves out the snippets that the viewer may not see. Source: reference work-tracking
 * 9.2.
 */
@Injectable()
export class SnippetsQueries {
  private readonly kept = new CachedStatements();
  private readonly shape: ShapeSql;

  constructor(
    private readonly database: Database,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    this.shape = snippetShape.toSql({ externalUrl, ...SHOWN });
  }

  /** Returns a page of snippets, newest first. */
  async list(viewer: Viewer, list: SnippetList, asked: SnippetFilters, page: PageRequest): Promise<JsonPage> {
    const place = typeof list === 'string' ? null : list;
    if (place && !canReadSnippetsOfPlace(viewer, place)) return { json: '[]', total: 0, hasNext: false };
    const of = typeof list === 'string' ? list : 'project';
    const statement = this.pageStatement(of, asked, page, createSnippetReaderValues(viewer, place));
    const [row] = await this.database.run<JsonPageRow>(statement);
    return jsonPageOf(page, row!);
  }

  pageStatement(
    of: keyof typeof LISTED,
    asked: SnippetFilters,
    page: PageRequest,
    values: readonly unknown[],
  ): Statement {
    const isPlain = Object.values(asked).every((value) => value === undefined);
    const name = isUsualPage(page) && isPlain ? `snippets_${of}_${page.perPage}` : null;
    return this.kept.findOrCompose(name, values, (): SqlDraft => {
      const parts = { name: 'snippets', from: 'snippets i', carries: 'i.*', bytes: SNIPPET_BYTES, values };
      const list = new ListQuery<never>(parts);
      list
        .where(LISTED[of])
        .narrow(SNIPPET_FILTERS, asked)
        .orderBy([
          ['i.created_at', 'desc'],
          ['i.id', 'desc'],
        ]);
      return list.jsonSql(page, { rows: (...rows) => jsonArraySql(this.shape, ...rows) });
    });
  }

  /** Returns one snippet as JSON text. Errors: NotFound if the viewer sees no such snippet. */
  async findSnippet(viewer: Viewer, named: SnippetKey): Promise<string> {
    const select = `select ${this.shape.sql} as json from snippets i`;
    return (await this.findVisibleRow<{ json: string }>(viewer, named, 'one', select)).json;
  }

  /** Returns a snippet as JSON text after a permitted write. Errors: NotFound if it is deleted already. */
  async answer(viewer: Viewer, { place, id }: SnippetKey): Promise<string> {
    const values = [...createSnippetReaderValues(viewer, place), id];
    const text = `select ${this.shape.sql} as json from snippets i where i.id = ${ID}`;
    const [row] = await this.database.run<{ json: string }>(
      this.kept.findOrCompose('snippets_written', values, () => ({ text, values })),
    );
    if (!row) throw new NotFound(snippetKind.resource);
    return row.json;
  }

  /** Returns the first file. Errors: NotFound of the snippet. */
  readContent(viewer: Viewer, named: SnippetKey): Promise<SnippetContent> {
    const first = `select f.path, f.content from snippet_files f where f.snippet_id = i.id order by ${FILE_ORDER} limit 1`;
    return this.findVisibleRow(
      viewer,
      named,
      'content',
      `select f.path, f.content from snippets i cross join lateral (${first}) f`,
    );
  }

  /** Returns a file by its path. Errors: NotFound of the snippet, of the ref or of the file. */
  async readFile(viewer: Viewer, named: SnippetKey, ref: string, path: string): Promise<SnippetContent> {
    type Found = { readonly path: string | null; readonly content: string };
    const join = 'left join snippet_files f on f.snippet_id = i.id and f.path = $7::text';
    const row = await this.findVisibleRow<Found>(
      viewer,
      named,
      'file',
      `select f.path, f.content from snippets i ${join}`,
      path,
    );
    if (ref !== SNIPPET_BRANCH && ref !== 'HEAD') throw new NotFound('Reference');
    if (row.path === null) throw new NotFound('File');
    return { ...row, path: row.path };
  }

  /** Returns the origin of a snippet. Errors: NotFound of the snippet, or if its origin is unknown. */
  async findUserAgentDetail(viewer: Viewer, named: SnippetKey): Promise<UserAgentDetail> {
    const select = 'select i.user_agent, i.ip_address from snippets i';
    return requireUserAgentDetail(await this.findVisibleRow<UserAgentDetail>(viewer, named, 'origin', select));
  }

  /** Locks the snippet for a change. Errors: NotFound if the viewer sees no such snippet. */
  lockSnippet(tx: Tx, viewer: Viewer, named: SnippetKey): Promise<LockedSnippet> {
    return this.findVisibleRow(viewer, named, 'lock', 'select i.id, now() as at from snippets i', undefined, tx);
  }

  private async findVisibleRow<R>(
    viewer: Viewer,
    { place, id }: SnippetKey,
    nameSuffix: string,
    select: string,
    furtherValue?: unknown,
    tx?: Tx,
  ): Promise<R> {
    if (place && !canReadSnippetsOfPlace(viewer, place)) throw new NotFound(snippetKind.resource);
    const values = [...createSnippetReaderValues(viewer, place), id, furtherValue];
    const of = place ? 'project' : 'personal';
    const text = `${select} where i.id = ${ID} and ${VISIBLE[of]}${tx ? ' for update of i' : ''}`;
    const statement = this.kept.findOrCompose(`snippets_${of}_${nameSuffix}`, values, () => ({ text, values }));
    const [row] = await (tx ?? this.database).run<R>(statement);
    if (!row) throw new NotFound(snippetKind.resource);
    return row;
  }
}

function canReadSnippetsOfPlace(viewer: Viewer, place: ParentFacts): boolean {
  return canReadFeature(snippetKind.feature, place, createNoteableReader(viewer, place));
}

/** Returns the first five parameters of every statement here. Administrators count as members of personal snippets. */
function createSnippetReaderValues(viewer: Viewer, place: SnippetPlace): unknown[] {
  const isMember = place ? createNoteableReader(viewer, place).isMember : viewer.isAdmin;
  return [place?.id ?? null, viewer.userId, isMember, viewer.isExternal, place?.fullPath ?? null];
}
