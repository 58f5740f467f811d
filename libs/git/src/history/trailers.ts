/** Trailer of a commit message, such as `Signed-off-by: Wren <wren@example.org>`. */
export interface Trailer {
  readonly key: string;
  readonly value: string;
}

const TRAILER = /^([A-Za-z0-9-]+)[ \t]*:[ \t]*(.*)$/;
const BY_GIT = /^(?:Signed-off-by: |\(cherry picked from commit )/;
const IS_CONTINUED = /^[ \t]/;
const MAX_MESSAGE = 1024 * 1024;

/**
 * Reads the trailers of a commit message as `git interpret-trailers --parse` does: they are the last paragraph, which
 * is not the title, if all its lines are trailers, or a quarter of them and one that git writes itself.
 * A line with `#` is text, because a stored message has no comments.
 * Bounds: linear; the first MiB of the message.
 */
export function parseTrailers(message: string): Trailer[] {
  const lines = message.slice(0, MAX_MESSAGE).split('\n');
  while (lines.length > 0 && isBlankLine(lines.at(-1)!)) lines.pop();
  let from = lines.length;
  while (from > 0 && !isBlankLine(lines[from - 1]!)) from -= 1;
  // The title is no block of trailers.
  if (from === 0 || lines.slice(0, from).every(isBlankLine)) return [];
  const block = lines.slice(from);
  if (!isTrailerBlock(block)) return [];
  return unfoldLines(block).flatMap((line) => {
    const match = TRAILER.exec(line);
    return match ? [{ key: match[1]!, value: match[2]!.trim() }] : [];
  });
}

/** Counts as git does, from the end: a continued line counts unless it follows a trailer. */
function isTrailerBlock(lines: readonly string[]): boolean {
  let trailers = 0;
  let others = 0;
  let continued = 0;
  for (const line of lines.toReversed()) {
    if (BY_GIT.test(line) || TRAILER.test(line)) {
      trailers += 1;
      continued = 0;
    } else if (IS_CONTINUED.test(line)) continued += 1;
    else {
      others += 1 + continued;
      continued = 0;
    }
  }
  others += continued;
  if (others === 0) return trailers > 0;
  return lines.some((line) => BY_GIT.test(line)) && trailers * 3 >= others;
}

function isBlankLine(line: string): boolean {
  return line.trim() === '';
}

/** Lines that begin with a blank continue the line before. */
function unfoldLines(lines: readonly string[]): string[] {
  const whole: string[] = [];
  for (const line of lines) {
    const last = whole.at(-1);
    if (IS_CONTINUED.test(line) && last !== undefined) whole[whole.length - 1] = `${last} ${line.trim()}`;
    else whole.push(line);
  }
  return whole;
}
