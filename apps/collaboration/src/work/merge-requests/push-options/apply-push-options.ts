import { int, object } from '@rookery/contracts';
import { defineJob } from '@rookery/jobs';

/** Applies push options about merge requests that the process of the push did not apply before it ended. */
export const applyPushOptions = defineJob('apply-push-options', object({ push_id: int }), {
  key: ({ push_id: id }) => String(id),
});
