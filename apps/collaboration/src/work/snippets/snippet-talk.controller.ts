import { awardEmojiController } from '../../talk/award-emoji/award-emoji.controller';
import type { NoteableRoutes } from '../../base/noteables/noteable-routes.dto';
import { originsController } from '../../base/noteables/origins.controller';
import { discussionsController } from '../../talk/notes/discussions/discussions.controller';
import { notesController } from '../../talk/notes/notes.controller';
import { snippetKind } from './snippet.kind';

/** Where snippets that are talked about are found, for all that stands below them. Personal ones are not talked about. */
const snippets: NoteableRoutes = {
  kind: snippetKind,
  path: 'projects/:id/snippets/:snippet_id',
  by: 'id',
  a: 'a snippet',
  promisedIn: 'requirements 1 §4 Snippet notes',
};

export const SnippetAwardEmojiController = awardEmojiController(snippets, 'thing');
export const SnippetNoteAwardEmojiController = awardEmojiController(snippets, 'note');
export const SnippetOriginsController = originsController(snippets, 'reference work-tracking 9.2');
export const SnippetNotesController = notesController(snippets);
export const SnippetDiscussionsController = discussionsController(snippets);
