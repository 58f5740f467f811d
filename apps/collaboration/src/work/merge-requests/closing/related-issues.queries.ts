import { Inject, Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import { jsonPageOf, NotFound } from '@rookery/kernel';
import type { JsonPage, JsonPageRow, PageRequest, Viewer } from '@rookery/kernel';
import { Database, isUsualPage, CachedStatements, ListQuery } from '@rookery/persistence';
import type { SqlDraft, Statement } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { projectAccessRowSql } from '../../../base/noteables/access-sql';
import { jsonArraySql } from '../../../base/noteables/json.shape';
import type { ShapeSql } from '../../../base/noteables/json.shape';
import { canReadNoteableRowSql, createNoteableJsonSql } from '../../../base/noteables/noteable-kinds';
import { requireNoteableReader } from '../../../base/noteables/reader';
import { issueKind } from '../../issues/issue.kind';
import { issueTextBytesSql, issueShape } from '../../issues/issue.shape';
import { mergeRequestKind } from '../merge-request.kind';
import { targetsDefaultBranchSql } from '../../issues/closing/closing-sql';

/** Relations of a merge request to issues: those that merging closes, or all that it refers to. */
export type IssueRelation = 'closed' | 'related';

/** Parameters of every statement here. */
export interface RelatedIssuesParams {
  readonly project: number;
  readonly iid: number;
  readonly viewer: number | null;
  readonly is_admin: boolean;
  readonly is_external: boolean;
}

const PERSON = { user: ':viewer::bigint', isAdmin: ':is_admin::boolean', isExternal: ':is_external::boolean' };
/** The merge request that the path names. */
const NAMED = `(select m.id, m.project_id, m.target_branch from merge_requests m
  where m.project_id = :project::bigint and m.iid = :iid::bigint) named`;
/** Ids of the issues of the merge request. A comment that refers to an issue has written a system note on that issue, by which it is found. */
const RELATIONS: Readonly<Record<IssueRelation, string>> = {
  closed: `select distinct r.issue_id from merge_request_issues r
    where r.merge_request_id = named.id and r.closes and ${targetsDefaultBranchSql('named')}`,
  related: `select r.issue_id from merge_request_issues r where r.merge_request_id = named.id
    union select n.noteable_id from notes n where n.referenced_id = named.id and n.referenced_type = 'MergeRequest'
      and n.noteable_type = 'Issue' and n.body like 'mentioned in %'`,
};

/** Reads the issues of merge requests, of all projects that the viewer sees. Source: reference repositories 8.17. */
@Injectable()
export class RelatedIssuesQueries {
  private readonly kept = new CachedStatements();
  private readonly listed: ShapeSql;

  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    this.listed = issueShape.toSql({ ...createNoteableJsonSql('i', externalUrl, PERSON), seenAs: 'i.seen_as' });
  }

  /** Returns a page of issues, the oldest first. Errors: NotFound, Forbidden. */
  async list(
    viewer: Viewer,
    project: ProjectScope,
    iid: number,
    relation: IssueRelation,
    page: PageRequest,
  ): Promise<JsonPage> {
    requireNoteableReader(viewer, { kind: mergeRequestKind, parent: project });
    await this.directory.requireFresh(viewer);
    const { userId, isAdmin: is_admin, isExternal: is_external } = viewer;
    const values = { project: project.id, iid, viewer: userId, is_admin, is_external };
    const [row] = await this.database.run(this.pageStatement(values, relation, page));
    if (!row) throw new NotFound();
    return jsonPageOf(page, row);
  }

  pageStatement(values: RelatedIssuesParams, relation: IssueRelation, page: PageRequest): Statement<JsonPageRow> {
    const name = isUsualPage(page) ? `merge_requests_issues_${relation}_${page.perPage}` : null;
    return this.kept.findOrCompose(name, values, (): SqlDraft => {
      const from = `(select i.*, a.full_path, a.traversal_ids, a.reads_internal,
          case when i.project_id = named.project_id then '' else a.full_path end as seen_as
        from (${RELATIONS[relation]}) l join issues i on i.id = l.issue_id
        cross join lateral ${projectAccessRowSql('i.project_id', PERSON)} a
        where ${canReadNoteableRowSql(issueKind, 'a', PERSON.user)}) i`;
      return new ListQuery<never>({
        name: 'merge_requests_issues',
        from,
        carries: 'i.*',
        bytes: issueTextBytesSql({}),
        values,
      })
        .orderBy([['i.id', 'asc']])
        .jsonSql(page, { rows: (...rows) => jsonArraySql(this.listed, ...rows), from: `from ${NAMED}` });
    });
  }
}
