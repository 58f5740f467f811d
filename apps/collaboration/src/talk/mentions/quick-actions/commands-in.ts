import { codeLines, readable } from '../markdown-blocks';

/** A line that asks for something to be done. */
export interface Command {
  /** In small letters, as it was declared. */
  readonly name: string;
  /** The rest of the line, without the blanks around it. */
  readonly argument: string;
}

/** What a text asks for, and what it says besides. */
export interface CommandedText {
  readonly commands: readonly Command[];
  /** The text as it was sent while it holds no commands; else without their lines and without the blanks around it. */
  readonly rest: string;
}

interface Line {
  readonly text: string;
  /** With what ends it. */
  readonly whole: string;
}

/** Names are bounded, so that no line is read to its end for nothing. */
const COMMAND = /^\/([a-z_]{1,40})(?:[ \t]|$)/i;
const MAY_COMMAND = /(?:^|[\r\n])\/[a-z_]/i;
const LINES = /([^\r\n]*)(?:\r\n?|\n|$)/g;
/** Begins and ends a quote of many lines. */
const QUOTE = '>>>';
/** A longer line is text. Units: UTF-16 code units. */
const LONGEST_LINE = 5000;

/** Lines that become other text. Source: reference work-tracking 2.6. */
const TEXTS: Readonly<Record<string, string>> = {
  shrug: '¯\\＿(ツ)＿/¯',
  tableflip: '(╯°□°)╯︵ ┻━┻',
};

/**
 * The commands of a Markdown text: lines that begin with `/` and a known name, in any case, outside of code and quotes.
 * Other lines stay as they are. No more of a text is read than for the people whom it names.
 * Source: reference work-tracking 2.6.
 */
export function commandsIn(text: string, isKnown: (name: string) => boolean): CommandedText {
  if (!MAY_COMMAND.test(text)) return { commands: [], rest: text };
  const read = readable(text);
  const lines = linesOf(read);
  const named = lines.map((line) => nameIn(line, isKnown));
  if (!named.some((name) => name !== null)) return { commands: [], rest: text };
  const quiet = codeLines(read);
  const quoted = quotedLines(lines, quiet);
  const commands: Command[] = [];
  const said = lines.map(({ text: line, whole }, number) => {
    const name = quiet.has(number) || quoted.has(number) ? null : (named[number] ?? null);
    if (name === null) return whole;
    const argument = line.slice(name.length + 1).trim();
    const instead = TEXTS[name];
    if (instead !== undefined) return `${`${argument} ${instead}`.trim()}${whole.slice(line.length)}`;
    commands.push({ name, argument });
    return '';
  });
  const rest = `${said.join('')}${text.slice(read.length)}`;
  return { commands, rest: commands.length === 0 ? rest : rest.replace(/^(?:[ \t]*(?:\r\n?|\n))+/, '').trimEnd() };
}

/** The known name that a line begins with, in small letters; null for none. */
function nameIn({ text }: Line, isKnown: (name: string) => boolean): string | null {
  if (!text.startsWith('/') || text.length > LONGEST_LINE) return null;
  const name = COMMAND.exec(text)?.[1]!.toLowerCase();
  return name !== undefined && (Object.hasOwn(TEXTS, name) || isKnown(name)) ? name : null;
}

function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  for (const [whole, line] of text.matchAll(LINES)) if (whole !== '') lines.push({ text: line!, whole });
  return lines;
}

/** Lines between two that are `>>>` alone. */
function quotedLines(lines: readonly Line[], quiet: ReadonlySet<number>): ReadonlySet<number> {
  const quoted = new Set<number>();
  let start: number | null = null;
  for (const [number, { text }] of lines.entries()) {
    if (quiet.has(number) || !text.startsWith(QUOTE) || text.trimEnd() !== QUOTE) continue;
    if (start !== null) for (let n = start; n < number; n++) quoted.add(n);
    start = start === null ? number : null;
  }
  return quoted;
}
