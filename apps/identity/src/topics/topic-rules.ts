import { lengthProblems, problemsByField } from '@rookery/kernel';

const MAX_NAME = 255;
const MAX_TITLE = 255;
const MAX_DESCRIPTION = 1024;

const BLANK = "can't be blank";
const NOT_IN_NAMES = /[\u0000-\u001f\u007f\u2028\u2029]/;

/** What is wrong with a name, in the words of the API. Source: reference identity-and-import 9. */
export function topicNameProblems(name: string): string[] {
  if (name.trim() === '') return [BLANK];
  return [
    ...lengthProblems(name, MAX_NAME),
    ...(NOT_IN_NAMES.test(name) ? ['has characters that are not allowed'] : []),
  ];
}

/** What is wrong with the sent fields, by field. A title is only needed when a topic is made; later the name stands in. */
export function problemsOfTopic(
  sent: { readonly name?: string; readonly title?: string; readonly description?: string | null },
  isNew: boolean,
): Record<string, string[]> {
  const title = sent.title ?? '';
  const isBlank = isNew && title.trim() === '';
  return problemsByField({
    name: sent.name === undefined ? [] : topicNameProblems(sent.name),
    title: [...(isBlank ? [BLANK] : []), ...lengthProblems(title, MAX_TITLE)],
    description: lengthProblems(sent.description ?? '', MAX_DESCRIPTION),
  });
}
