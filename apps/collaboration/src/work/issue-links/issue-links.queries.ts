import { Inject, Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { jsonPageOf, NotFound } from '@rookery/kernel';
import type { JsonPage, JsonPageRow, PageRequest, Viewer } from '@rookery/kernel';
import { Database, isUsualPage, CachedStatements, ListQuery } from '@rookery/persistence';
import type { SqlDraft, Statement } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { issueKind } from '../issues/issue.kind';
import { issueTextBytesSql } from '../issues/issue.shape';
import type { IssueProject } from '../issues/issues.queries';
import { projectAccessRowSql } from '../../base/noteables/access-sql';
import { jsonArraySql } from '../../base/noteables/json.shape';
import type { ShapeSql } from '../../base/noteables/json.shape';
import { canReadNoteableRowSql, createNoteableJsonSql } from '../../base/noteables/noteable-kinds';
import { requireNoteableReader } from '../../base/noteables/reader';
import { issueLinkShape, linkedIssueShape } from './issue-link.shape';

/** The issue that a request path names. */
export interface IssueKey {
  readonly project: IssueProject;
  readonly iid: number;
}

// First parameters of every statement here: the issue, the viewer, and the facts of the project that is shown.
const READER = { viewer: '$3::bigint', isMember: '$4::boolean', readsConfidential: '$5::boolean' };
const PERSON = { user: '$3::bigint', isAdmin: '$6::boolean', isExternal: '$7::boolean' };
const OWN = { fullPath: '$8::text', above: '$9::bigint[]', readsInternal: '$10::boolean', person: PERSON };
const LINK = '$11::bigint';
/** The issue that the path names; no row if the viewer may not see it. */
const NAMED = `(select i.id from issues i where i.project_id = $1::bigint and i.iid = $2::bigint
  and ${issueKind.visibleSql(READER)}) named`;
/** Its links from its own view. */
const LINKS = `(select s.id, s.source_id as own_id, s.target_id as other_id, s.link_type, s.created_at
    from issue_links s where s.source_id = named.id
  union all select t.id, t.target_id, t.source_id, case t.link_type when 'blocks' then 'is_blocked_by' else t.link_type end,
    t.created_at from issue_links t where t.target_id = named.id)`;
const ACCESS = projectAccessRowSql('i.project_id', PERSON);
const READABLE = canReadNoteableRowSql(issueKind, 'a', PERSON.user);
/** The issues at the other ends that the viewer sees, of all projects. */
const OTHERS = `(select i.*, a.full_path, a.traversal_ids, a.reads_internal, l.id as issue_link_id, l.link_type,
    l.created_at as link_created_at
  from ${LINKS} l join issues i on i.id = l.other_id cross join lateral ${ACCESS} a where ${READABLE}) i`;

/** Reads links of issues; a viewer sees a link if they see both of its issues. Source: reference work-tracking 9.1. */
@Injectable()
export class IssueLinksQueries {
  private readonly kept = new CachedStatements();
  private readonly listed: ShapeSql;
  private readonly oneSql: string;

  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    this.listed = linkedIssueShape.toSql(createNoteableJsonSql('i', externalUrl, PERSON));
    const link = issueLinkShape.toSql({
      own: { externalUrl, ...OWN },
      other: createNoteableJsonSql('link', externalUrl, PERSON),
    });
    this.oneSql = `select link.id, link.other_project_id, case when link.id is not null then ${link.sql} end as json
      from ${NAMED} left join lateral (
        select l.*, i.project_id as other_project_id, a.full_path, a.traversal_ids, a.reads_internal
        from ${LINKS} l join issues i on i.id = l.other_id cross join lateral ${ACCESS} a
        where l.id = ${LINK} and ${READABLE}) link on true`;
  }

  /** Returns a page of linked issues, oldest link first. Errors: NotFound of the issue. */
  async list(viewer: Viewer, named: IssueKey, page: PageRequest): Promise<JsonPage> {
    const values = valuesOfIssueLinksStatement(viewer, named);
    await this.directory.requireFresh(viewer);
    const [row] = await this.database.run<JsonPageRow>(this.pageStatement(page, values));
    if (!row) throw new NotFound(issueKind.resource);
    return jsonPageOf(page, row);
  }

  /**
   * Returns a link from the view of the issue as JSON text, and the id of the other issue's project.
   * Errors: NotFound of the issue, or of the link.
   */
  async findLink(
    viewer: Viewer,
    named: IssueKey,
    linkId: number,
  ): Promise<{ readonly otherProjectId: number; readonly json: string }> {
    const values = [...valuesOfIssueLinksStatement(viewer, named), linkId];
    await this.directory.requireFresh(viewer);
    const statement = this.kept.findOrCompose('issue_links_one', values, () => ({ text: this.oneSql, values }));
    type Row = { id: number | null; other_project_id: number; json: string };
    const [row] = await this.database.run<Row>(statement);
    if (!row) throw new NotFound(issueKind.resource);
    if (row.id === null) throw new NotFound();
    return { otherProjectId: row.other_project_id, json: row.json };
  }

  pageStatement(page: PageRequest, values: readonly unknown[]): Statement {
    const name = isUsualPage(page) ? `issue_links_${page.perPage}` : null;
    return this.kept.findOrCompose(name, values, (): SqlDraft =>
      new ListQuery<never>({ name: 'issue_links', from: OTHERS, carries: 'i.*', bytes: issueTextBytesSql({}), values })
        .orderBy([['i.issue_link_id', 'asc']], 'i.issue_link_id')
        .jsonSql(page, { rows: (...rows) => jsonArraySql(this.listed, ...rows), from: `from ${NAMED}` }),
    );
  }
}

/**
 * Returns the parameters for the issue and the viewer. Errors: NotFound of the issue if the project shows no issues to
 * the viewer.
 */
function valuesOfIssueLinksStatement(viewer: Viewer, { project, iid }: IssueKey): unknown[] {
  const { viewerId, isMember, readsConfidential, readsInternal } = requireNoteableReader(viewer, {
    kind: issueKind,
    parent: project,
  });
  const viewerValues = [viewerId, isMember, readsConfidential, viewer.isAdmin, viewer.isExternal];
  return [project.id, iid, ...viewerValues, project.fullPath, project.namespace.traversalIds, readsInternal];
}
