import { nested } from '@rookery/api-v4';
import { issueShape } from '../../issues/issue.shape';
import { json, jsonShape } from '../../../base/noteables/json.shape';
import type { ShownSql } from '../../../base/noteables/noteable-kinds';
import { listedEpicShape } from '../epic.shape';
import type { EpicSql } from '../epic.shape';

/** An issue in the list of those that serve an epic: the row `i`, which has the link's columns as well. */
export const servingIssueShape = issueShape.extend<ShownSql>('ServingIssue').fields({
  epic_issue_id: [json.int, () => 'i.epic_issue_id'],
  relative_position: [json.int, () => 'i.epic_position'],
});

/** What the two ends of a link `link` are written with. */
export interface EpicIssueSql {
  readonly epic: EpicSql;
  readonly issue: ShownSql;
}

/** That an issue serves an epic, with both. Source: reference work-tracking 5.6. */
export const epicIssueShape = jsonShape<EpicIssueSql>('EpicIssue').fields({
  id: [json.int, () => 'link.id'],
  epic: [
    json.written(nested(listedEpicShape.presenter)),
    ({ epic }) => `(select ${listedEpicShape.over(epic).sql} from epics i where i.id = link.epic_id)`,
  ],
  issue: [
    json.written(nested(issueShape.presenter)),
    ({ issue }) => `(select ${issueShape.over(issue).sql} from issues i where i.id = link.issue_id)`,
  ],
});
