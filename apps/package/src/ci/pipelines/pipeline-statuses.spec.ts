import type { PipelineStatus } from './pipeline-statuses';
import { derivePipelineStatus } from './pipeline-statuses';

test.each<[PipelineStatus[], PipelineStatus]>([
  [[], 'created'],
  [['created'], 'created'],
  [['pending'], 'pending'],
  [['pending', 'created', 'skipped'], 'pending'],
  [['pending', 'success'], 'running'],
  [['running', 'failed'], 'running'],
  [['created', 'success'], 'running'],
  [['success'], 'success'],
  [['success', 'skipped'], 'success'],
  [['skipped'], 'skipped'],
  [['canceled', 'success'], 'canceled'],
  [['canceled', 'failed'], 'failed'],
  [['failed', 'success'], 'failed'],
  [['failed', 'pending'], 'running'],
])('jobs with the statuses %j make the pipeline %s', (jobs, status) => {
  expect(derivePipelineStatus(new Set(jobs))).toBe(status);
});
