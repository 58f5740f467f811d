/**
 * Whether a pattern covers a whole text. `*` stands for any run of characters, including none; every other character
 * stands for itself. Bounds: time linear in both, for any input: each part between stars is searched from the end of the
 * previous match, by an algorithm that never goes back.
 */
export function matchesWildcard(pattern: string, text: string): boolean {
  const parts = pattern.split('*');
  const first = parts.shift()!;
  if (parts.length === 0) return first === text;
  const last = parts.pop()!;
  if (first.length + last.length > text.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of parts) {
    at = findPartEnd(part, text, at, end);
    if (at < 0) return false;
  }
  return true;
}

/** End of the first occurrence of a part; -1 when there is none. Algorithm: Knuth, Morris and Pratt. */
function findPartEnd(part: string, text: string, from: number, end: number): number {
  if (part === '') return from;
  if (from + part.length > end) return -1;
  const borders = computePrefixBorders(part);
  let matched = 0;
  for (let index = from; index < end; index += 1) {
    const code = text.charCodeAt(index);
    while (matched > 0 && part.charCodeAt(matched) !== code) matched = borders[matched - 1]!;
    if (part.charCodeAt(matched) === code) matched += 1;
    if (matched === part.length) return index + 1;
  }
  return -1;
}

/** For each prefix of a part, the length of its longest proper suffix that is also a prefix of the part. */
function computePrefixBorders(part: string): Uint32Array {
  const borders = new Uint32Array(part.length);
  for (let index = 1, length = 0; index < part.length; index += 1) {
    while (length > 0 && part.charCodeAt(index) !== part.charCodeAt(length)) length = borders[length - 1]!;
    if (part.charCodeAt(index) === part.charCodeAt(length)) length += 1;
    borders[index] = length;
  }
  return borders;
}
