import { Flag, Int } from '@rookery/api-v4';
import { IdentifyIssue } from '../issues/issues.dto';

export class MoveIssue extends IdentifyIssue {
  @Int({ about: 'Id of the target project.' }) to_project_id: number;
}

export class CloneIssue extends IdentifyIssue {
  @Int({ about: 'Id of the project for the clone.' }) to_project_id: number;
  @Flag({ default: false, about: 'Copies the notes too.' }) with_notes: boolean;
}
