import type { DirectoryProject } from '@rookery/contracts';
import type { SeededService } from '@rookery/testing';

/** A merge request that a test inserted without a repository. */
export interface InsertedMergeRequest {
  readonly id: number;
  readonly iid: number;
}

let inserted = 0;

/** Inserts a merge request with branches of its own. `columns` maps names to values. */
export async function insertMergeRequestRow(
  service: SeededService,
  project: Pick<DirectoryProject, 'id'>,
  columns: Readonly<Record<string, unknown>>,
): Promise<InsertedMergeRequest> {
  inserted += 1;
  const row = {
    project_id: project.id,
    source_project_id: project.id,
    title: 'A change',
    source_branch: `source-${inserted}`,
    target_branch: 'main',
    commits_count: 1,
    merge_status: 'can_be_merged',
    ...columns,
  };
  const names = Object.keys(row);
  const [made] = await service.database.query<InsertedMergeRequest>(
    `insert into merge_requests (iid, ${names.join(', ')})
     values ((select coalesce(max(iid), 0) + 1 from merge_requests where project_id = $1),
       ${names.map((_, index) => `$${index + 1}`).join(', ')}) returning id, iid`,
    Object.values(row),
  );
  return made!;
}
