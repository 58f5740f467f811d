import { labelDetailsBytesSql, labelsOf } from '../../planning/labels/labelling/labels.shape';
import { EPIC_SHOWN_AS } from '../issues/epic/issue-epic.shape';
import { groupAccessRowSql } from '../../base/noteables/access-sql';
import type { PersonSql } from '../../base/noteables/access-sql';
import { json, beginJsonShape, literalSql } from '../../base/noteables/json.shape';
import type { NoteableDetailSql as DetailSql, NoteableJsonSql as ShownSql } from '../../base/noteables/noteable-kinds';
import { trimBaseUrl, personShape } from '../../base/noteables/person.shape';
import { referencesShape, webPathSql } from '../../base/noteables/references.shape';
import { subscribedSql } from '../../base/noteables/subscribed-sql';
import { inheritedEpicDatesSql } from './epic-days';

const OF_EPIC = { type: 'Epic' } as const;

const STARTS = 'case when i.start_is_fixed then i.start_fixed_on else inherited.start_on end';
const DUE = 'case when i.due_is_fixed then i.due_fixed_on else inherited.due_on end';

/**
 * SQL expressions for the JSON of an epic. `mayEdit` is boolean SQL, whether the reader may change the epic; `person`
 * is the reader.
 */
export type EpicSql = ShownSql & { readonly mayEdit: string; readonly person: PersonSql };
/** Without a known reader, the JSON holds only facts that all who see the group may read. */
type EpicSqlWithOptionalReader = ShownSql & Partial<EpicSql>;
export type EpicDetailSql = EpicSql & DetailSql;

const groupsApiUrl = (sql: ShownSql): string => `${trimBaseUrl(sql)}/api/v4/groups/`;
const epicApiPathSql = (epic: string): string => `${epic}.group_id || '/epics/' || ${epic}.iid`;
const epicWebPathSql = (sql: ShownSql): string => webPathSql(EPIC_SHOWN_AS, sql.fullPath);

/** FROM item of one row: the parent of the row `i` if the reader may see it, and the inherited dates. */
function parentAndDatesSql({ mayEdit = 'false', person }: EpicSqlWithOptionalReader): string {
  const access = (group: string): string =>
    person ? groupAccessRowSql(group, person) : '(select false as reads_confidential limit 0)';
  const parentReadable = `select 1 from ${access('up.group_id')} there where not up.confidential or there.reads_confidential`;
  const childReadable = `exists (select 1 from ${access('c.group_id')} there where there.reads_confidential)`;
  return `${inheritedEpicDatesSql(mayEdit, childReadable)} left join lateral (select up.id, up.iid, up.group_id from epics up
    where up.id = i.parent_id and case when up.group_id = i.group_id then not up.confidential or ${mayEdit}
      else exists (${parentReadable}) end) parent on true`;
}

const linksShape = beginJsonShape<EpicSqlWithOptionalReader>('EpicLinks').fields({
  self: [json.prefixed, (sql) => ({ prefix: groupsApiUrl(sql), sql: epicApiPathSql('i') })],
  epic_issues: [json.prefixed, (sql) => ({ prefix: groupsApiUrl(sql), sql: `${epicApiPathSql('i')} || '/issues'` })],
  group: [json.prefixed, (sql) => ({ prefix: groupsApiUrl(sql), sql: 'i.group_id' })],
  parent: [json.tokenOrNull, (sql) => `${literalSql(groupsApiUrl(sql))} || ${epicApiPathSql('parent')}`],
});

/**
 * JSON of an epic for any reader who may see it. The SQL uses the alias `i` (epics).
 * Source: requirements 1 §2; reference work-tracking 5.4.
 */
export const epicShape = beginJsonShape<EpicSqlWithOptionalReader>('Epic', parentAndDatesSql).fields({
  id: [json.int, () => 'i.id'],
  work_item_id: [json.int, () => 'i.id'],
  iid: [json.int, () => 'i.iid'],
  group_id: [json.int, () => 'i.group_id'],
  parent_id: [json.intOrNull, () => 'parent.id'],
  parent_iid: [json.intOrNull, () => 'parent.iid'],
  title: [json.text, () => 'i.title'],
  description: [json.textOrNull, () => 'i.description'],
  state: [json.choice<string>('opened', 'closed'), () => 'i.state'],
  confidential: [json.bool, () => 'i.confidential'],
  imported: [json.bool, () => `i.imported_from <> 'none'`],
  imported_from: [json.token, () => 'i.imported_from'],
  web_url: [json.prefixed, (sql) => ({ prefix: `${trimBaseUrl(sql)}/groups/`, sql: epicWebPathSql(sql) })],
  web_edit_url: [json.prefixed, (sql) => ({ prefix: '/groups/', sql: epicWebPathSql(sql) })],
  reference: [json.prefixed, () => ({ prefix: EPIC_SHOWN_AS.sigil, sql: 'i.iid' })],
  references: [json.object(referencesShape), ({ fullPath, seenAs }) => ({ as: EPIC_SHOWN_AS, fullPath, seenAs })],
  author: [
    json.found(personShape),
    ({ externalUrl }) => ({
      of: { user: 'u', externalUrl },
      from: 'from directory_users u where u.id = i.author_id',
    }),
  ],
  start_date: [json.dayOrNull, () => STARTS],
  due_date: [json.dayOrNull, () => DUE],
  end_date: [json.dayOrNull, () => DUE],
  created_at: [json.instant, () => 'i.created_at'],
  updated_at: [json.instant, () => 'i.updated_at'],
  closed_at: [json.instantOrNull, () => 'i.closed_at'],
  labels: [
    labelsOf,
    ({ withLabelDetails, above }) => ({ ...OF_EPIC, withDetails: withLabelDetails === true, above, project: null }),
  ],
  upvotes: [json.int, () => 'i.upvotes_count'],
  downvotes: [json.int, () => 'i.downvotes_count'],
  color: [json.token, () => 'i.color'],
  text_color: [json.token, () => 'i.text_color'],
  _links: [json.object(linksShape), (sql) => sql],
});

/** Fields that only readers who may change the epic receive. */
const dateFields = {
  start_date_is_fixed: [json.bool, () => 'i.start_is_fixed'],
  start_date_fixed: [json.dayOrNull, () => 'i.start_fixed_on'],
  start_date_from_inherited_source: [json.dayOrNull, () => 'inherited.start_on'],
  start_date_from_milestones: [json.dayOrNull, () => 'inherited.start_on'],
  due_date_is_fixed: [json.bool, () => 'i.due_is_fixed'],
  due_date_fixed: [json.dayOrNull, () => 'i.due_fixed_on'],
  due_date_from_inherited_source: [json.dayOrNull, () => 'inherited.due_on'],
  due_date_from_milestones: [json.dayOrNull, () => 'inherited.due_on'],
} as const;
const mayEditEpicSql = (sql: EpicSql): string => sql.mayEdit;

/** JSON of an epic in lists of epics and in answers to changes. */
export const listedEpicShape = epicShape.extend<EpicSql>('ListedEpic').fields(dateFields, mayEditEpicSql);

/** JSON of one epic, with whether the reader is subscribed. Source: reference work-tracking 5.2. */
export const epicDetailShape = epicShape
  .extend<EpicDetailSql>('EpicDetail')
  .fields({ subscribed: [json.bool, ({ viewer }) => subscribedSql({ ...OF_EPIC, assignees: null }, viewer)] })
  .extend<EpicDetailSql>('EpicDetail')
  .fields(dateFields, mayEditEpicSql);

/** JSON of an epic in answers of the subscription routes. */
export const followedEpicShape = epicShape
  .extend<EpicSqlWithOptionalReader & DetailSql>('FollowedEpic')
  .fields({ subscribed: [json.bool, ({ viewer }) => subscribedSql({ ...OF_EPIC, assignees: null }, viewer)] });

/** Size of the texts of an epic `i` in a list, with those of its labels. Units: bytes. */
export function epicTextBytesSql({ withLabelDetails }: Pick<ShownSql, 'withLabelDetails'>): string {
  return `coalesce(octet_length(i.description), 0)${withLabelDetails === true ? ` + ${labelDetailsBytesSql('Epic')}` : ''}`;
}
