import { JsonText, AlternativeAnswer } from '@rookery/api-v4';
import type { JsonSchema } from '@rookery/api-v4';
import { commandChanges } from './command-changes.presenter';
import type { NewNoteResult } from './new-notes.service';

/** Schema of the response to a note that contains only quick actions. Source: reference work-tracking 2.6. */
export const commandsOnly: JsonSchema = {
  title: 'CommandsOnly',
  type: 'object',
  properties: {
    commands_changes: commandChanges.schema,
    summary: { type: 'array', items: { type: 'string' } },
  },
  required: ['commands_changes', 'summary'],
};

/** Builds the response to a new note: the note, or the summary if it contained only quick actions. */
export function presentNewNote(result: NewNoteResult): JsonText | AlternativeAnswer {
  if ('json' in result) return new JsonText(result.json);
  return new AlternativeAnswer({ commands_changes: result.changes, summary: [result.summary] });
}
