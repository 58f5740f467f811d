/** Problems that are sentences already. */
const SENTENCES: ReadonlySet<string> = new Set(['limit_reached']);
/** Problems that repeat those of another field. */
const REPEATED: ReadonlySet<string> = new Set(['project_namespace.name']);

/**
 * Joins each problem of a project with the name of its field: "Name has already been taken". Source: reference
 * identity-and-import 6.3.
 */
export function toProjectProblemSentences(problems: Readonly<Record<string, readonly string[]>>): string[] {
  return Object.entries(problems)
    .filter(([field]) => !REPEATED.has(field))
    .flatMap(([field, texts]) => texts.map((text) => (SENTENCES.has(field) ? text : `${fieldLabel(field)} ${text}`)));
}

function fieldLabel(field: string): string {
  const words = field.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
