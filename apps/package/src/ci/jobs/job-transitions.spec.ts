import type { PipelineStatus } from '../pipelines/pipeline-statuses';
import type { JobTarget } from './job-transitions';
import { computeJobTransitionTimes } from './job-transitions';

const now = new Date();

test.each<[PipelineStatus, JobTarget, string[]]>([
  ['created', 'pending', ['queuedAt']],
  ['created', 'running', ['queuedAt', 'startedAt']],
  ['pending', 'running', ['startedAt']],
  ['created', 'success', ['finishedAt']],
  ['running', 'failed', ['finishedAt']],
  ['pending', 'canceled', ['finishedAt']],
  ['pending', 'skipped', []],
])('%s to %s sets %j', (from, to, times) => {
  expect(Object.keys(computeJobTransitionTimes(from, to, now))).toEqual(times);
});

test.each<[PipelineStatus, JobTarget, string]>([
  ['pending', 'pending', 'enqueue'],
  ['running', 'pending', 'enqueue'],
  ['running', 'running', 'run'],
  ['running', 'skipped', 'skip'],
  ['success', 'failed', 'drop'],
  ['failed', 'success', 'success'],
  ['canceled', 'canceled', 'cancel'],
])('%s to %s is refused', (from, to, event) => {
  const text = `Cannot transition status via :${event} from :${from} (Reason(s): Status cannot transition via "${event}")`;
  expect(() => computeJobTransitionTimes(from, to, now)).toThrow(text);
});
