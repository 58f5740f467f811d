import { snippetEvents } from '@rookery/contracts';
import type { NoteableKind, ReaderSql } from '../../base/noteables/noteable-kinds';
import { attachedSnippets } from './snippet-removal';
import { SNIPPET_BYTES, SNIPPET_SHOWN_AS, snippetShape } from './snippet.shape';

/**
 * Snippets of projects as everything else knows them; personal ones are in no project, so nothing reaches them by it.
 * Source: reference work-tracking 2.1, 9.2.
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
  tellsEditors: false,
  abilities: ['awards'],
  events: snippetEvents,
  visibleSql: visibleSnippetSql,
  assignees: null,
  listed: snippetShape,
  listedBytes: SNIPPET_BYTES,
  detailed: snippetShape,
  attached: [attachedSnippets],
};

/**
 * By what the snippet says of itself, among those who see the project and its snippets: private ones are for members.
 * External people are told apart here, since they see a public project although they are signed in.
 * Source: reference work-tracking 9.2.
 */
function visibleSnippetSql({ viewer, isMember }: ReaderSql): string {
  return `(i.visibility = 'public' or ${isMember} or (i.visibility = 'internal' and exists (
    select 1 from directory_users reader where reader.id = ${viewer} and not reader.external)))`;
}
