import { Inject, Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { jsonPageOf, NotFound } from '@rookery/kernel';
import type { JsonPage, JsonPageRow, PageRequest, Viewer } from '@rookery/kernel';
import { Database, isUsualPage, KeptStatements, ListQuery } from '@rookery/persistence';
import type { Draft, Statement } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { projectAccessSql } from '../../../base/noteables/access-sql';
import { arraySql } from '../../../base/noteables/json.shape';
import type { WrittenShape } from '../../../base/noteables/json.shape';
import { readableSql } from '../../../base/noteables/noteable-kinds';
import type { PlanningSource } from '../../../base/noteables/planning.policy';
import { issueKind } from '../issue.kind';
import { issueBytes, issueShape } from '../issue.shape';

/** Values of the statement. Shape: `place` is the project or group that the path names. */
export interface MilestoneIssuesParams {
  readonly milestone: number;
  readonly place: number;
  readonly viewer: number | null;
  readonly is_admin: boolean;
  readonly is_external: boolean;
}

const PERSON = { user: ':viewer::bigint', isAdmin: ':is_admin::boolean', isExternal: ':is_external::boolean' };
/** Projects that use the milestone, that it reaches and that the reader sees. Access is decided once for each. */
const seenSql = (kind: PlanningSource['kind']): string => `select access.*
  from (select distinct s.project_id from issues s where s.milestone_id = :milestone::bigint) used
  cross join lateral ${projectAccessSql('used.project_id', PERSON)} access
  where ${kind === 'project' ? 'access.project_id = :place::bigint' : ':place::bigint = any(access.traversal_ids)'} offset 0`;

/** Issues that have a milestone, in all projects where the reader sees them. Source: reference work-tracking 9.5. */
@Injectable()
export class MilestoneIssuesQueries {
  private readonly kept = new KeptStatements();
  private readonly shown: WrittenShape;

  constructor(
    private readonly database: Database,
    private readonly directory: Directory,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    this.shown = issueShape.over({
      externalUrl,
      fullPath: 'i.full_path',
      above: 'i.traversal_ids',
      readsInternal: 'i.reads_internal',
      person: PERSON,
    });
  }

  /** Newest first. Errors: NotFound of the milestone, also for one that is not the place's own. */
  async page(viewer: Viewer, source: PlanningSource, milestoneId: number, page: PageRequest): Promise<JsonPage> {
    await this.directory.fresh(viewer);
    const { userId, isAdmin, isExternal } = viewer;
    const place = { milestone: milestoneId, place: source.id };
    const values = { ...place, viewer: userId, is_admin: isAdmin, is_external: isExternal };
    const [row] = await this.database.run(this.pageStatement(source.kind, page, values));
    if (!row) throw new NotFound();
    return jsonPageOf(page, row);
  }

  pageStatement(
    kind: PlanningSource['kind'],
    page: PageRequest,
    values: MilestoneIssuesParams,
  ): Statement<JsonPageRow> {
    const name = isUsualPage(page) ? `issues_of_milestone_in_${kind}_${page.perPage}` : null;
    return this.kept.statement(name, values, (): Draft => {
      const from = `(${seenSql(kind)}) a cross join issues i`;
      const carries = 'i.*, a.full_path, a.traversal_ids, a.reads_internal';
      return new ListQuery<never>({ name: 'issues', from, carries, bytes: issueBytes({}), values })
        .where('i.milestone_id = :milestone::bigint and i.project_id = a.project_id')
        .where(readableSql(issueKind, 'a', PERSON.user))
        .orderBy([['i.created_at', 'desc']])
        .json(page, {
          rows: (...rows) => arraySql(this.shown, ...rows),
          from: `from milestones m where m.id = :milestone::bigint and m.${kind}_id = :place::bigint`,
        });
    });
  }
}
