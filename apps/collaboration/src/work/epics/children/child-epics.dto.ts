import { AtLeastOneOf, Flag, Int, Text } from '@rookery/api-v4';
import { OneEpic } from '../epics.dto';

export class ListChildEpics extends OneEpic {}

export class CreateChildEpic extends OneEpic {
  @Text({ about: 'At most 255 characters.' }) title: string;
  @Flag({ optional: true, about: 'Defaults to the value of the parent.' }) confidential?: boolean;
}

export class OneChildEpic extends OneEpic {
  @Int({ about: 'The id, not the number, of an epic.' }) child_epic_id: number;
}

@AtLeastOneOf('move_before_id', 'move_after_id')
export class ReorderChildEpic extends OneChildEpic {
  @Int({ optional: true, about: 'Id of the child that comes directly before the moved one.' }) move_before_id?: number;
  @Int({ optional: true, about: 'Id of the child that comes directly after the moved one.' }) move_after_id?: number;
}
