import { Inject, Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { jsonPageOf, NotFound } from '@rookery/kernel';
import type { JsonPage, JsonPageRow, PageRequest, Viewer } from '@rookery/kernel';
import { Database, isUsualPage, CachedStatements, ListQuery } from '@rookery/persistence';
import type { SqlDraft, Statement } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { projectAccessRowSql } from '../../base/noteables/access-sql';
import { jsonArraySql } from '../../base/noteables/json.shape';
import type { ShapeSql } from '../../base/noteables/json.shape';
import { cachePerNoteableKind, canReadNoteableRowSql } from '../../base/noteables/noteable-kinds';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import type { PlanningSource } from '../../base/noteables/planning.policy';

/** Parameters of the statement. `place` is the project or group that the path names. */
export interface MilestoneNoteablesParams {
  readonly milestone: number;
  readonly place: number;
  readonly viewer: number | null;
  readonly is_admin: boolean;
  readonly is_external: boolean;
}

const PERSON = { user: ':viewer::bigint', isAdmin: ':is_admin::boolean', isExternal: ':is_external::boolean' };
/**
 * Projects with noteables of the milestone, within its project or group, that the viewer sees. Access is computed once per
 * project.
 */
const readableProjectsOfMilestoneSql = (
  { table }: NoteableKind,
  within: PlanningSource['kind'],
): string => `select access.*
  from (select distinct s.project_id from ${table} s where s.milestone_id = :milestone::bigint) used
  cross join lateral ${projectAccessRowSql('used.project_id', PERSON)} access
  where ${within === 'project' ? 'access.project_id = :place::bigint' : ':place::bigint = any(access.traversal_ids)'} offset 0`;

/** Lists noteables of a milestone in all projects that the viewer sees. Source: reference work-tracking 9.5. */
@Injectable()
export class MilestoneNoteablesQueries {
  private readonly kept = new CachedStatements();
  private readonly shapeOf: (kind: NoteableKind) => ShapeSql;

  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    const rows = { fullPath: 'i.full_path', above: 'i.traversal_ids', readsInternal: 'i.reads_internal' };
    this.shapeOf = cachePerNoteableKind((kind) => kind.listed.toSql({ externalUrl, ...rows, person: PERSON }));
  }

  /**
   * Returns a page of noteables of a kind, newest first. Errors: NotFound of the milestone, also if it belongs to another project or
   * group.
   */
  async list(
    kind: NoteableKind,
    viewer: Viewer,
    source: PlanningSource,
    { milestoneId, page }: { readonly milestoneId: number; readonly page: PageRequest },
  ): Promise<JsonPage> {
    await this.directory.requireFresh(viewer);
    const { userId, isAdmin, isExternal } = viewer;
    const place = { milestone: milestoneId, place: source.id };
    const values = { ...place, viewer: userId, is_admin: isAdmin, is_external: isExternal };
    const [row] = await this.database.run(this.pageStatement(kind, source.kind, page, values));
    if (!row) throw new NotFound();
    return jsonPageOf(page, row);
  }

  pageStatement(
    kind: NoteableKind,
    within: PlanningSource['kind'],
    page: PageRequest,
    values: MilestoneNoteablesParams,
  ): Statement<JsonPageRow> {
    const name = isUsualPage(page) ? `${kind.table}_of_milestone_in_${within}_${page.perPage}` : null;
    return this.kept.findOrCompose(name, values, (): SqlDraft => {
      const from = `(${readableProjectsOfMilestoneSql(kind, within)}) a cross join ${kind.table} i`;
      const carries = 'i.*, a.full_path, a.traversal_ids, a.reads_internal';
      return new ListQuery<never>({ name: kind.table, from, carries, bytes: kind.listedBytes, values })
        .where('i.milestone_id = :milestone::bigint and i.project_id = a.project_id')
        .where(canReadNoteableRowSql(kind, 'a', PERSON.user))
        .orderBy([['i.created_at', 'desc']])
        .jsonSql(page, {
          rows: (...rows) => jsonArraySql(this.shapeOf(kind), ...rows),
          from: `from milestones m where m.id = :milestone::bigint and m.${within}_id = :place::bigint`,
        });
    });
  }
}
