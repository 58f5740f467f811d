import { ability } from '@rookery/api-v4';
import type { ProjectScope } from '@rookery/api-v4';
import { canDeletePipelines, canReadPipelines, canReadPipelineVariables, canRunPipelines } from './pipelines.policy';

export const readsPipelines = ability<unknown, ProjectScope>('may read pipelines', ({ viewer, within }) =>
  canReadPipelines(viewer, within),
);

export const runsPipelines = ability<unknown, ProjectScope>(
  'may run pipelines',
  ({ viewer, within }) => canRunPipelines(viewer, within),
  { signedIn: true },
);

export const readsVariables = ability<unknown, ProjectScope>(
  'may read the variables of pipelines',
  ({ viewer, within }) => canReadPipelineVariables(viewer, within),
  { signedIn: true },
);

export const deletesPipelines = ability<unknown, ProjectScope>(
  'may delete pipelines',
  ({ viewer, within }) => canDeletePipelines(viewer, within),
  { signedIn: true },
);
