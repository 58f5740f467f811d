import { nested } from '@rookery/api-v4';
import { issueShape } from '../issues/issue.shape';
import { json, beginJsonShape } from '../../base/noteables/json.shape';
import type { PersonalJsonSql } from '../../base/noteables/noteable-kinds';
import { LINK_TYPES } from './issue-link.entity';

const linkType = json.choice(...LINK_TYPES);

/** An issue in the list of linked issues: the row `i` has the columns of its link too. */
export const linkedIssueShape = issueShape.extend<PersonalJsonSql>('LinkedIssue').fields({
  issue_link_id: [json.int, () => 'i.issue_link_id'],
  link_type: [linkType, () => 'i.link_type'],
  link_created_at: [json.instant, () => 'i.link_created_at'],
  link_updated_at: [json.instant, () => 'i.link_created_at'],
});

/** SQL expressions for the two issues of a link `link`; `own` is the issue that the path names. */
export interface LinkSql {
  readonly own: PersonalJsonSql;
  readonly other: PersonalJsonSql;
}

const issueJsonSql = (idSql: string, sql: PersonalJsonSql): string =>
  `(select ${issueShape.toSql(sql).sql} from issues i where i.id = ${idSql})`;

/** A link from the view of one of its issues. Source: reference work-tracking 9.1. */
export const issueLinkShape = beginJsonShape<LinkSql>('IssueLink').fields({
  id: [json.int, () => 'link.id'],
  source_issue: [json.written(nested(issueShape.presenter)), ({ own }) => issueJsonSql('link.own_id', own)],
  target_issue: [json.written(nested(issueShape.presenter)), ({ other }) => issueJsonSql('link.other_id', other)],
  link_type: [linkType, () => 'link.link_type'],
});
