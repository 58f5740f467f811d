/**
 * Order of Maven versions by the rules of Maven's own comparison: numbers by value, known qualifiers by their rank, other
 * qualifiers after them by text, and no difference between `1`, `1.0` and `1-ga`.
 */

type VersionItem = number | bigint | MavenVersionQualifier | MavenVersionItemList;

class MavenVersionQualifier {
  /** Place in the order, as text. */
  readonly rank: string;

  constructor(text: string, isBeforeDigit: boolean) {
    const short = isBeforeDigit ? SHORT_FORMS[text] : undefined;
    const name = short ?? ALIASES[text] ?? text;
    const index = QUALIFIERS.indexOf(name);
    this.rank = index < 0 ? `${QUALIFIERS.length}-${name}` : String(index);
  }
}

class MavenVersionItemList {
  readonly items: VersionItem[] = [];
}

const QUALIFIERS = ['alpha', 'beta', 'milestone', 'rc', 'snapshot', '', 'sp'];
const RELEASE = String(QUALIFIERS.indexOf(''));
const SHORT_FORMS: Readonly<Record<string, string>> = { __proto__: null!, a: 'alpha', b: 'beta', m: 'milestone' };
const ALIASES: Readonly<Record<string, string>> = { __proto__: null!, ga: '', final: '', release: '', cr: 'rc' };

/** Returns the versions from the oldest to the newest. Versions of equal order keep their places. */
export function sortMavenVersions(versions: readonly string[]): string[] {
  return versions
    .map((version) => ({ version, parsed: parseMavenVersion(version) }))
    .sort((a, b) => compareItems(a.parsed, b.parsed))
    .map(({ version }) => version);
}

/**
 * Splits a version at `.` and `-`, and between digits and other characters. A list of its own begins after `-`, between
 * the two kinds of characters, and at a qualifier before digits or at the end, where `.x` counts as `-x`.
 */
function parseMavenVersion(version: string): MavenVersionItemList {
  const root = new MavenVersionItemList();
  const lists = [root];
  const nest = (): void => {
    const inner = new MavenVersionItemList();
    lists.at(-1)!.items.push(inner);
    lists.push(inner);
  };
  const add = (run: string, isBeforeDigit: boolean, isLast: boolean): void => {
    const isQualifier = /^\D/.test(run);
    if (isQualifier && (isBeforeDigit || isLast) && lists.at(-1)!.items.length > 0) nest();
    lists.at(-1)!.items.push(isQualifier ? new MavenVersionQualifier(run, isBeforeDigit) : parseNumber(run));
  };
  const parts = version.toLowerCase().split(/(?<=[.-])/);
  parts.forEach((part, at) => {
    const separator = /[.-]$/.exec(part)?.[0] ?? '';
    const runs = part.slice(0, part.length - separator.length).match(/\d+|\D+/g) ?? [];
    if (runs.length === 0 && separator !== '') lists.at(-1)!.items.push(0);
    runs.forEach((run, index) => {
      if (index > 0) nest();
      const isLastRun = index + 1 === runs.length;
      add(run, !isLastRun, isLastRun && separator === '' && at + 1 === parts.length);
    });
    if (separator === '-') nest();
  });
  for (const list of lists.reverse()) dropTrailingNulls(list);
  return root;
}

function parseNumber(digits: string): VersionItem {
  return digits.length < 16 ? Number(digits) : BigInt(digits);
}

/** Zeros and release qualifiers at the end, and in front of lists at the end, make no difference. */
function dropTrailingNulls({ items }: MavenVersionItemList): void {
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index]!;
    if (isNullItem(item)) items.splice(index, 1);
    else if (!(item instanceof MavenVersionItemList)) return;
  }
}

function isNullItem(item: VersionItem): boolean {
  if (item instanceof MavenVersionItemList) return item.items.length === 0;
  return item instanceof MavenVersionQualifier ? item.rank === RELEASE : item === 0 || item === 0n;
}

/** A missing item counts as zero or as a release. */
function compareItems(a: VersionItem | undefined, b: VersionItem | undefined): number {
  if (a === undefined) return b === undefined ? 0 : -compareItems(b, undefined);
  if (a instanceof MavenVersionItemList) return compareList(a, b);
  if (a instanceof MavenVersionQualifier) return compareQualifier(a, b);
  if (b === undefined) return isNullItem(a) ? 0 : 1;
  if (b instanceof MavenVersionItemList || b instanceof MavenVersionQualifier) return 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareQualifier(a: MavenVersionQualifier, b: VersionItem | undefined): number {
  if (b !== undefined && !(b instanceof MavenVersionQualifier)) return -1;
  const rank = b === undefined ? RELEASE : b.rank;
  return a.rank < rank ? -1 : a.rank > rank ? 1 : 0;
}

function compareList({ items }: MavenVersionItemList, b: VersionItem | undefined): number {
  if (b instanceof MavenVersionQualifier) return 1;
  if (b !== undefined && !(b instanceof MavenVersionItemList)) return -1;
  const others = b?.items ?? [];
  for (let index = 0; index < Math.max(items.length, others.length); index++) {
    const order = compareItems(items[index], others[index]);
    if (order !== 0) return order;
  }
  return 0;
}
