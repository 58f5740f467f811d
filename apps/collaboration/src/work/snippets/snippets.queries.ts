import { Inject, Injectable } from '@nestjs/common';
import { jsonPageOf, NotFound } from '@rookery/kernel';
import type { JsonPage, JsonPageRow, PageRequest, Viewer } from '@rookery/kernel';
import { Database, filter, isUsualPage, KeptStatements, ListQuery } from '@rookery/persistence';
import type { AllFilters, Draft, RowOf, Statement, Tx } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { arraySql } from '../../base/noteables/json.shape';
import type { WrittenShape } from '../../base/noteables/json.shape';
import { readerOf, reads } from '../../base/noteables/reader';
import type { ParentFacts } from '../../base/noteables/reader';
import { known } from '../../base/noteables/origins.queries';
import type { ToldOrigin } from '../../base/noteables/written-from';
import type { SnippetFile } from './snippet.entity';
import { snippetKind } from './snippet.kind';
import { FILE_ORDER, SNIPPET_BRANCH, SNIPPET_BYTES, snippetShape } from './snippet.shape';

/** Where a snippet is looked for: in a project, or (null) among the personal ones. */
export type SnippetPlace = ParentFacts | null;
/** The snippet that a path names. */
export interface NamedSnippet {
  readonly place: SnippetPlace;
  readonly id: number;
}
/** Which are listed: those of a project, or personal ones: the caller's own, or everybody's public ones. */
export type SnippetList = ParentFacts | 'own' | 'public';

/** What lists of personal snippets can be narrowed by. Source: reference work-tracking 9.2. */
export interface SnippetFilters {
  readonly created_after?: Date;
  readonly created_before?: Date;
}
export const SNIPPET_FILTERS: AllFilters<SnippetFilters> = {
  created_after: filter.compares('i.created_at', '>='),
  created_before: filter.compares('i.created_at', '<='),
};

/** A snippet that is to be changed, locked. */
export interface LockedSnippet {
  readonly id: number;
  readonly at: Date;
}
export type SnippetContent = RowOf<SnippetFile, 'path' | 'content'>;

// The first values of every statement here: the project, and who reads what of it, or of what people have.
const READER = { viewer: '$2::bigint', isMember: '$3::boolean', readsConfidential: 'false' };
const ID = '$6::bigint';
const SHOWN = { fullPath: '$5::text' };
const VISIBLE = {
  project: `i.project_id = $1::bigint and ${snippetKind.visibleSql(READER)}`,
  personal: `i.project_id is null and (i.visibility = 'public' or $3::boolean or i.author_id = $2::bigint
    or (i.visibility = 'internal' and $2::bigint is not null and not $4::boolean))`,
};
// Whose they are is hidden from the planner: with rows that it guesses by the person or the project a plan of the one
// looks cheaper than that of all, and it would plan each request anew. So is whether they are a member: for those nothing
// is left to judge.
const HIDDEN_READER = { ...READER, isMember: '(select $3::boolean)' };
const LISTED = {
  project: `i.project_id = (select $1::bigint) and ${snippetKind.visibleSql(HIDDEN_READER)}`,
  own: 'i.project_id is null and i.author_id = (select $2::bigint)',
  public: `i.project_id is null and i.visibility = 'public'`,
};

/** Reading snippets; those that the reader may not see are left out by the statement itself. Source: reference work-tracking 9.2. */
@Injectable()
export class SnippetsQueries {
  private readonly kept = new KeptStatements();
  private readonly shown: WrittenShape;

  constructor(
    private readonly database: Database,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    this.shown = snippetShape.over({ externalUrl, ...SHOWN });
  }

  /** The newest first. */
  async page(viewer: Viewer, list: SnippetList, asked: SnippetFilters, page: PageRequest): Promise<JsonPage> {
    const place = typeof list === 'string' ? null : list;
    if (place && !readsSnippets(viewer, place)) return { json: '[]', total: 0, hasNext: false };
    const of = typeof list === 'string' ? list : 'project';
    const statement = this.pageStatement(of, asked, page, readerValues(viewer, place));
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
    return this.kept.statement(name, values, (): Draft => {
      const parts = { name: 'snippets', from: 'snippets i', carries: 'i.*', bytes: SNIPPET_BYTES, values };
      const list = new ListQuery<never>(parts);
      list
        .where(LISTED[of])
        .narrow(SNIPPET_FILTERS, asked)
        .orderBy([
          ['i.created_at', 'desc'],
          ['i.id', 'desc'],
        ]);
      return list.json(page, { rows: (...rows) => arraySql(this.shown, ...rows) });
    });
  }

  /** Shape: one JSON object. Errors: NotFound when there is none that the viewer may see. */
  async one(viewer: Viewer, named: NamedSnippet): Promise<string> {
    const select = `select ${this.shown.sql} as json from snippets i`;
    return (await this.found<{ json: string }>(viewer, named, 'one', select)).json;
  }

  /** The answer to a write that was just allowed. Shape: one JSON object. Errors: NotFound when it is gone already. */
  async answer(viewer: Viewer, { place, id }: NamedSnippet): Promise<string> {
    const values = [...readerValues(viewer, place), id];
    const text = `select ${this.shown.sql} as json from snippets i where i.id = ${ID}`;
    const [row] = await this.database.run<{ json: string }>(
      this.kept.statement('snippets_written', values, () => ({ text, values })),
    );
    if (!row) throw new NotFound(snippetKind.resource);
    return row.json;
  }

  /** The file that comes first. Errors: NotFound of the snippet. */
  content(viewer: Viewer, named: NamedSnippet): Promise<SnippetContent> {
    const first = `select f.path, f.content from snippet_files f where f.snippet_id = i.id order by ${FILE_ORDER} limit 1`;
    return this.found(
      viewer,
      named,
      'content',
      `select f.path, f.content from snippets i cross join lateral (${first}) f`,
    );
  }

  /** A file by its path. Errors: NotFound of the snippet, of what it is read at, of the file. */
  async file(viewer: Viewer, named: NamedSnippet, ref: string, path: string): Promise<SnippetContent> {
    type Found = { readonly path: string | null; readonly content: string };
    const join = 'left join snippet_files f on f.snippet_id = i.id and f.path = $7::text';
    const row = await this.found<Found>(
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

  /** With what and from where it was made. Errors: NotFound of the snippet, and where that is not known. */
  async origin(viewer: Viewer, named: NamedSnippet): Promise<ToldOrigin> {
    const select = 'select i.user_agent, i.ip_address from snippets i';
    return known(await this.found<ToldOrigin>(viewer, named, 'origin', select));
  }

  /** The snippet for a change, of which others wait. Errors: NotFound when there is none that the viewer may see. */
  lock(tx: Tx, viewer: Viewer, named: NamedSnippet): Promise<LockedSnippet> {
    return this.found(viewer, named, 'lock', 'select i.id, now() as at from snippets i', undefined, tx);
  }

  private async found<R>(
    viewer: Viewer,
    { place, id }: NamedSnippet,
    what: string,
    select: string,
    more?: unknown,
    tx?: Tx,
  ): Promise<R> {
    if (place && !readsSnippets(viewer, place)) throw new NotFound(snippetKind.resource);
    const values = [...readerValues(viewer, place), id, more];
    const of = place ? 'project' : 'personal';
    const text = `${select} where i.id = ${ID} and ${VISIBLE[of]}${tx ? ' for update of i' : ''}`;
    const statement = this.kept.statement(`snippets_${of}_${what}`, values, () => ({ text, values }));
    const [row] = await (tx ?? this.database).run<R>(statement);
    if (!row) throw new NotFound(snippetKind.resource);
    return row;
  }
}

function readsSnippets(viewer: Viewer, place: ParentFacts): boolean {
  return reads(snippetKind.feature, place, readerOf(viewer, place));
}

/** The first five values of every statement here. Outside of projects administrators are what members are in them. */
function readerValues(viewer: Viewer, place: SnippetPlace): unknown[] {
  const isMember = place ? readerOf(viewer, place).isMember : viewer.isAdmin;
  return [place?.id ?? null, viewer.userId, isMember, viewer.isExternal, place?.fullPath ?? null];
}
