import { Inject, Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import type { JsonPage, JsonPageRow, PageRequest, SignedInViewer } from '@rookery/kernel';
import { jsonPageOf, NotFound } from '@rookery/kernel';
import { Database, isUsualPage, CachedStatements, ListQuery } from '@rookery/persistence';
import type { SqlDraft, Statement } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { groupAccessRowSql } from '../../../base/noteables/access-sql';
import { jsonArraySql } from '../../../base/noteables/json.shape';
import type { ShapeSql } from '../../../base/noteables/json.shape';
import { canReadNoteableRowSql } from '../../../base/noteables/noteable-kinds';
import { createNoteableReader } from '../../../base/noteables/reader';
import { epicKind } from '../epic.kind';
import { epicTextBytesSql, listedEpicShape } from '../epic.shape';
import type { EpicKey } from '../issues/epic-issues.queries';
import { childEpicLinkShape } from './child-epic.shape';

// First parameters of every statement here: the epic and the viewer.
const PERSON = { user: '$3::bigint', isAdmin: '$4::boolean', isExternal: '$5::boolean' };
const READS_CONFIDENTIAL = '$6::boolean';
const NAMED = `(select i.id, i.iid from epics i where i.group_id = $1::bigint and i.iid = $2::bigint
  and ${epicKind.visibleSql({ viewer: PERSON.user, isMember: 'true', readsConfidential: READS_CONFIDENTIAL })}) named`;
const SHOWN = `i.*, a.full_path, a.traversal_ids, a.reads_internal, a.reads_confidential as may_edit,
  case when a.group_id = $1::bigint then '' else a.full_path end as seen_as`;
const READABLE = canReadNoteableRowSql(epicKind, 'a', PERSON.user);
/** The children that the viewer sees; access is computed once per group. */
const CHILDREN = `(select ${SHOWN}
  from (select distinct c.group_id from epics c where c.parent_id = named.id offset 0) used
  cross join lateral ${groupAccessRowSql('used.group_id', PERSON)} a
  join epics i on i.parent_id = named.id and i.group_id = a.group_id where ${READABLE}) i`;

/** Reads child epics. Source: reference work-tracking 5.7. */
@Injectable()
export class ChildEpicsQueries {
  private readonly kept = new CachedStatements();
  private readonly listed: ShapeSql;
  private readonly oneSql: string;
  private readonly linkSql: string;

  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    const rows = { fullPath: 'i.full_path', above: 'i.traversal_ids', readsInternal: 'i.reads_internal' };
    const sql = { externalUrl, ...rows, seenAs: 'i.seen_as', mayEdit: 'i.may_edit', person: PERSON };
    this.listed = listedEpicShape.toSql(sql);
    this.oneSql = `select ${this.listed.sql} as json from (select ${SHOWN} from epics i
      cross join lateral ${groupAccessRowSql('i.group_id', PERSON)} a where i.id = $7::bigint and ${READABLE}) i`;
    const link = childEpicLinkShape.toSql({ externalUrl, fullPath: '$8::text' });
    this.linkSql = `select ${link.sql} as json from ${NAMED} join epics i on i.parent_id = named.id and i.id = $7::bigint`;
  }

  /** Returns a page of children in the order of their parent. Errors: NotFound of the epic. */
  async list(viewer: SignedInViewer, named: EpicKey, page: PageRequest): Promise<JsonPage> {
    await this.directory.requireFresh(viewer);
    const [row] = await this.database.run<JsonPageRow>(
      this.pageStatement(page, valuesOfChildEpicsStatement(viewer, named)),
    );
    if (!row) throw new NotFound();
    return jsonPageOf(page, row);
  }

  pageStatement(page: PageRequest, values: readonly unknown[]): Statement {
    const name = isUsualPage(page) ? `child_epics_${page.perPage}` : null;
    return this.kept.findOrCompose(name, values, (): SqlDraft =>
      new ListQuery<never>({ name: 'child_epics', from: CHILDREN, carries: 'i.*', bytes: epicTextBytesSql({}), values })
        .orderBy([['i.relative_position', 'asc']])
        .jsonSql(page, { rows: (...rows) => jsonArraySql(this.listed, ...rows), from: `from ${NAMED}` }),
    );
  }

  /** Returns an epic as JSON text, with references relative to the group of another epic. Errors: NotFound. */
  async findChild(viewer: SignedInViewer, named: EpicKey, id: number): Promise<string> {
    return this.queryJson('child_epics_one', this.oneSql, [...valuesOfChildEpicsStatement(viewer, named), id]);
  }

  /** Returns a child that was just created, as JSON text. Errors: NotFound if it is no longer a child. */
  async findLink(viewer: SignedInViewer, named: EpicKey, id: number): Promise<string> {
    const values = [...valuesOfChildEpicsStatement(viewer, named), id, named.group.fullPath];
    return this.queryJson('child_epics_link', this.linkSql, values);
  }

  private async queryJson(statementName: string, text: string, values: readonly unknown[]): Promise<string> {
    const [row] = await this.database.run<{ json: string }>(
      this.kept.findOrCompose(statementName, values, () => ({ text, values })),
    );
    if (!row) throw new NotFound();
    return row.json;
  }
}

function valuesOfChildEpicsStatement(viewer: SignedInViewer, { group, iid }: EpicKey): unknown[] {
  const { readsConfidential } = createNoteableReader(viewer, group);
  return [group.id, iid, viewer.userId, viewer.isAdmin, viewer.isExternal, readsConfidential];
}
