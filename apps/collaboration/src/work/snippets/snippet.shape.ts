import { nullable, text } from '@rookery/api-v4';
import type { ImportType } from '@rookery/contracts';
import { VISIBILITIES } from '@rookery/kernel';
import { json, beginJsonShape, jsonTextsSql } from '../../base/noteables/json.shape';
import { trimBaseUrl, personShape } from '../../base/noteables/person.shape';
import { webPathSql } from '../../base/noteables/references.shape';
import type { ReferenceFormat } from '../../base/noteables/references.shape';

/** References to snippets use the id: snippets have no number per project. */
export const SNIPPET_SHOWN_AS: ReferenceFormat = { shownId: 'id', webPath: '/-/snippets/', sigil: '$' };
/** The only branch name that the routes of files accept, next to `HEAD`. */
export const SNIPPET_BRANCH = 'main';

/** SQL expressions for the JSON of a snippet `i` that are not columns of its row. */
export interface SnippetSql {
  readonly externalUrl: string;
  /** Full path of its project, a text expression; null for a personal snippet. */
  readonly fullPath: string;
}

/** The order of the files of a snippet; the first is the one that `raw` answers. */
export const FILE_ORDER = 'f.path collate "C"';

/** Only gists are imported as snippets, as personal ones. Their source is that of all imports from the remote service. */
const GIST_SOURCE: ImportType = 'remote';
const IS_IMPORTED = `(i.project_id is null and exists (select 1 from imported_snippets o where o.author_id = i.author_id and o.snippet_id = i.id))`;

const snippetWebPathSql = ({ fullPath }: SnippetSql): string =>
  `case when i.project_id is null then '-/snippets/' || i.id else ${webPathSql(SNIPPET_SHOWN_AS, fullPath)} end`;
const prefixedSnippetUrl = (sql: SnippetSql, tailSql: string) => ({
  prefix: `${trimBaseUrl(sql)}/`,
  sql: `${snippetWebPathSql(sql)}${tailSql}`,
});

const fileShape = beginJsonShape<SnippetSql>('SnippetFile').fields({
  path: [json.text, () => 'f.path'],
  raw_url: [json.prefixed, (sql) => prefixedSnippetUrl(sql, ` || '/raw/${SNIPPET_BRANCH}/' || f.url_path`)],
});

const filesSql = (sql: SnippetSql): string =>
  `${jsonTextsSql(fileShape, { of: sql, from: 'from snippet_files f where f.snippet_id = i.id' }, FILE_ORDER)} files`;

/** JSON of a snippet in all answers. The SQL uses the alias `i` (snippets). Source: reference work-tracking 9.2. */
export const snippetShape = beginJsonShape<SnippetSql>('Snippet', filesSql).fields({
  id: [json.int, () => 'i.id'],
  title: [json.text, () => 'i.title'],
  file_name: [
    json.text,
    () => `(select f.path from snippet_files f where f.snippet_id = i.id order by ${FILE_ORDER} limit 1)`,
  ],
  files: [json.list(fileShape), () => 'files.texts'],
  description: [json.textOrNull, () => 'i.description'],
  visibility: [json.choice(...VISIBILITIES), () => 'i.visibility'],
  author: [
    json.found(personShape),
    ({ externalUrl }) => ({ of: { user: 'u', externalUrl }, from: 'from directory_users u where u.id = i.author_id' }),
  ],
  updated_at: [json.instant, () => 'i.updated_at'],
  created_at: [json.instant, () => 'i.created_at'],
  project_id: [json.intOrNull, () => 'i.project_id'],
  imported: [json.bool, () => IS_IMPORTED],
  imported_from: [json.token, () => `case when ${IS_IMPORTED} then '${GIST_SOURCE}' else 'none' end`],
  web_url: [json.prefixed, (sql) => prefixedSnippetUrl(sql, '')],
  raw_url: [json.prefixed, (sql) => prefixedSnippetUrl(sql, ` || '/raw'`)],
  ssh_url_to_repo: [json.constant(nullable(text)), () => null],
  http_url_to_repo: [json.constant(nullable(text)), () => null],
});

/** Size of the texts of a snippet `i` in a list. Units: bytes. */
export const SNIPPET_BYTES = 'coalesce(octet_length(i.description), 0)';
