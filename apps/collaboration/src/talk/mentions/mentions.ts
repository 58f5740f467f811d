import { textBlocks } from './markdown-blocks';

/** Who a text names. Shape: names as written, without the at sign, each once ignoring case; `direct` is part of `all`. */
export interface Mentions {
  /** Users and groups; `all` may stand for the whole project. */
  readonly all: readonly string[];
  /** Those named at the start of a line or paragraph, alone or in a row of names. */
  readonly direct: readonly string[];
}

// A name or a full path of a group. Not after a word character: that is an e-mail address.
const NAME = /[a-zA-Z0-9_](?:[a-zA-Z0-9_.\-]{0,253}[a-zA-Z0-9_\-])?/;
const PATH = new RegExp(`${NAME.source}(?:/${NAME.source}){0,20}`);
const MENTION = new RegExp(`(?<![\\w@./\\ufffc])@(${PATH.source})`, 'g');
const LEADING = new RegExp(`^[\\s,;:]*@(${PATH.source})(?=$|[\\s,;:.!?])`);

/**
 * Finds the people and groups that a Markdown text names, outside of code.
 * Shape: a person named both at a start and elsewhere is in `direct`.
 * Source: reference work-tracking 0.15, 6.3.
 */
export function mentionsIn(markdown: string): Mentions {
  const all = new Map<string, string>();
  const direct = new Map<string, string>();
  if (!markdown.includes('@')) return { all: [], direct: [] };
  for (const block of textBlocks(markdown)) {
    if (!block.text.includes('@')) continue;
    for (const line of block.text.split('\n')) {
      for (const name of leadingNames(line)) addTo(direct, name);
      for (const [, name] of line.matchAll(MENTION)) addTo(all, name!);
    }
  }
  return { all: [...all.values()], direct: [...direct.values()] };
}

function leadingNames(line: string): string[] {
  const names: string[] = [];
  let from = 0;
  for (;;) {
    // Bounded, so that a line of a million names is not copied a million times.
    const match = LEADING.exec(line.slice(from, from + 6000));
    if (!match) return names;
    names.push(match[1]!);
    from += match[0].length;
  }
}

function addTo(names: Map<string, string>, name: string): void {
  const key = name.toLowerCase();
  if (!names.has(key)) names.set(key, name);
}
