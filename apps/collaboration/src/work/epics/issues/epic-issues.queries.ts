import { Inject, Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import type { JsonPage, JsonPageRow, PageRequest, SignedInViewer } from '@rookery/kernel';
import { jsonPageOf, NotFound } from '@rookery/kernel';
import { Database, isUsualPage, CachedStatements, ListQuery } from '@rookery/persistence';
import type { SqlDraft, SqlReader, Statement } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { issueKind } from '../../issues/issue.kind';
import { issueTextBytesSql } from '../../issues/issue.shape';
import { projectAccessRowSql } from '../../../base/noteables/access-sql';
import { jsonArraySql } from '../../../base/noteables/json.shape';
import type { ShapeSql } from '../../../base/noteables/json.shape';
import { canReadNoteableRowSql, createNoteableJsonSql } from '../../../base/noteables/noteable-kinds';
import { createNoteableReader } from '../../../base/noteables/reader';
import { epicKind } from '../epic.kind';
import type { EpicGroup } from '../epics.queries';
import { epicIssueShape, servingIssueShape } from './epic-issue.shape';

/** The epic that a request path names. */
export interface EpicKey {
  readonly group: EpicGroup;
  readonly iid: number;
}

// First parameters of every statement here: the epic, the viewer, and the facts of the group that are shown.
const PERSON = { user: '$3::bigint', isAdmin: '$4::boolean', isExternal: '$5::boolean' };
const READS_CONFIDENTIAL = '$6::boolean';
const EPIC_OF = {
  ...{ fullPath: '$7::text', above: '$8::bigint[]', readsInternal: 'false' },
  ...{ mayEdit: READS_CONFIDENTIAL, person: PERSON },
};
const NAMED = `(select i.id from epics i where i.group_id = $1::bigint and i.iid = $2::bigint
  and ${epicKind.visibleSql({ viewer: PERSON.user, isMember: 'true', readsConfidential: READS_CONFIDENTIAL })}) named`;
const READ = `cross join lateral ${projectAccessRowSql('i.project_id', PERSON)} a where ${canReadNoteableRowSql(issueKind, 'a', PERSON.user)}`;
/** The issues of the epic that the viewer sees, of all projects. */
const ISSUES = `(select i.*, a.full_path, a.traversal_ids, a.reads_internal, l.id as epic_issue_id,
    l.relative_position as epic_position
  from (select l.* from epic_issues l where l.epic_id = named.id offset 0) l
  join issues i on i.id = l.issue_id ${READ}) i`;

/** Reads the issues of epics. Source: reference work-tracking 5.6. */
@Injectable()
export class EpicIssuesQueries {
  private readonly kept = new CachedStatements();
  private readonly listed: ShapeSql;
  private readonly oneSql: string;

  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    this.listed = servingIssueShape.toSql(createNoteableJsonSql('i', externalUrl, PERSON));
    const link = epicIssueShape.toSql({
      epic: { externalUrl, ...EPIC_OF },
      issue: createNoteableJsonSql('link', externalUrl, PERSON),
    });
    this.oneSql = `select link.id, link.issue_id, case when link.id is not null then ${link.sql} end as json
      from ${NAMED} left join lateral (
        select l.*, a.full_path, a.traversal_ids, a.reads_internal
        from epic_issues l join issues i on i.id = l.issue_id ${READ} and l.epic_id = named.id and l.id = $9::bigint
      ) link on true`;
  }

  /** Returns a page of issues in the order of the epic. Errors: NotFound of the epic. */
  async list(viewer: SignedInViewer, named: EpicKey, page: PageRequest): Promise<JsonPage> {
    await this.directory.requireFresh(viewer);
    const [row] = await this.database.run<JsonPageRow>(
      this.pageStatement(page, valuesOfEpicIssuesStatement(viewer, named)),
    );
    if (!row) throw new NotFound();
    return jsonPageOf(page, row);
  }

  pageStatement(page: PageRequest, values: readonly unknown[]): Statement {
    const name = isUsualPage(page) ? `epic_issues_${page.perPage}` : null;
    return this.kept.findOrCompose(name, values, (): SqlDraft =>
      new ListQuery<never>({ name: 'epic_issues', from: ISSUES, carries: 'i.*', bytes: issueTextBytesSql({}), values })
        .orderBy([['i.epic_position', 'asc']], 'i.epic_issue_id')
        .jsonSql(page, { rows: (...rows) => jsonArraySql(this.listed, ...rows), from: `from ${NAMED}` }),
    );
  }

  /** Returns a link with its epic and its issue. `json` is one object. Errors: NotFound of the epic, or of the link. */
  async findLink(
    reads: SqlReader,
    viewer: SignedInViewer,
    named: EpicKey,
    linkId: number,
  ): Promise<{ readonly issueId: number; readonly json: string }> {
    const values = [...valuesOfEpicIssuesStatement(viewer, named), linkId];
    const statement = this.kept.findOrCompose('epic_issues_one', values, () => ({ text: this.oneSql, values }));
    const [row] = await reads.run<{ id: number | null; issue_id: number; json: string }>(statement);
    if (!row || row.id === null) throw new NotFound();
    return { issueId: row.issue_id, json: row.json };
  }
}

function valuesOfEpicIssuesStatement(viewer: SignedInViewer, { group, iid }: EpicKey): unknown[] {
  const { readsConfidential } = createNoteableReader(viewer, group);
  const person = [viewer.userId, viewer.isAdmin, viewer.isExternal, readsConfidential];
  return [group.id, iid, ...person, group.fullPath, group.traversalIds];
}
