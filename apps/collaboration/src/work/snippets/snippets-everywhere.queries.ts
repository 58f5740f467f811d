import { Inject, Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { jsonPageOf } from '@rookery/kernel';
import type { JsonPage, JsonPageRow, PageRequest, SignedInViewer } from '@rookery/kernel';
import { Database, isUsualPage, CachedStatements, ListQuery } from '@rookery/persistence';
import type { SqlDraft, Statement } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { projectAccessRowSql } from '../../base/noteables/access-sql';
import { jsonArraySql } from '../../base/noteables/json.shape';
import type { ShapeSql } from '../../base/noteables/json.shape';
import { toReaderSql } from '../../base/noteables/noteable-kinds';
import { snippetKind } from './snippet.kind';
import { SNIPPET_BYTES, snippetShape } from './snippet.shape';
import { SNIPPET_FILTERS } from './snippets.queries';
import type { SnippetFilters } from './snippets.queries';

// First parameters of every statement here: the viewer.
const PERSON = { user: '$1::bigint', isAdmin: '$2::boolean', isExternal: '$3::boolean' };
const OTHERS = `own.project_id is null and own.author_id <> ${PERSON.user} and own.visibility`;
/**
 * Visible personal snippets in disjoint parts, each with an index of its own. PostgreSQL skips the parts of which the
 * viewer sees nothing.
 */
const PERSONAL = [
  `own.project_id is null and own.author_id = ${PERSON.user}`,
  `${OTHERS} = 'public'`,
  `${OTHERS} = 'internal' and (${PERSON.isAdmin} or not ${PERSON.isExternal})`,
  `${OTHERS} = 'private' and ${PERSON.isAdmin}`,
].map((which) => `(select own.*, null::text as full_path from snippets own where ${which}) i`);
/** Projects with snippets that the viewer may read; access is computed once per project. */
const READ = `read as materialized (select a.* from (
    select p.id as project_id from directory_projects p
    where exists (select 1 from snippets own where own.project_id = p.id)) used
  cross join lateral ${projectAccessRowSql('used.project_id', PERSON)} a where a.reads_${snippetKind.feature})`;
const OF_PROJECT = '(select own.*, a.full_path from snippets own where own.project_id = a.project_id) i';
const VISIBLE = snippetKind.visibleSql(toReaderSql('a', PERSON.user));

/** Lists the snippets that a viewer sees, in projects and personal ones. Source: reference work-tracking 9.2. */
@Injectable()
export class SnippetsEverywhereQueries {
  private readonly kept = new CachedStatements();
  private readonly shape: ShapeSql;

  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    this.shape = snippetShape.toSql({ externalUrl, fullPath: 'i.full_path' });
  }

  /** Returns a page of snippets, newest first. */
  async list(viewer: SignedInViewer, asked: SnippetFilters, page: PageRequest): Promise<JsonPage> {
    await this.directory.requireFresh(viewer);
    const statement = this.pageStatement(asked, page, [viewer.userId, viewer.isAdmin, viewer.isExternal]);
    const [row] = await this.database.run<JsonPageRow>(statement);
    return jsonPageOf(page, row!);
  }

  pageStatement(asked: SnippetFilters, page: PageRequest, values: readonly unknown[]): Statement {
    const isPlain = Object.values(asked).every((value) => value === undefined);
    const name = isUsualPage(page) && isPlain ? `snippets_everywhere_${page.perPage}` : null;
    return this.kept.findOrCompose(name, values, (): SqlDraft => {
      const parts = { name: 'snippets', from: 'snippets i', carries: 'i.*', bytes: SNIPPET_BYTES, values };
      const list = new ListQuery<never>(parts)
        .where('true')
        .narrow(SNIPPET_FILTERS, asked)
        .orderBy([
          ['i.created_at', 'desc'],
          ['i.id', 'desc'],
        ]);
      const united = (end: string): string => personalAndProjectSnippetsSql(list.conditionSql, end);
      const first = (count: number): string => united(`order by i.created_at desc, i.id desc limit ${count}`);
      list.fromSource({ from: united(''), first, isNarrowed: true });
      return list.jsonSql(page, { with: READ, rows: (...rows) => jsonArraySql(this.shape, ...rows) });
    });
  }
}

function personalAndProjectSnippetsSql(condition: string, orderAndLimit: string): string {
  const personal = PERSONAL.map((part) => `(select i.* from ${part} where ${condition} ${orderAndLimit})`);
  // `offset 0` keeps PostgreSQL from repeating the lookups of the project for every snippet.
  const ofProject = `select i.* from ${OF_PROJECT} where ${VISIBLE} and ${condition} ${orderAndLimit || 'offset 0'}`;
  return `(${[...personal, `select i.* from read a cross join lateral (${ofProject}) i`].join(' union all ')}) i`;
}
