import { JsonText, Otherwise } from '@rookery/api-v4';
import type { JsonSchema } from '@rookery/api-v4';
import { commandChanges } from './command-changes.presenter';
import type { Said } from './commanded-notes.service';

/** What a note answers that is nothing but commands. Source: reference work-tracking 2.6. */
export const commandsOnly: JsonSchema = {
  title: 'CommandsOnly',
  type: 'object',
  properties: {
    commands_changes: commandChanges.schema,
    summary: { type: 'array', items: { type: 'string' } },
  },
  required: ['commands_changes', 'summary'],
};

/** The answer to a new note: the note, or that it was nothing but commands. */
export function answerTo(said: Said): JsonText | Otherwise {
  if ('json' in said) return new JsonText(said.json);
  return new Otherwise({ commands_changes: said.changes, summary: [said.summary] });
}
