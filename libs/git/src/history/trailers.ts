/** Trailer of a commit message, such as `Signed-off-by: Wren <wren@example.org>`. */
export interface Trailer {
  readonly key: string;
  readonly value: string;
}

const TRAILER = /^([A-Za-z0-9-]+)[ \t]*:[ \t]*(.*)$/;
const BY_GIT = /^(?:Signed-off-by: |\(cherry picked from commit )/;
const MAX_MESSAGE = 1024 * 1024;

/**
 * Reads the trailers of a commit message as `git interpret-trailers --parse` does: they are the last paragraph, which
 * is not the title, if all its lines are trailers, or a quarter of them and one that git writes itself.
 * Bounds: linear; the first MiB of the message.
 */
export function parseTrailers(message: string): Trailer[] {
  const lines = message.slice(0, MAX_MESSAGE).split('\n');
  while (lines.length > 0 && isBlank(lines.at(-1)!)) lines.pop();
  let from = lines.length;
  while (from > 0 && !isBlank(lines[from - 1]!)) from -= 1;
  // The title is no block of trailers.
  if (from === 0 || lines.slice(0, from).every(isBlank)) return [];
  const block = unfolded(lines.slice(from));
  const trailers = block.filter((line) => TRAILER.test(line) || BY_GIT.test(line));
  const others = block.length - trailers.length;
  const isBlock = others === 0 || (block.some((line) => BY_GIT.test(line)) && trailers.length * 3 >= others);
  if (!isBlock) return [];
  return block.flatMap((line) => {
    const match = TRAILER.exec(line);
    return match ? [{ key: match[1]!, value: match[2]!.trim() }] : [];
  });
}

function isBlank(line: string): boolean {
  return line.trim() === '';
}

/** Lines that begin with a blank continue the line before. */
function unfolded(lines: readonly string[]): string[] {
  const whole: string[] = [];
  for (const line of lines) {
    const last = whole.at(-1);
    if (/^[ \t]/.test(line) && last !== undefined) whole[whole.length - 1] = `${last} ${line.trim()}`;
    else whole.push(line);
  }
  return whole;
}
