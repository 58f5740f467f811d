import { Refused } from '@rookery/kernel';
import type { PipelineStatus } from '../pipelines/pipeline-statuses';

/** A status that a job can be moved to. */
export type JobTarget = Exclude<PipelineStatus, 'created'>;

interface JobTransition {
  readonly event: string;
  readonly from: readonly PipelineStatus[];
}

/** Events of the state machine by the status that they lead to. Source: reference identity-and-import 7.4. */
const TRANSITIONS: Readonly<Record<JobTarget, JobTransition>> = {
  pending: { event: 'enqueue', from: ['created', 'skipped'] },
  // A new job is enqueued first.
  running: { event: 'run', from: ['created', 'pending'] },
  success: { event: 'success', from: ['created', 'pending', 'running'] },
  failed: { event: 'drop', from: ['created', 'pending', 'running'] },
  canceled: { event: 'cancel', from: ['created', 'pending', 'running'] },
  skipped: { event: 'skip', from: ['created', 'pending'] },
};

/** Statuses of jobs that can be canceled. */
export const CANCELABLE: readonly PipelineStatus[] = TRANSITIONS.canceled.from;

/** Times that a job gets with a status. */
export interface JobTimes {
  readonly queuedAt?: Date;
  readonly startedAt?: Date;
  readonly finishedAt?: Date;
}

/** Checks a move of a job and returns the times that it sets. Errors: Refused with the text of the state machine. */
export function computeJobTransitionTimes(from: PipelineStatus, to: JobTarget, now: Date): JobTimes {
  const { event, from: allowed } = TRANSITIONS[to];
  if (!allowed.includes(from)) {
    const reason = `Status cannot transition via "${event}"`;
    throw new Refused(`Cannot transition status via :${event} from :${from} (Reason(s): ${reason})`, {
      verbatim: true,
    });
  }
  if (to === 'pending') return { queuedAt: now };
  if (to === 'running') return from === 'created' ? { queuedAt: now, startedAt: now } : { startedAt: now };
  return to === 'skipped' ? {} : { finishedAt: now };
}
