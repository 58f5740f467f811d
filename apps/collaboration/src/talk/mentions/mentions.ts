import { textBlocks } from './markdown-blocks';

/**
 * Mentions in a text. Names are as written, without the at sign, each once ignoring case. `direct` is a subset of
 * `all`.
 */
export interface Mentions {
  /** Names of users and groups; the name `all` may mean the whole project. */
  readonly all: readonly string[];
  /** Names at the start of a line, alone or in a sequence of names. */
  readonly direct: readonly string[];
}

// A username or the full path of a group. A name after a word character is part of an e-mail address.
const NAME = /[a-zA-Z0-9_](?:[a-zA-Z0-9_.\-]{0,253}[a-zA-Z0-9_\-])?/;
const PATH = new RegExp(`${NAME.source}(?:/${NAME.source}){0,20}`);
/** Matches a mention: the at sign and a name. */
export const MENTION = new RegExp(`(?<![\\w@./\\ufffc])@(${PATH.source})`, 'g');
const LEADING = new RegExp(`^[\\s,;:]*@(${PATH.source})(?=$|[\\s,;:.!?])`);

/**
 * Finds the users and groups that a Markdown text mentions outside of code. A name that occurs both at the start of a
 * line and elsewhere is in `direct`.
 * Source: reference work-tracking 0.15, 6.3.
 */
export function findMentions(markdown: string): Mentions {
  const all = new Map<string, string>();
  const direct = new Map<string, string>();
  if (!markdown.includes('@')) return { all: [], direct: [] };
  for (const block of textBlocks(markdown)) {
    if (!block.text.includes('@')) continue;
    for (const line of block.text.split('\n')) {
      for (const name of findLeadingMentions(line)) addNameOnce(direct, name);
      for (const [, name] of line.matchAll(MENTION)) addNameOnce(all, name!);
    }
  }
  return { all: [...all.values()], direct: [...direct.values()] };
}

function findLeadingMentions(line: string): string[] {
  const names: string[] = [];
  let from = 0;
  for (;;) {
    // Limited to 6000 characters, because copying the whole line for each of a million names would be quadratic.
    const match = LEADING.exec(line.slice(from, from + 6000));
    if (!match) return names;
    names.push(match[1]!);
    from += match[0].length;
  }
}

function addNameOnce(names: Map<string, string>, name: string): void {
  const key = name.toLowerCase();
  if (!names.has(key)) names.set(key, name);
}
