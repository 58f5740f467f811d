import { AtLeastOneOf, Flag, Int, Text } from '@rookery/api-v4';
import { IdentifyEpic } from '../epics.dto';

export class ListChildEpics extends IdentifyEpic {}

export class CreateChildEpic extends IdentifyEpic {
  @Text({ about: 'At most 255 characters.' }) title: string;
  @Flag({ optional: true, about: 'Defaults to the value of the parent.' }) confidential?: boolean;
}

export class IdentifyChildEpic extends IdentifyEpic {
  @Int({ about: 'The id, not the number, of an epic.' }) child_epic_id: number;
}

@AtLeastOneOf('move_before_id', 'move_after_id')
export class ReorderChildEpic extends IdentifyChildEpic {
  @Int({ optional: true, about: 'Id of the child that comes directly before the moved one.' }) move_before_id?: number;
  @Int({ optional: true, about: 'Id of the child that comes directly after the moved one.' }) move_after_id?: number;
}
