import { Inject, Injectable } from '@nestjs/common';
import type { ProjectScope } from '@rookery/api-v4';
import { NotFound } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { Database, statement } from '@rookery/persistence';
import type { DeclaredStatement } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { jsonArraySql } from '../../../base/noteables/json.shape';
import { requireNoteableReader } from '../../../base/noteables/reader';
import { mergeRequestKind } from '../merge-request.kind';
import { reviewerShape } from './reviewer.shape';

/** Reads the reviewers of merge requests. */
@Injectable()
export class ReviewersQueries {
  private readonly listed: DeclaredStatement<{ project: number; iid: number }, { readonly json: string }>;

  constructor(
    private readonly database: Database,
    @Inject(platformSettings.token) { externalUrl }: SettingsOf<typeof platformSettings>,
  ) {
    const from =
      'from merge_request_reviewers s join directory_users u on u.id = s.user_id where s.merge_request_id = i.id';
    const array = jsonArraySql(reviewerShape.toSql({ externalUrl }), from, 's.position');
    const sql = `select ${array} as json from merge_requests i where i.project_id = :project::bigint and i.iid = :iid::bigint`;
    this.listed = statement('merge_request_reviewers_listed', () => sql);
  }

  /** Returns the reviewers in the order of the requests, as JSON text. Errors: NotFound, Forbidden. */
  async list(viewer: Viewer, within: ProjectScope, iid: number): Promise<string> {
    requireNoteableReader(viewer, { kind: mergeRequestKind, parent: within });
    const [row] = await this.database.run(this.listed, { project: within.id, iid });
    if (!row) throw new NotFound();
    return row.json;
  }
}
