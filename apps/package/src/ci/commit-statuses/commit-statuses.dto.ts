import { Flag, Float, Int, OneOf, Text } from '@rookery/api-v4';
import type { StatusListing } from './commit-statuses.queries';
import type { StatusReport } from './commit-statuses.service';
import { REPORTED_STATUSES } from './commit-statuses.service';
import type { ReportedStatus } from './commit-statuses.service';

const ABOUT_COMMIT = 'Id of the commit, also abbreviated, or a branch or tag.';

/** Source: reference identity-and-import 7.4. */
export class CreateCommitStatus implements StatusReport {
  @Text({ in: 'path', about: ABOUT_COMMIT }) sha: string;
  @OneOf(REPORTED_STATUSES) state: ReportedStatus;
  @Text({ optional: true, about: 'Branch or tag. Default: that of the newest pipeline, or a branch with the commit.' })
  ref?: string;
  @Text({ optional: true, about: 'Name of the status, by default `default`.' }) name?: string;
  @Text({ optional: true, about: 'Another word for `name`.' }) context?: string;
  @Text({ optional: true, nullable: true, about: 'Page of the outside CI.' }) target_url?: string | null;
  @Text({ optional: true, nullable: true }) description?: string | null;
  @Float({ optional: true, nullable: true, min: 0, max: 100, about: 'Test coverage in percent.' }) coverage?:
    | number
    | null;
  @Int({ optional: true, about: 'Id of the pipeline that the status joins.' }) pipeline_id?: number;
}

export class ListCommitStatuses implements StatusListing {
  @Text({ in: 'path', about: ABOUT_COMMIT }) sha: string;
  @Text({ optional: true }) ref?: string;
  @Text({ optional: true, about: 'Stage of a job; `external` for reported statuses.' }) stage?: string;
  @Text({ optional: true, about: 'Name of the status or job.' }) name?: string;
  @Int({ optional: true, about: 'Id of the pipeline.' }) pipeline_id?: number;
  @OneOf(['id', 'pipeline_id'], { default: 'id' }) order_by: 'id' | 'pipeline_id';
  @OneOf(['asc', 'desc'], { default: 'asc' }) sort: 'asc' | 'desc';
  @Flag({ default: false, about: 'Also lists statuses that a later one of the same name replaced.' }) all: boolean;
}
