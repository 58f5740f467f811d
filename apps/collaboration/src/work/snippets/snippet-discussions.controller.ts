import { awardEmojiController } from '../../talk/award-emoji/award-emoji.controller';
import type { NoteableRoutes } from '../../base/noteables/noteable-routes.dto';
import { userAgentDetailsController } from '../../base/noteables/user-agent-details.controller';
import { discussionsController } from '../../talk/notes/discussions/discussions.controller';
import { notesController } from '../../talk/notes/notes.controller';
import { snippetKind } from './snippet.kind';

/** Base path and kind of snippets for the routes of their notes and award emojis. Personal snippets have neither. */
const snippets: NoteableRoutes = {
  kind: snippetKind,
  path: 'projects/:id/snippets/:snippet_id',
  by: 'id',
  a: 'a snippet',
  notesSource: 'requirements 1 §4 Snippet notes',
};

export const SnippetAwardEmojiController = awardEmojiController(snippets, 'noteable');
export const SnippetNoteAwardEmojiController = awardEmojiController(snippets, 'note');
export const SnippetOriginsController = userAgentDetailsController(snippets, 'reference work-tracking 9.2');
export const SnippetNotesController = notesController(snippets);
export const SnippetDiscussionsController = discussionsController(snippets);
