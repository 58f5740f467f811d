import { nested } from '@rookery/api-v4';
import { issueShape } from '../../issues/issue.shape';
import { json, beginJsonShape } from '../../../base/noteables/json.shape';
import type { PersonalJsonSql } from '../../../base/noteables/noteable-kinds';
import { listedEpicShape } from '../epic.shape';
import type { EpicSql } from '../epic.shape';

/** An issue in the list of an epic's issues: the row `i` has the columns of its link too. */
export const servingIssueShape = issueShape.extend<PersonalJsonSql>('ServingIssue').fields({
  epic_issue_id: [json.int, () => 'i.epic_issue_id'],
  relative_position: [json.int, () => 'i.epic_position'],
});

/** SQL expressions for the epic and the issue of a link `link`. */
export interface EpicIssueSql {
  readonly epic: EpicSql;
  readonly issue: PersonalJsonSql;
}

/** JSON of a link with its epic and its issue. Source: reference work-tracking 5.6. */
export const epicIssueShape = beginJsonShape<EpicIssueSql>('EpicIssue').fields({
  id: [json.int, () => 'link.id'],
  epic: [
    json.written(nested(listedEpicShape.presenter)),
    ({ epic }) => `(select ${listedEpicShape.toSql(epic).sql} from epics i where i.id = link.epic_id)`,
  ],
  issue: [
    json.written(nested(issueShape.presenter)),
    ({ issue }) => `(select ${issueShape.toSql(issue).sql} from issues i where i.id = link.issue_id)`,
  ],
});
