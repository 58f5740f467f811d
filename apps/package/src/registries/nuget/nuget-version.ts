/**
 * A version of NuGet: two to four numbers, and labels as SemVer has them. Trailing zeros, leading zeros, the case of labels
 * and build metadata make no difference.
 */
export interface ParsedVersion {
  /** Form by which versions are equal, in lower case. */
  readonly key: string;
  readonly numbers: readonly number[];
  /** Labels of a prerelease in lower case; empty for a release. */
  readonly labels: readonly string[];
}

const LABELS = String.raw`[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*`;
const VERSION = new RegExp(
  String.raw`^(\d{1,10})\.(\d{1,10})(?:\.(\d{1,10}))?(?:\.(\d{1,10}))?(?:-(${LABELS}))?(?:\+${LABELS})?$`,
);
const MAX_LENGTH = 255;
/** Largest number in a version: NuGet holds them in 32 bits. */
const MAX_NUMBER = 2_147_483_647;

/** Returns null for a text that is no version. */
export function parseNugetVersion(text: string): ParsedVersion | null {
  const match = text.length > MAX_LENGTH ? null : VERSION.exec(text);
  if (!match) return null;
  const numbers = [1, 2, 3, 4].map((group) => Number(match[group] ?? 0));
  if (numbers.some((number) => number > MAX_NUMBER)) return null;
  const labels = match[5]?.toLowerCase().split('.') ?? [];
  const shown = numbers[3] === 0 ? numbers.slice(0, 3) : numbers;
  return { key: shown.join('.') + (labels.length > 0 ? `-${labels.join('.')}` : ''), numbers, labels };
}

/** Compares the keys of parsed versions, the oldest first. Use with `sort`. */
export function compareNugetVersionKeys(a: string, b: string): number {
  const [one, other] = [parseNugetVersion(a)!, parseNugetVersion(b)!];
  for (const [index, number] of one.numbers.entries()) {
    const difference = number - other.numbers[index]!;
    if (difference !== 0) return difference;
  }
  return comparePrereleaseLabels(one.labels, other.labels);
}

/** A release comes after its prereleases; of labels, numbers come before texts, and fewer before more. */
function comparePrereleaseLabels(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const difference = comparePrereleaseLabel(a[index]!, b[index]!);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function comparePrereleaseLabel(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber && isOtherNumber) return Number(a) - Number(b);
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return a < b ? -1 : Number(a > b);
}
