import { int, object } from '@rookery/api-v4';
import { json } from '../../base/noteables/json.shape';
import { milestoneShape } from '../../planning/milestones/milestone.shape';
import type { MilestoneSql } from '../../planning/milestones/milestone.shape';

const stats = object<{ total: number; closed: number }>({ total: int, closed: int });
/** Confidential issues are left out, so that the numbers reveal nothing. */
const COUNTS = `(select format('{"total":%s,"closed":%s}', count(*), count(*) filter (where i.state = 'closed'))
  from issues i where i.milestone_id = m.id and i.project_id = r.project_id and not i.confidential)`;

/** Milestone `m` of a release `r`. Source: reference repositories 7.1. */
export const releaseMilestoneShape = milestoneShape
  .extend<MilestoneSql>('ReleaseMilestone')
  .fields({ issue_stats: [json.written(stats), () => COUNTS] });
