import { Injectable } from '@nestjs/common';
import { prepared } from '@rookery/persistence';
import type { Prepared, Tx } from '@rookery/persistence';

/** A project's share of a batch. Sizes are bytes. */
export interface StorageMeasured {
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
const PACKAGES = ['packages_size', 'job_artifacts_size', 'pipeline_artifacts_size', 'container_registry_size'] as const;

/** Units: minutes. A project's last activity is written no oftener. */
const ACTIVITY_STEP = 10;

/**
 * Projects among $1, locked against their removal. A fact about a project that is gone has nothing to say any more, and
 * without the lock it could arrive in the middle of the removal.
 */
const LIVE = `live as (select id from projects where id = any($1::bigint[]) order by id for key share)`;

const count = prepared(
  'statistics_count_issues',
  `with ${LIVE}
   insert into project_statistics as kept (project_id, open_issues_count)
     select live.id, sum(step.by)::integer from unnest($1::bigint[], $2::integer[]) as step(project_id, by)
     join live on live.id = step.project_id group by live.id order by live.id
   on conflict (project_id) do update set open_issues_count = kept.open_issues_count + excluded.open_issues_count`,
);
const touch = prepared(
  'statistics_touch_projects',
  `with last as (select id, max(at) as at from unnest($1::bigint[], $2::timestamptz[]) as seen(id, at) group by id),
     stale as (select p.id, last.at from projects p join last on last.id = p.id
       where p.last_activity_at < last.at - interval '${ACTIVITY_STEP} minutes' order by p.id for no key update of p)
   update projects p set last_activity_at = stale.at from stale where p.id = stale.id`,
);
const measureStorage = measuring('statistics_measure_storage', STORAGE, 'storage_measured_at');
const measurePackages = measuring('statistics_measure_packages', PACKAGES, 'packages_measured_at');

/** Whole values, so the newest measurement of a project is all that counts, in whatever order they come. */
function measuring(name: string, columns: readonly string[], at: string): Prepared {
  const measured = columns.map((column) => `${column} bigint`).join(', ');
  const set = [...columns, at].map((column) => `${column} = excluded.${column}`).join(', ');
  return prepared(
    name,
    `with ${LIVE},
       newest as (select distinct on (project_id) * from jsonb_to_recordset($2::jsonb)
         as sent(project_id bigint, measured_at timestamptz(3), ${measured}) order by project_id, measured_at desc)
     insert into project_statistics as kept (project_id, ${columns.join(', ')}, ${at})
       select live.id, ${columns.map((column) => `newest.${column}`).join(', ')}, newest.measured_at
       from newest join live on live.id = newest.project_id order by live.id
     on conflict (project_id) do update set ${set}
       where kept.${at} is null or kept.${at} < excluded.${at}`,
  );
}

/** What is known of projects only through facts from other services. Source: ADR 0110. */
@Injectable()
export class ProjectStatistics {
  /** Issues that came to be open (1) or ceased to be so (-1); sums commute, so the order of facts does not matter. */
  async countIssues(tx: Tx, steps: readonly { readonly projectId: number; readonly by: 1 | -1 }[]): Promise<void> {
    if (steps.length === 0) return;
    await tx.prepared(count, [steps.map((step) => step.projectId), steps.map((step) => step.by)]);
  }

  /** Something happened in these projects at that instant. */
  async touch(tx: Tx, seen: readonly { readonly projectId: number; readonly at: string }[]): Promise<void> {
    if (seen.length === 0) return;
    await tx.prepared(touch, [seen.map((one) => one.projectId), seen.map((one) => one.at)]);
  }

  async measure(tx: Tx, of: 'storage' | 'packages', facts: readonly StorageMeasured[]): Promise<void> {
    const projects = facts.map((fact) => fact.project_id);
    await tx.prepared(of === 'storage' ? measureStorage : measurePackages, [projects, JSON.stringify(facts)]);
  }
}
