import { lengthProblems, keepFieldsWithProblems } from '@rookery/kernel';

const MAX_NAME = 255;
const MAX_TITLE = 255;
const MAX_DESCRIPTION = 1024;

const BLANK = "can't be blank";
const NOT_IN_NAMES = /[\u0000-\u001f\u007f\u2028\u2029]/;

/** Returns the problems of a name, as API error messages. Source: reference identity-and-import 9. */
export function topicNameProblems(name: string): string[] {
  if (name.trim() === '') return [BLANK];
  return [
    ...lengthProblems(name, MAX_NAME),
    ...(NOT_IN_NAMES.test(name) ? ['has characters that are not allowed'] : []),
  ];
}

/**
 * Returns the problems of the sent fields, by field. A title is required on creation; on update a blank one is replaced
 * by the name.
 */
export function problemsOfTopic(
  sent: { readonly name?: string; readonly title?: string; readonly description?: string | null },
  isNew: boolean,
): Record<string, string[]> {
  const title = sent.title ?? '';
  const isBlank = isNew && title.trim() === '';
  return keepFieldsWithProblems({
    name: sent.name === undefined ? [] : topicNameProblems(sent.name),
    title: [...(isBlank ? [BLANK] : []), ...lengthProblems(title, MAX_TITLE)],
    description: lengthProblems(sent.description ?? '', MAX_DESCRIPTION),
  });
}
