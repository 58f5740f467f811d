import { json, beginJsonShape } from './json.shape';

/** Checkboxes in the description of the row `i`. Source: reference work-tracking 9.1. */
export const taskStatusShape = beginJsonShape<unknown>('TaskCompletionStatus').fields({
  count: [json.int, () => 'i.task_count'],
  completed_count: [json.int, () => 'i.completed_task_count'],
});
