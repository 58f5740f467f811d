import { AtLeastOneOf, Int } from '@rookery/api-v4';
import { OneEpic } from '../epics.dto';

export class ListEpicIssues extends OneEpic {}

export class CreateEpicIssue extends OneEpic {
  @Int({ about: 'The id, not the number, of an issue of any project.' }) epic_issue_id: number;
}

export class OneEpicIssue extends OneEpic {
  @Int({ about: 'The `epic_issue_id` of the list.' }) epic_issue_id: number;
}

@AtLeastOneOf('move_before_id', 'move_after_id')
export class ReorderEpicIssue extends OneEpicIssue {
  @Int({ optional: true, about: 'The `epic_issue_id` that comes directly before the moved one.' })
  move_before_id?: number;
  @Int({ optional: true, about: 'The `epic_issue_id` that comes directly after the moved one.' })
  move_after_id?: number;
}
