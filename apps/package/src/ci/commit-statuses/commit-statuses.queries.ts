import { Injectable } from '@nestjs/common';
import type { Page, PageRequest } from '@rookery/kernel';
import { Database, filter, ListQuery, statement } from '@rookery/persistence';
import type { Filters, SqlReader } from '@rookery/persistence';
import { JOB_COLUMNS } from '../jobs/ci-job-rows';
import type { CiJobRow } from '../jobs/ci-job-rows';
import { PIPELINE_COLUMNS } from '../pipelines/pipelines.queries';
import type { StoredPipeline } from '../pipelines/pipelines.queries';

/** A status of a commit. */
export interface CommitStatusRow extends CiJobRow {
  readonly sha: string;
}

/** Filters and order of the statuses of a commit. Source: reference identity-and-import 7.4. */
export interface StatusListing {
  readonly ref?: string;
  readonly stage?: string;
  readonly name?: string;
  readonly pipeline_id?: number;
  readonly order_by: 'id' | 'pipeline_id';
  readonly sort: 'asc' | 'desc';
  readonly all: boolean;
}

/** A pipeline that a status may join. */
export interface StatusPlace {
  readonly project: number;
  /** Full id of the commit. */
  readonly sha: string;
  readonly ref: string | null;
  readonly pipeline: number | null;
}

const FILTERS: Filters<StatusListing> = {
  ref: filter.equals('j.ref'),
  stage: filter.equals('j.stage'),
  name: filter.equals('j.name'),
  pipeline_id: filter.equals('j.pipeline_id'),
  all: (isAll) => !isAll && 'not j.is_retried',
};

/** Newest pipeline of a commit. A null ref or pipeline matches any. */
const MATCHING = statement<StatusPlace, StoredPipeline>(
  'pipelines_of_status',
  `select ${PIPELINE_COLUMNS} from pipelines p
   where p.project_id = :project::bigint and p.sha = :sha and (:ref::text is null or p.ref = :ref)
     and (:pipeline::bigint is null or p.id = :pipeline)
   order by p.id desc limit 1`,
);
const IS_KNOWN = statement<{ project: number; sha: string }, { id: number }>(
  'pipelines_of_commit',
  'select id from pipelines where project_id = :project::bigint and sha = :sha limit 1',
);

/** Reads statuses of commits. Source: reference identity-and-import 7.4. */
@Injectable()
export class CommitStatusesQueries {
  constructor(private readonly database: Database) {}

  /** Lists the statuses of a commit. `sha` is a full id. */
  list(project: number, sha: string, asked: StatusListing, page: PageRequest): Promise<Page<CommitStatusRow>> {
    return new ListQuery<CommitStatusRow>({
      name: 'commit_statuses',
      from: 'ci_jobs j',
      columns: `${JOB_COLUMNS}, p.sha`,
      joins: 'join pipelines p on p.id = j.pipeline_id',
    })
      .where(
        (bind) => `j.pipeline_id in (select own.id from pipelines own
          where own.project_id = ${bind(project, 'project')} and own.sha = ${bind(sha, 'sha')})`,
      )
      .narrow(FILTERS, asked)
      .orderBy([[`j.${asked.order_by}`, asked.sort]])
      .readPage(this.database, page);
  }

  /** Returns the newest pipeline that a status may join; null for none. */
  async findPipeline(
    place: StatusPlace,
    reads: Pick<SqlReader, 'run'> = this.database,
  ): Promise<StoredPipeline | null> {
    return (await reads.run(MATCHING, place))[0] ?? null;
  }

  /** Whether a pipeline proves that the commit exists. `sha` is a full id. */
  async isKnown(project: number, sha: string): Promise<boolean> {
    return (await this.database.run(IS_KNOWN, { project, sha })).length > 0;
  }
}
