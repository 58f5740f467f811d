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
import { mergeRequestKind } from '../merge-request.kind';
import { mergeRequestTextBytesSql, mergeRequestShape } from '../merge-request.shape';
import { targetsDefaultBranchSql } from '../../issues/closing/closing-sql';

/** Relations of an issue to merge requests: those that close it when they are merged, or all. */
export type MergeRequestRelation = 'closing' | 'related';

/** Parameters of every statement here. */
export interface RelatedMergeRequestsParams {
  readonly project: number;
  readonly iid: number;
  readonly viewer: number | null;
  readonly is_member: boolean;
  readonly reads_confidential: boolean;
  readonly is_admin: boolean;
  readonly is_external: boolean;
}

const PERSON = { user: ':viewer::bigint', isAdmin: ':is_admin::boolean', isExternal: ':is_external::boolean' };
const READER = {
  viewer: PERSON.user,
  isMember: ':is_member::boolean',
  readsConfidential: ':reads_confidential::boolean',
};
/** The issue that the path names; no row if the viewer may not see it. */
const NAMED = `(select i.id, i.project_id from issues i where i.project_id = :project::bigint and i.iid = :iid::bigint
  and ${issueKind.visibleSql(READER)}) named`;
/** Ids of the merge requests of an issue. A text of either that refers to the other has left a note on the other. */
const RELATIONS: Readonly<Record<MergeRequestRelation, string>> = {
  closing: `select distinct r.merge_request_id as id from merge_request_issues r
    join merge_requests m on m.id = r.merge_request_id
    where r.issue_id = named.id and r.closes and ${targetsDefaultBranchSql('m')}`,
  related: `select r.merge_request_id as id from merge_request_issues r where r.issue_id = named.id
    union select n.referenced_id from notes n where n.noteable_id = named.id and n.noteable_type = 'Issue'
      and n.referenced_type = 'MergeRequest' and n.referenced_id is not null and n.body like 'mentioned in %'
    union select n.noteable_id from notes n where n.referenced_id = named.id and n.referenced_type = 'Issue'
      and n.noteable_type = 'MergeRequest' and n.body like 'mentioned in %'`,
};

/** Reads the merge requests of issues, of all projects that the viewer sees. Source: reference work-tracking 9.1. */
@Injectable()
export class RelatedMergeRequestsQueries {
  private readonly kept = new CachedStatements();
  private readonly listed: ShapeSql;

  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    this.listed = mergeRequestShape.toSql({ ...createNoteableJsonSql('i', externalUrl, PERSON), seenAs: 'i.seen_as' });
  }

  /** Returns a page of merge requests, the oldest first. Errors: NotFound of the issue. */
  async list(
    viewer: Viewer,
    project: ProjectScope,
    iid: number,
    relation: MergeRequestRelation,
    page: PageRequest,
  ): Promise<JsonPage> {
    const reader = requireNoteableReader(viewer, { kind: issueKind, parent: project });
    await this.directory.requireFresh(viewer);
    const person = { viewer: viewer.userId, is_admin: viewer.isAdmin, is_external: viewer.isExternal };
    const rights = { is_member: reader.isMember, reads_confidential: reader.readsConfidential };
    const values = { project: project.id, iid, ...person, ...rights };
    const [row] = await this.database.run(this.pageStatement(values, relation, page));
    if (!row) throw new NotFound(issueKind.resource);
    return jsonPageOf(page, row);
  }

  pageStatement(
    values: RelatedMergeRequestsParams,
    relation: MergeRequestRelation,
    page: PageRequest,
  ): Statement<JsonPageRow> {
    const name = isUsualPage(page) ? `issues_merge_requests_${relation}_${page.perPage}` : null;
    return this.kept.findOrCompose(name, values, (): SqlDraft => {
      const from = `(select i.*, a.full_path, a.traversal_ids, a.reads_internal,
          case when i.project_id = named.project_id then '' else a.full_path end as seen_as
        from (${RELATIONS[relation]}) l join merge_requests i on i.id = l.id
        cross join lateral ${projectAccessRowSql('i.project_id', PERSON)} a
        where ${canReadNoteableRowSql(mergeRequestKind, 'a', PERSON.user)}) i`;
      const parts = {
        name: 'issues_merge_requests',
        from,
        carries: 'i.*',
        bytes: mergeRequestTextBytesSql({}),
        values,
      };
      return new ListQuery<never>(parts)
        .orderBy([['i.id', 'asc']])
        .jsonSql(page, { rows: (...rows) => jsonArraySql(this.listed, ...rows), from: `from ${NAMED}` });
    });
  }
}
