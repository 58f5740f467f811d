import { json, beginJsonShape } from '../../base/noteables/json.shape';
import { formatDurationSql } from './durations';

/** Estimate and spent time of the noteable in the row `i`. Units: seconds. Source: reference work-tracking 9.1. */
export const timeStatsShape = beginJsonShape<unknown>('TimeStats').fields({
  time_estimate: [json.int, () => 'i.time_estimate'],
  total_time_spent: [json.int, () => 'i.total_time_spent'],
  human_time_estimate: [json.tokenOrNull, () => formatDurationSql('i.time_estimate')],
  human_total_time_spent: [json.tokenOrNull, () => formatDurationSql('i.total_time_spent')],
});
