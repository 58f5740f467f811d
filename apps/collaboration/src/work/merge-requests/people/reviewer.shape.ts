import { json, beginJsonShape } from '../../../base/noteables/json.shape';
import { personShape } from '../../../base/noteables/person.shape';
import { REVIEW_STATES } from '../merge-request.entity';

/** A reviewer with the state of the review. Source: reference repositories 8.8. */
export const reviewerShape = beginJsonShape<{ readonly externalUrl: string }>('MergeRequestReviewer').fields({
  user: [json.object(personShape), ({ externalUrl }) => ({ user: 'u', externalUrl })],
  state: [json.choice<string>(...REVIEW_STATES), () => 's.state'],
  created_at: [json.instant, () => 's.created_at'],
});
