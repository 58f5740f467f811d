/** Statuses and sources of pipelines. Source: reference identity-and-import 7.3. */

/** Every status of the API. */
export const PIPELINE_STATUSES = [
  'created',
  'waiting_for_resource',
  'preparing',
  'waiting_for_callback',
  'pending',
  'running',
  'success',
  'failed',
  'canceling',
  'canceled',
  'skipped',
  'manual',
  'scheduled',
] as const;

/** Statuses of pipelines and jobs of outside systems. */
export type PipelineStatus = 'created' | 'pending' | 'running' | 'success' | 'failed' | 'canceled' | 'skipped';

/** Every source of the API. */
export const PIPELINE_SOURCES = [
  'push',
  'web',
  'trigger',
  'schedule',
  'api',
  'external',
  'pipeline',
  'chat',
  'webide',
  'merge_request_event',
  'external_pull_request_event',
  'parent_pipeline',
  'ondemand_dast_scan',
  'ondemand_dast_validation',
  'security_orchestration_policy',
] as const;

/** Sources of the pipelines that Rookery creates. */
export type PipelineSource = 'api' | 'external' | 'merge_request_event' | 'pipeline' | 'push' | 'trigger';

/** Statuses that no event follows, unless a job is retried or added. */
export const FINISHED_STATUSES = ['success', 'failed', 'canceled', 'skipped'] as const satisfies PipelineStatus[];
export type FinishedStatus = (typeof FINISHED_STATUSES)[number];

export function isFinished(status: PipelineStatus): status is FinishedStatus {
  return (FINISHED_STATUSES as readonly string[]).includes(status);
}

/**
 * Derives the status of a pipeline from those of its newest jobs. A pipeline without jobs is `created`.
 * Source: reference identity-and-import 7.3.
 */
export function derivePipelineStatus(jobStatuses: ReadonlySet<PipelineStatus>): PipelineStatus {
  const areOnly = (...statuses: readonly PipelineStatus[]): boolean =>
    [...jobStatuses].every((status) => statuses.includes(status));
  if (jobStatuses.size === 0 || areOnly('created')) return 'created';
  if (areOnly('skipped')) return 'skipped';
  if (areOnly('success', 'skipped')) return 'success';
  if (areOnly('canceled', 'success', 'skipped')) return 'canceled';
  if (areOnly('pending', 'created', 'skipped')) return 'pending';
  return jobStatuses.has('running') || jobStatuses.has('pending') || jobStatuses.has('created') ? 'running' : 'failed';
}
