import { Injectable } from '@nestjs/common';
import { Database, statement } from '@rookery/persistence';
import type { ObjectId } from '@rookery/git';

/** The newest pipeline of a commit. */
export interface CommitPipeline {
  readonly id: number;
  readonly iid: number;
  readonly project_id: number;
  readonly sha: string;
  readonly ref: string;
  readonly status: string;
  readonly source: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const NEWEST = statement<{ project: number; shas: readonly string[] }, CommitPipeline>(
  'commit_pipelines_newest',
  `select c.id, c.iid, c.project_id, c.sha, c.ref, c.status, c.source, c.created_at, c.updated_at
   from unnest(:shas::text[]) as asked (sha)
   cross join lateral (
     select * from ci_pipelines of_commit
     where of_commit.project_id = :project::bigint and of_commit.sha = asked.sha and not of_commit.is_deleted
     order by of_commit.id desc limit 1
   ) c`,
);

/** Reads the copy of pipelines that merge requests keep. Source: reference repositories 4.2. */
@Injectable()
export class CommitPipelines {
  constructor(private readonly database: Database) {}

  /** Returns the newest pipeline of each commit that has one, by the id of the commit. */
  async findNewest(project: number, shas: readonly ObjectId[]): Promise<ReadonlyMap<string, CommitPipeline>> {
    const rows = await this.database.run(NEWEST, { project, shas });
    return new Map(rows.map((row) => [row.sha, row]));
  }
}
