import { prepareStatement } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { encodeUrlPath } from './snippet-files';
import type { ExistingFile, TargetFile } from './snippet-files';

/** $1 snippet, $2 ids of the files to keep. */
const deleteOtherFiles = prepareStatement(
  'snippet_files_drop',
  'delete from snippet_files where snippet_id = $1::bigint and id <> all($2::bigint[])',
);
const updateFiles = prepareStatement(
  'snippet_files_change',
  `update snippet_files f set path = w.path, url_path = w.url_path, content = coalesce(w.content, f.content)
   from unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) w (id, path, url_path, content) where f.id = w.id`,
);
/** $1 snippet, $2-$4 columns of its new files. */
const insertFiles = prepareStatement(
  'snippet_files_insert',
  `insert into snippet_files (snippet_id, path, url_path, content)
   select $1::bigint, w.path, w.url_path, w.content
   from unnest($2::text[], $3::text[], $4::text[]) with ordinality w (path, url_path, content, place) order by w.place`,
);

/** Writes the files of a snippet: only the differences, and contents that do not change are not read. */
export async function storeSnippetFiles(
  tx: Tx,
  id: number,
  before: readonly ExistingFile[],
  after: readonly TargetFile[],
): Promise<void> {
  const stay = after.filter((file) => file.id !== null);
  if (stay.length < before.length) await tx.prepared(deleteOtherFiles, [id, stay.map((file) => file.id)]);
  const paths = new Map(before.map((file) => [file.id, file.path]));
  const changed = stay.filter((file) => file.content !== null || paths.get(file.id!) !== file.path);
  if (changed.length > 0) await tx.prepared(updateFiles, [changed.map((file) => file.id), ...toFileColumns(changed)]);
  const added = after.filter((file) => file.id === null);
  if (added.length > 0) await tx.prepared(insertFiles, [id, ...toFileColumns(added)]);
}

function toFileColumns(files: readonly TargetFile[]): unknown[] {
  return [
    files.map(({ path }) => path),
    files.map(({ path }) => encodeUrlPath(path)),
    files.map(({ content }) => content),
  ];
}
