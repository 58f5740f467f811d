import { json, beginJsonShape } from '../../../base/noteables/json.shape';
import { trimBaseUrl } from '../../../base/noteables/person.shape';
import { webPathSql } from '../../../base/noteables/references.shape';
import { EPIC_SHOWN_AS } from '../../issues/epic/issue-epic.shape';

interface ChildEpicSql {
  readonly externalUrl: string;
  /** Full path of the group of both epics, a text expression. */
  readonly fullPath: string;
}

/**
 * JSON of a child epic `i` that was just created below `named`, in the same group. Source: reference work-tracking 5.7.
 */
export const childEpicLinkShape = beginJsonShape<ChildEpicSql>('ChildEpicLink').fields({
  id: [json.int, () => 'i.id'],
  iid: [json.int, () => 'i.iid'],
  title: [json.text, () => 'i.title'],
  group_id: [json.int, () => 'i.group_id'],
  parent_id: [json.int, () => 'named.id'],
  has_children: [json.bool, () => 'exists (select 1 from epics c where c.parent_id = i.id)'],
  has_issues: [json.bool, () => 'exists (select 1 from epic_issues l where l.epic_id = i.id)'],
  reference: [json.prefixed, () => ({ prefix: EPIC_SHOWN_AS.sigil, sql: 'i.iid' })],
  url: [
    json.prefixed,
    (sql) => ({ prefix: `${trimBaseUrl(sql)}/groups/`, sql: webPathSql(EPIC_SHOWN_AS, sql.fullPath) }),
  ],
  relation_url: [
    json.prefixed,
    (sql) => ({
      prefix: `${trimBaseUrl(sql)}/groups/`,
      sql: `${sql.fullPath} || '${EPIC_SHOWN_AS.webPath}' || named.iid || '/links/' || i.id`,
    }),
  ],
});
