import { list, mapOf, text } from '@rookery/api-v4';
import { json, beginJsonShape } from '../../base/noteables/json.shape';
import type { PersonalJsonSql } from '../../base/noteables/noteable-kinds';
import { trimBaseUrl } from '../../base/noteables/person.shape';
import { webPathSql } from '../../base/noteables/references.shape';
import type { ReferenceFormat } from '../../base/noteables/references.shape';

/** References to commits use their sha. */
export const COMMIT_SHOWN_AS: ReferenceFormat = { shownId: 'sha', webPath: '/-/commit/', sigil: '@' };

/**
 * JSON of a commit in to-dos: the fields of the list of commits. The SQL uses the alias `i` (discussed_commits).
 * Source: reference repositories 4.1; reference work-tracking 6.2.
 */
export const commitTargetShape = beginJsonShape<PersonalJsonSql>('CommitTarget').fields({
  id: [json.token, () => 'i.sha'],
  short_id: [json.token, () => 'left(i.sha, 8)'],
  created_at: [json.token, () => 'i.committed_date'],
  parent_ids: [json.written(list(text)), () => 'array_to_json(i.parent_ids)'],
  title: [json.text, () => 'i.title'],
  message: [json.text, () => 'i.description'],
  author_name: [json.text, () => 'i.author_name'],
  author_email: [json.text, () => 'i.author_email'],
  authored_date: [json.token, () => 'i.authored_date'],
  committer_name: [json.text, () => 'i.committer_name'],
  committer_email: [json.text, () => 'i.committer_email'],
  committed_date: [json.token, () => 'i.committed_date'],
  // As in lists without `trailers`.
  trailers: [json.constant(mapOf(text)), () => ({})],
  extended_trailers: [json.constant(mapOf(list(text))), () => ({})],
  web_url: [
    json.prefixed,
    (sql) => ({ prefix: `${trimBaseUrl(sql)}/`, sql: webPathSql(COMMIT_SHOWN_AS, sql.fullPath) }),
  ],
});
