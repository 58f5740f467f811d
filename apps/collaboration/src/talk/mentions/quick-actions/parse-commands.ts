import { findMarkdownCodeLines, cutMarkdownToParseLimit } from '../markdown-blocks';

/** Quick action in a text: a line with a name and an argument. */
export interface Command {
  /** Name in lower case, as declared. */
  readonly name: string;
  /** The rest of the line, without the blanks around it. */
  readonly argument: string;
}

/** Quick actions of a text, and the rest of the text. */
export interface CommandedText {
  readonly commands: readonly Command[];
  /**
   * The unchanged text if it contains no quick actions; otherwise the text without their lines and without surrounding
   * blanks.
   */
  readonly rest: string;
}

interface Line {
  readonly text: string;
  /** The line with its line ending. */
  readonly withEnding: string;
}

/** The length of names is limited, so that a long line is not scanned to its end in vain. */
const COMMAND = /^\/([a-z_]{1,40})(?:[ \t]|$)/i;
const MAY_COMMAND = /(?:^|[\r\n])\/[a-z_]/i;
const LINES = /([^\r\n]*)(?:\r\n?|\n|$)/g;
/** Starts and ends a quote of several lines. */
const QUOTE = '>>>';
/** Maximum length of a quick action; a longer line is text. Units: UTF-16 code units. */
const LONGEST_LINE = 5000;

/** Quick actions that are replaced with text. Source: reference work-tracking 2.6. */
const TEXTS: Readonly<Record<string, string>> = {
  shrug: '¯\\＿(ツ)＿/¯',
  tableflip: '(╯°□°)╯︵ ┻━┻',
};

/**
 * Finds the quick actions of a Markdown text: lines that start with `/` and a known name, in upper or lower case, outside of
 * code and quotes. Keeps the other lines unchanged. Parses only the first part of a text, the same as for mentions.
 * Source: reference work-tracking 2.6.
 */
export function parseQuickActionCommands(text: string, isKnown: (name: string) => boolean): CommandedText {
  if (!MAY_COMMAND.test(text)) return { commands: [], rest: text };
  const read = cutMarkdownToParseLimit(text);
  const lines = splitLines(read);
  const names = lines.map((line) => parseCommandName(line, isKnown));
  if (!names.some((name) => name !== null)) return { commands: [], rest: text };
  const code = findMarkdownCodeLines(read);
  const quoted = findQuotedLines(lines, code);
  const commands: Command[] = [];
  const kept = lines.map(({ text: line, withEnding }, number) => {
    const name = code.has(number) || quoted.has(number) ? null : (names[number] ?? null);
    if (name === null) return withEnding;
    const argument = line.slice(name.length + 1).trim();
    const replacement = TEXTS[name];
    if (replacement !== undefined) return `${`${argument} ${replacement}`.trim()}${withEnding.slice(line.length)}`;
    commands.push({ name, argument });
    return '';
  });
  const rest = `${kept.join('')}${text.slice(read.length)}`;
  return { commands, rest: commands.length === 0 ? rest : rest.replace(/^(?:[ \t]*(?:\r\n?|\n))+/, '').trimEnd() };
}

/** Returns the known name at the start of a line, in lower case; null if there is none. */
function parseCommandName({ text }: Line, isKnown: (name: string) => boolean): string | null {
  if (!text.startsWith('/') || text.length > LONGEST_LINE) return null;
  const name = COMMAND.exec(text)?.[1]!.toLowerCase();
  return name !== undefined && (Object.hasOwn(TEXTS, name) || isKnown(name)) ? name : null;
}

function splitLines(text: string): Line[] {
  const lines: Line[] = [];
  for (const [withEnding, line] of text.matchAll(LINES)) {
    if (withEnding !== '') lines.push({ text: line!, withEnding });
  }
  return lines;
}

/** Returns the lines between two lines that contain only `>>>`. */
function findQuotedLines(lines: readonly Line[], code: ReadonlySet<number>): ReadonlySet<number> {
  const quoted = new Set<number>();
  let start: number | null = null;
  for (const [number, { text }] of lines.entries()) {
    if (code.has(number) || !text.startsWith(QUOTE) || text.trimEnd() !== QUOTE) continue;
    if (start !== null) for (let n = start; n < number; n++) quoted.add(n);
    start = start === null ? number : null;
  }
  return quoted;
}
