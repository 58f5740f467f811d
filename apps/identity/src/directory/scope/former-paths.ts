import { prepareStatement } from '@rookery/persistence';
import type { Database } from '@rookery/persistence';

const FORMER_PROJECT = prepareStatement(
  'former-project',
  `select project_id from redirect_routes where path = lower($1) and project_id is not null`,
);

/** Returns the id of the project that formerly had a full path; null if there is none, or if another has the path now. */
export async function findProjectIdByFormerPath(db: Database, fullPath: string): Promise<number | null> {
  const [row] = await db.prepared<{ project_id: number }>(FORMER_PROJECT, [fullPath]);
  return row?.project_id ?? null;
}
