import { snippetEvents } from '@rookery/contracts';
import type { NoteableKind, ReaderSql } from '../../base/noteables/noteable-kinds';
import { attachedSnippets } from './snippet-removal';
import { SNIPPET_BYTES, SNIPPET_SHOWN_AS, snippetShape } from './snippet.shape';

/**
 * Snippets of projects as a noteable kind. Personal snippets have no project, so that routes and queries of noteables
 * never find them. Source: reference work-tracking 2.1, 9.2.
 */
export const snippetKind: NoteableKind = {
  ...SNIPPET_SHOWN_AS,
  type: 'Snippet',
  noun: 'snippet',
  word: 'snippet',
  resource: 'Snippet',
  table: 'snippets',
  writes: { update: 'update snippets i set', remove: 'delete from snippets i' },
  parent: 'project',
  feature: 'snippets',
  confidentialColumn: null,
  stateColumn: null,
  hasEditorColumns: false,
  abilities: ['awards'],
  events: snippetEvents,
  visibleSql: isSnippetVisibleSql,
  assignees: null,
  listed: snippetShape,
  listedBytes: SNIPPET_BYTES,
  detailed: snippetShape,
  attached: [attachedSnippets],
};

/**
 * Visibility of a snippet to a reader who sees the project and its snippets: private snippets are for members, internal
 * ones for signed-in users who are not external. External users are checked here because they do see a public project
 * while signed in. Source: reference work-tracking 9.2.
 */
function isSnippetVisibleSql({ viewer, isMember }: ReaderSql): string {
  return `(i.visibility = 'public' or ${isMember} or (i.visibility = 'internal' and exists (
    select 1 from directory_users reader where reader.id = ${viewer} and not reader.external)))`;
}
