import { Injectable } from '@nestjs/common';
import { prepareStatement } from '@rookery/persistence';
import type { PreparedStatement, Tx } from '@rookery/persistence';

/** Figures about a project with the time of measurement. Units: sizes are bytes. */
export interface MeasuredFacts {
  readonly project_id: number;
  readonly measured_at: string;
}

const STORAGE = [
  'repository_size',
  'wiki_size',
  'lfs_objects_size',
  'snippets_size',
  'uploads_size',
  'commit_count',
] as const;
const ISSUES = ['open_issues_count', 'open_public_issues_count'] as const;
const PACKAGES = ['packages_size', 'job_artifacts_size', 'pipeline_artifacts_size', 'container_registry_size'] as const;

const STATEMENTS = {
  storage: upsertProjectMeasurementsStatement('statistics_measure_storage', STORAGE, 'storage_measured_at'),
  packages: upsertProjectMeasurementsStatement('statistics_measure_packages', PACKAGES, 'packages_measured_at'),
  issues: upsertProjectMeasurementsStatement('statistics_measure_issues', ISSUES, 'issues_counted_at'),
} as const;

/**
 * Builds the statement that stores measurements. `at` is the column of their time. Values are absolute, so the newest
 * measurement wins, in whatever order and however often they arrive. The project is locked against its removal: figures
 * of a deleted project are ignored, and without the lock they could arrive in the middle of the removal.
 */
function upsertProjectMeasurementsStatement(name: string, columns: readonly string[], at: string): PreparedStatement {
  const measured = columns.map((column) => `${column} bigint`).join(', ');
  const set = [...columns, at].map((column) => `${column} = excluded.${column}`).join(', ');
  return prepareStatement(
    name,
    `with live as (select id from projects where id = any($1::bigint[]) order by id for key share),
       newest as (select distinct on (project_id) * from jsonb_to_recordset($2::jsonb)
         as sent(project_id bigint, measured_at timestamptz(3), ${measured}) order by project_id, measured_at desc)
     insert into project_statistics as kept (project_id, ${columns.join(', ')}, ${at})
       select live.id, ${columns.map((column) => `newest.${column}`).join(', ')}, newest.measured_at
       from newest join live on live.id = newest.project_id order by live.id
     on conflict (project_id) do update set ${set}
       where kept.${at} is null or kept.${at} < excluded.${at}`,
  );
}

/** Stores figures about projects that other services report in events. Source: ADR 0110. */
@Injectable()
export class ProjectStatisticsService {
  async storeFacts(tx: Tx, of: keyof typeof STATEMENTS, facts: readonly MeasuredFacts[]): Promise<void> {
    const projects = facts.map((fact) => fact.project_id);
    await tx.prepared(STATEMENTS[of], [projects, JSON.stringify(facts)]);
  }
}

const COPY_STORAGE = prepareStatement(
  'statistics_copy_storage',
  `insert into project_statistics (project_id, commit_count, repository_size)
   select $2::bigint, s.commit_count, s.repository_size from project_statistics s where s.project_id = $1::bigint
   on conflict (project_id) do update set commit_count = excluded.commit_count, repository_size = excluded.repository_size`,
);

/** Gives a fork the figures of its source's repository, until its own is measured. */
export async function copyStorageFigures(tx: Tx, sourceId: number, forkId: number): Promise<void> {
  await tx.prepared(COPY_STORAGE, [sourceId, forkId]);
}

const COUNT_FIRST_COMMIT = prepareStatement(
  'statistics_count_first_commit',
  'update project_statistics set commit_count = 1 where project_id = $1::bigint',
);

/** Counts the commit with a README of a new project, until its repository is measured. */
export async function storeInitialCommitCount(tx: Tx, projectId: number): Promise<void> {
  await tx.prepared(COUNT_FIRST_COMMIT, [projectId]);
}
