import { choice, int, object } from '@rookery/contracts';
import { defineJob } from '@rookery/jobs';

/**
 * Merges or rebases a merge request as the user who wrote the quick action. `version_id` is the diff version that they
 * saw.
 */
export const runMergeCommand = defineJob(
  'run-merge-command',
  object({ command: choice('merge', 'rebase'), project_id: int, iid: int, user_id: int, version_id: int }),
  { key: ({ command, project_id: project, iid, user_id: user }) => `${command} ${project} ${iid} ${user}` },
);
