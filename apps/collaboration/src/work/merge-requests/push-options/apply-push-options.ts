import { int, object } from '@rookery/contracts';
import { defineJob } from '@rookery/jobs';

/** Applies the options of a push about merge requests, if its process died before it did. */
export const applyPushOptions = defineJob('apply-push-options', object({ push_id: int }), {
  key: ({ push_id: id }) => String(id),
});
