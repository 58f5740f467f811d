import { AtLeastOneOf, Flag, Int, Text } from '@rookery/api-v4';
import { OneEpic } from '../epics.dto';

export class ListChildEpics extends OneEpic {}

export class CreateChildEpic extends OneEpic {
  @Text({ about: 'At most 255 characters.' }) title: string;
  @Flag({ optional: true, about: 'As its parent, unless it is said.' }) confidential?: boolean;
}

export class OneChildEpic extends OneEpic {
  @Int({ about: 'The id, not the number, of an epic.' }) child_epic_id: number;
}

@AtLeastOneOf('move_before_id', 'move_after_id')
export class ReorderChildEpic extends OneChildEpic {
  @Int({ optional: true, about: 'The id of the child that is to come before it.' }) move_before_id?: number;
  @Int({ optional: true, about: 'That of the one that is to come after it.' }) move_after_id?: number;
}
