import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import { projectAccessRowSql } from '../../../base/noteables/access-sql';
import { isClosedByReferenceSql } from '../../issues/closing/close-issues';
import { targetsDefaultBranchSql } from '../../issues/closing/closing-sql';
import { issueKind } from '../../issues/issue.kind';

interface ClosingReferencesParams {
  readonly id: number;
  readonly viewer: number;
  readonly is_admin: boolean;
  readonly is_external: boolean;
}

const MAX_REFERENCES = 100;
const PERSON = { user: ':viewer::bigint', isAdmin: ':is_admin::boolean', isExternal: ':is_external::boolean' };

const closingReferences = statement<ClosingReferencesParams, { readonly path: string; readonly iid: number }>(
  'merge_request_issues_references',
  `select case when i.project_id = named.project_id then '' else a.full_path end as path, i.iid
   from merge_requests named
   join lateral (select distinct r.issue_id from merge_request_issues r
     where r.merge_request_id = named.id and r.closes) l on true
   join issues i on i.id = l.issue_id join directory_projects p on p.id = i.project_id
   cross join lateral ${projectAccessRowSql('i.project_id', PERSON)} a
   where named.id = :id::bigint and ${targetsDefaultBranchSql('named')}
     and ${isClosedByReferenceSql(PERSON.user)}
     and (i.project_id = named.project_id or (p.visibility = 'public' and not i.confidential))
   order by 1, i.iid limit ${MAX_REFERENCES}`,
);

/** Reads references to the issues that merge requests close. Source: reference repositories 8.9, 8.17. */
@Injectable()
export class ClosingReferencesFinder {
  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
  ) {}

  /**
   * Returns references to the issues that the merge of a request by the viewer closes. Those of the project of the request
   * come first. An issue of another project has its full path, and is named only if everybody may read it: the message of
   * a commit is for everybody who reads the code.
   */
  async find(viewer: SignedInViewer, mergeRequestId: number): Promise<string[]> {
    await this.directory.requireFresh(viewer);
    const { userId, isAdmin: is_admin, isExternal: is_external } = viewer;
    const values = { id: mergeRequestId, viewer: userId, is_admin, is_external };
    const rows = await this.database.run(closingReferences, values);
    return rows.map(({ path, iid }) => `${path}${issueKind.sigil}${iid}`);
  }
}
