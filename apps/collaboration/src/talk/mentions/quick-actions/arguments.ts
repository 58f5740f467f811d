/** An issue of this or another project. Shape: `project` is a full path, null for the one at hand. */
export interface NamedReference {
  readonly project: string | null;
  readonly iid: number;
}

/** An epic of this or another group. Shape: `group` is a full path, null for the one at hand. */
export interface NamedEpicReference {
  readonly group: string | null;
  readonly iid: number;
}

/** How many people, labels or things one command names at most; more are not read. */
const MOST_NAMED = 100;
const PERSON = /^@([\w.\-]{1,255})$/;
const FULL_PATH = /^[\w.\-]{1,255}(?:\/[\w.\-]{1,255}){1,20}$/;
const WITH_NOTES = '--with_notes';
const REFERENCE = /^([\w.\-]+(?:\/[\w.\-]+){1,20})?#(\d{1,15})$/;
const EPIC = /^([\w.\-]+(?:\/[\w.\-]+){0,20})?&(\d{1,15})$/;

/** What commands are told. Source: reference work-tracking 2.6. */
export const argumentsOf = {
  /** Usernames without the at sign, each once; `me` is the caller. */
  people(text: string, me: string): string[] {
    const names = wordsOf(text).flatMap((word) => {
      if (word.toLowerCase() === 'me' || word.toLowerCase() === '@me') return [me];
      return PERSON.exec(word)?.[1] ?? [];
    });
    return [...new Map(names.map((name) => [name.toLowerCase(), name])).values()];
  },

  /** Names of labels: `~bug ~"needs work"`. */
  labels: (text: string): string[] => [...new Set(marked(text, '~'))],

  /** The title of a milestone: `%v1`, `%"version one"`, or as it is. Shape: null for none. */
  milestone(text: string): string | null {
    if (!text.startsWith('%')) return text === '' ? null : text;
    return marked(text, '%')[0] ?? null;
  },

  /** Issues: `#5`, `group/project#5`. */
  references(text: string): NamedReference[] {
    return wordsOf(text).flatMap((word) => {
      const [, project, iid] = REFERENCE.exec(word) ?? [];
      return iid === undefined ? [] : [{ project: project ?? null, iid: Number(iid) }];
    });
  },

  /** A project by its full path, or none, and whether notes go along: `group/project --with_notes`. Shape: null for else. */
  destination(text: string): { readonly path: string | null; readonly withNotes: boolean } | null {
    const words = text.split(/\s+/, 3).filter((word) => word !== '');
    const [path = null, ...more] = words.filter((word) => word !== WITH_NOTES);
    if (more.length > 0 || (path !== null && !FULL_PATH.test(path))) return null;
    return { path, withNotes: words.includes(WITH_NOTES) };
  },

  /** An epic: `&5`, `group/below&5`. Shape: null for none. */
  epic(text: string): NamedEpicReference | null {
    const [, group, iid] = EPIC.exec(text) ?? [];
    return iid === undefined ? null : { group: group ?? null, iid: Number(iid) };
  },

  /**
   * A day: `2026-01-31`, `today`, `tomorrow`, `in 2 days` (weeks, months, years). Shape: `YYYY-MM-DD`; null for none.
   */
  day(text: string, today: Date): string | null {
    const wish = text.trim().toLowerCase();
    if (/^\d{4}-\d{2}-\d{2}$/.test(wish)) return isDay(wish) ? wish : null;
    if (wish === 'today') return dayOf(today);
    if (wish === 'tomorrow') return later(today, 1, 'day');
    const [, count, unit] = /^in (\d{1,4}|an?|one) (day|week|month|year)s?$/.exec(wish) ?? [];
    if (count === undefined) return null;
    return later(today, /^\d/.test(count) ? Number(count) : 1, unit as Unit);
  },

  /** A whole number from 0 on; null for none. */
  whole: (text: string): number | null => (/^\d{1,9}$/.test(text) ? Number(text) : null),

  /** The name of an emoji, with or without colons; null for none. */
  emoji: (text: string): string | null => /^:?([\w+\-]{1,100}):?$/.exec(text)?.[1] ?? null,
};

type Unit = 'day' | 'week' | 'month' | 'year';

function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/, MOST_NAMED).filter((word) => word !== '');
}

/** What stands behind a mark, up to a blank or in quotes. */
function marked(text: string, mark: '~' | '%'): string[] {
  const names: string[] = [];
  for (let at = 0; at < text.length && names.length < MOST_NAMED; at++) {
    if (text[at] !== mark) continue;
    const quote = text[at + 1] === '"' || text[at + 1] === "'" ? text[at + 1]! : null;
    const start = at + (quote === null ? 1 : 2);
    const found = quote === null ? start + text.slice(start).search(/[\s,]|$/) : text.indexOf(quote, start);
    if (found < 0) return names;
    if (found > start) names.push(text.slice(start, found));
    at = found;
  }
  return names;
}

function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && dayOf(day) === text;
}

/** Days are those of UTC; the last of a month where the month is shorter. Shape: null after the year 9999. */
function later(today: Date, count: number, unit: Unit): string | null {
  const [year, month, date] = [today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate()];
  const days = { day: count, week: 7 * count, month: 0, year: 0 }[unit];
  const months = { day: 0, week: 0, month: count, year: 12 * count }[unit];
  const last = new Date(Date.UTC(year, month + months + 1, 0)).getUTCDate();
  const day = new Date(Date.UTC(year, month + months, Math.min(date, last) + days));
  return day.getUTCFullYear() > 9999 ? null : dayOf(day);
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}
