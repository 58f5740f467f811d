import { int, object } from '@rookery/contracts';
import { defineJob } from '@rookery/jobs';

/** Starts the pipelines of a push. */
export const startPushPipelines = defineJob('start-push-pipelines', object({ push_id: int }), {
  key: ({ push_id: id }) => String(id),
});
