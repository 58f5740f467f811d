import { Injectable } from '@nestjs/common';
import { projectIssuesCounted } from '@rookery/contracts';
import { prepareStatement } from '@rookery/persistence';
import type { RowOf, Tx } from '@rookery/persistence';
import type { IssueCount } from './issue-count.entity';

/** Limit of projects that one transaction counts for the first time. */
const CHUNK = 100;

/**
 * Creates missing rows of existing projects. It locks the projects against removal, so that no row appears after that.
 */
const insertMissingCounts = prepareStatement(
  'issue_counts_begin',
  `with live as (select id from directory_projects where id = any($1::bigint[]) order by id for key share)
   insert into issue_counts (project_id) select id from live on conflict (project_id) do nothing`,
);
const lockCounts = prepareStatement(
  'issue_counts_lock',
  `select project_id from issue_counts where project_id = any($1::bigint[]) order by project_id for no key update`,
);
const lockUncounted = prepareStatement(
  'issue_counts_lock_uncounted',
  `select project_id from issue_counts where counted_at is null order by project_id limit ${CHUNK}
   for no key update skip locked`,
);
/** Recounts the open issues of projects. `counted_at` always increases, even if the clock moves back. */
const recountOpenIssues = prepareStatement(
  'issue_counts_count',
  `update issue_counts kept set open_count = found.open_count, open_public_count = found.open_public_count,
     counted_at = greatest(clock_timestamp(), kept.counted_at + interval '1 millisecond')
   from (select wanted.id, count(i.id)::integer as open_count,
       (count(i.id) filter (where not i.confidential))::integer as open_public_count
     from unnest($1::bigint[]) as wanted (id) left join issues i on i.project_id = wanted.id and i.state = 'opened'
     group by wanted.id) found
   where kept.project_id = found.id and (kept.counted_at is null
     or (kept.open_count, kept.open_public_count) is distinct from (found.open_count, found.open_public_count))
   returning kept.project_id, kept.open_count, kept.open_public_count, kept.counted_at`,
);

type CountedProject = RowOf<IssueCount, 'projectId' | 'openCount' | 'openPublicCount'> & { readonly counted_at: Date };

/**
 * Counts open issues of projects and emits the full numbers, so that consumers need only the newest event.
 * Source: reference identity-and-import 10.2; ADR 0110.
 */
@Injectable()
export class IssueCountsService {
  async recountIssues(tx: Tx, projectIds: readonly number[]): Promise<void> {
    const ids = [...new Set(projectIds)];
    await tx.prepared(insertMissingCounts, [ids]);
    await tx.prepared(lockCounts, [ids]);
    await this.countIssues(tx, ids);
  }

  /** Counts projects that have no count yet. Returns true if none is left. */
  async countNew(tx: Tx): Promise<boolean> {
    const rows = await tx.prepared<RowOf<IssueCount, 'projectId'>>(lockUncounted, []);
    await this.countIssues(
      tx,
      rows.map((row) => row.project_id),
    );
    return rows.length < CHUNK;
  }

  /**
   * Counts and emits in a statement after the one that locks the rows, so that it sees the writes of previous lock
   * holders.
   */
  private async countIssues(tx: Tx, projectIds: readonly number[]): Promise<void> {
    if (projectIds.length === 0) return;
    for (const row of await tx.prepared<CountedProject>(recountOpenIssues, [projectIds])) {
      const data = {
        project_id: row.project_id,
        open_issues_count: row.open_count,
        open_public_issues_count: row.open_public_count,
        counted_at: row.counted_at.toISOString(),
      };
      tx.emit(projectIssuesCounted.of({ aggregateId: row.project_id, actorId: null, data }));
    }
  }
}
