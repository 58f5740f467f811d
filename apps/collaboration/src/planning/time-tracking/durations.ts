/**
 * Units of durations, longest first. A working day has 8 hours, a week 5 days, a month 4 weeks. Source: reference
 * work-tracking 9.1.
 */
const UNITS = [
  { name: 'mo', seconds: 576_000, words: ['mo', 'mos', 'month', 'months'] },
  { name: 'w', seconds: 144_000, words: ['w', 'wk', 'wks', 'week', 'weeks'] },
  { name: 'd', seconds: 28_800, words: ['d', 'day', 'days'] },
  { name: 'h', seconds: 3600, words: ['h', 'hr', 'hrs', 'hour', 'hours'] },
  { name: 'm', seconds: 60, words: ['m', 'min', 'mins', 'minute', 'minutes'] },
  { name: 's', seconds: 1, words: ['s', 'sec', 'secs', 'second', 'seconds'] },
] as const;

const SECONDS = new Map<string, number>(
  UNITS.flatMap(({ seconds, words }) => words.map((word) => [word, seconds] as const)),
);

/** Maximum length of a duration text, far above real ones. Units: characters. */
const LONGEST = 100;
/** Sticky pattern for one part: continues where the previous part ended, so parsing is linear. */
const PART = /(\d+(?:\.\d+)?)\s*([a-z]*)[\s,]*/y;

/** Maximum of an integer column. Units: seconds. */
export const LONGEST_DURATION = 2_147_483_647;

/**
 * Parses a duration: `1w 2d`, `3h30m`, `1.5 hours`, `-45m`; a number alone means hours. A sign at the start applies to the
 * whole duration. Units: seconds, rounded; null if invalid or longer than the maximum.
 * Source: reference work-tracking 9.1.
 */
export function parseDuration(text: string): number | null {
  const trimmed = text.trim().toLowerCase();
  if (trimmed.length > LONGEST) return null;
  const [, sign, parts] = /^([-+]?)\s*(.*)$/s.exec(trimmed)!;
  const seconds = Math.round(sumDurationPartsInSeconds(parts!));
  if (!(seconds <= LONGEST_DURATION)) return null;
  return sign === '-' && seconds > 0 ? -seconds : seconds;
}

/** Sums up the parts of a duration. Returns NaN if they are invalid. */
function sumDurationPartsInSeconds(parts: string): number {
  if (/^\d+(\.\d+)?$/.test(parts)) return Number(parts) * SECONDS.get('h')!;
  let total = parts === '' ? NaN : 0;
  for (PART.lastIndex = 0; PART.lastIndex < parts.length;) {
    const [, amount, word] = PART.exec(parts) ?? [];
    const seconds = SECONDS.get(word ?? '');
    if (amount === undefined || seconds === undefined) return NaN;
    total += Number(amount) * seconds;
  }
  return total;
}

/** Formats a duration: `1w 2d 3h`. Returns null for 0. Units: seconds, not negative. */
export function formatDuration(seconds: number): string | null {
  let rest = seconds;
  const parts = UNITS.flatMap((unit) => {
    const count = Math.floor(rest / unit.seconds);
    rest -= count * unit.seconds;
    return count > 0 ? [`${count}${unit.name}`] : [];
  });
  return parts.length > 0 ? parts.join(' ') : null;
}

/** SQL that formats a column like `formatDuration`. Returns a text expression, null for 0. */
export function formatDurationSql(column: string): string {
  const parts = UNITS.map(({ name, seconds }, index) => {
    const rest = index === 0 ? column : `${column} % ${UNITS[index - 1]!.seconds}`;
    return `nullif(${rest} / ${seconds}, 0) || '${name}'`;
  });
  return `case when ${column} > 0 then concat_ws(' ', ${parts.join(', ')}) end`;
}
