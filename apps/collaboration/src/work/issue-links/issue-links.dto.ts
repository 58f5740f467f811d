import { IdOrPath, Int, OneOf } from '@rookery/api-v4';
import { LINK_TYPES } from './issue-link.entity';
import type { LinkType } from './issue-link.entity';

export class ListIssueLinks {
  @Int() issue_iid: number;
}

export class IdentifyIssueLink extends ListIssueLinks {
  @Int() link_id: number;
}

export class CreateIssueLink extends ListIssueLinks {
  @IdOrPath({ about: 'Id or full path of the project of the other issue.' }) target_project_id: number | string;
  @Int({ about: 'Number of the other issue in its project.' }) target_issue_iid: number;
  @OneOf(LINK_TYPES, { default: 'relates_to', about: 'The free plan has only `relates_to`.' }) link_type: LinkType;
}
