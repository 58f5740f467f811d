import { Flag, Int } from '@rookery/api-v4';
import { OneIssue } from '../issues/issues.dto';

export class MoveIssue extends OneIssue {
  @Int({ about: 'Where the issue goes.' }) to_project_id: number;
}

export class CloneIssue extends OneIssue {
  @Int({ about: 'Where the clone is made.' }) to_project_id: number;
  @Flag({ default: false, about: 'Whether its notes are copied too.' }) with_notes: boolean;
}
