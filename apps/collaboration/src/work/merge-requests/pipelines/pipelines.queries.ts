import { Inject, Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { jsonPageOf, NotFound } from '@rookery/kernel';
import type { JsonPage, PageRequest, Viewer } from '@rookery/kernel';
import { Database, isUsualPage, CachedStatements, ListQuery, statement } from '@rookery/persistence';
import type { SqlDraft } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { jsonArraySql } from '../../../base/noteables/json.shape';
import type { ShapeSql } from '../../../base/noteables/json.shape';
import { requireNoteableReader } from '../../../base/noteables/reader';
import { mergeRequestKind } from '../merge-request.kind';
import { OF_REFS_SQL, SHOWN_SQL } from './head-pipeline-sql';
import { pipelineShape } from './pipelines.shape';

const findMergeRequestId = statement<{ project: number; iid: number }, { readonly id: number }>(
  'merge_request_pipelines_of',
  'select id from merge_requests where project_id = :project::bigint and iid = :iid::bigint',
);

/** Reads pipelines of merge requests. Source: reference repositories 8.16. */
@Injectable()
export class MergeRequestPipelinesQueries {
  private readonly kept = new CachedStatements();
  private readonly shape: ShapeSql;

  constructor(
    private readonly database: Database,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    this.shape = pipelineShape.toSql({ externalUrl, fullPath: ':full_path::text' });
  }

  /** Pipelines of all heads of a merge request, the newest first. Errors: NotFound, Forbidden. */
  async list(viewer: Viewer, project: ProjectScope, iid: number, page: PageRequest): Promise<JsonPage> {
    requireNoteableReader(viewer, { kind: mergeRequestKind, parent: project });
    const [mergeRequest] = await this.database.run(findMergeRequestId, { project: project.id, iid });
    if (!mergeRequest) throw new NotFound();
    const values = { id: mergeRequest.id, full_path: project.fullPath };
    const statementOfPage = this.kept.findOrCompose(statementNameOfPipelinesPage(page), values, (): SqlDraft =>
      new ListQuery<never>({ name: 'merge_request_pipelines', from: 'ci_pipelines c', carries: 'c.*', values })
        .where(`exists (select 1 from merge_requests i where i.id = :id::bigint and ${OF_REFS_SQL} and ${SHOWN_SQL})`)
        .where('c.sha in (select v.head_sha from merge_request_versions v where v.merge_request_id = :id::bigint)')
        .orderBy([['c.id', 'desc']])
        .jsonSql(page, { rows: (...rows) => jsonArraySql(this.shape, ...rows) }),
    );
    const [row] = await this.database.run(statementOfPage);
    return jsonPageOf(page, row!);
  }
}

const statementNameOfPipelinesPage = (page: PageRequest): string | null =>
  isUsualPage(page) ? `merge_request_pipelines_page_${page.perPage}` : null;
