import { AtLeastOneOf, Int } from '@rookery/api-v4';
import { IdentifyEpic } from '../epics.dto';

export class ListEpicIssues extends IdentifyEpic {}

export class CreateEpicIssue extends IdentifyEpic {
  @Int({ about: 'The id, not the number, of an issue of any project.' }) epic_issue_id: number;
}

export class IdentifyEpicIssue extends IdentifyEpic {
  @Int({ about: 'The `epic_issue_id` of the list.' }) epic_issue_id: number;
}

@AtLeastOneOf('move_before_id', 'move_after_id')
export class ReorderEpicIssue extends IdentifyEpicIssue {
  @Int({ optional: true, about: 'The `epic_issue_id` that comes directly before the moved one.' })
  move_before_id?: number;
  @Int({ optional: true, about: 'The `epic_issue_id` that comes directly after the moved one.' })
  move_after_id?: number;
}
