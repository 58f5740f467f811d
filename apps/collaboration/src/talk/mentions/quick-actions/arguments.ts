import { readDay } from '@rookery/kernel';
/** Reference to an issue. `project` is a full path, null for the current project. */
export interface IssueArgument {
  readonly project: string | null;
  readonly iid: number;
}

/** Reference to an epic. `group` is a full path, or null for the current group. */
interface EpicArgument {
  readonly group: string | null;
  readonly iid: number;
}

/** Maximum number of users, labels or references in one command; further ones are ignored. */
const MAX_ARGUMENTS = 100;
const PERSON = /^@([\w.\-]{1,255})$/;
const FULL_PATH = /^[\w.\-]{1,255}(?:\/[\w.\-]{1,255}){1,20}$/;
const WITH_NOTES = '--with_notes';
const REFERENCE = /^([\w.\-]+(?:\/[\w.\-]+){1,20})?#(\d{1,15})$/;
const EPIC = /^([\w.\-]+(?:\/[\w.\-]+){0,20})?&(\d{1,15})$/;

/** Parsers for the arguments of quick actions. Source: reference work-tracking 2.6. */
export const parseArgument = {
  /** Usernames without the at sign, each once. `me` is the caller's username, which replaces the word `me`. */
  people(text: string, me: string): string[] {
    const names = splitWords(text).flatMap((word) => {
      if (word.toLowerCase() === 'me' || word.toLowerCase() === '@me') return [me];
      return PERSON.exec(word)?.[1] ?? [];
    });
    return [...new Map(names.map((name) => [name.toLowerCase(), name])).values()];
  },

  /** Names of labels: `~bug ~"needs work"`. */
  labels: (text: string): string[] => [...new Set(findMarkedNames(text, '~'))],

  /** Title of a milestone: `%v1`, `%"version one"`, or the text itself. Returns null if there is none. */
  milestone(text: string): string | null {
    if (!text.startsWith('%')) return text === '' ? null : text;
    return findMarkedNames(text, '%')[0] ?? null;
  },

  /** References to issues: `#5`, `group/project#5`. */
  references(text: string): IssueArgument[] {
    return splitWords(text).flatMap((word) => {
      const [, project, iid] = REFERENCE.exec(word) ?? [];
      return iid === undefined ? [] : [{ project: project ?? null, iid: Number(iid) }];
    });
  },

  /**
   * Full path of a project, which may be missing, and whether notes are copied: `group/project --with_notes`. Returns
   * null if invalid.
   */
  destination(text: string): { readonly path: string | null; readonly withNotes: boolean } | null {
    const words = text.split(/\s+/, 3).filter((word) => word !== '');
    const [path = null, ...more] = words.filter((word) => word !== WITH_NOTES);
    if (more.length > 0 || (path !== null && !FULL_PATH.test(path))) return null;
    return { path, withNotes: words.includes(WITH_NOTES) };
  },

  /** Reference to an epic: `&5`, `group/subgroup&5`. Returns null if invalid. */
  epic(text: string): EpicArgument | null {
    const [, group, iid] = EPIC.exec(text) ?? [];
    return iid === undefined ? null : { group: group ?? null, iid: Number(iid) };
  },

  /**
   * Day: `2026-01-31` (all spellings of parameters), `today`, `tomorrow`, `in 2 days` (weeks, months, years). Returns
   * `YYYY-MM-DD`, or null if invalid.
   */
  day(text: string, today: Date): string | null {
    const trimmed = text.trim().toLowerCase();
    const written = readDay(trimmed);
    if (written !== null) return written;
    if (trimmed === 'today') return formatDay(today);
    if (trimmed === 'tomorrow') return addToDate(today, 1, 'day');
    const [, count, unit] = /^in (\d{1,4}|an?|one) (day|week|month|year)s?$/.exec(trimmed) ?? [];
    if (count === undefined) return null;
    return addToDate(today, /^\d/.test(count) ? Number(count) : 1, unit as DateUnit);
  },

  /** Integer from 0 on; null if invalid. */
  integer: (text: string): number | null => (/^\d{1,9}$/.test(text) ? Number(text) : null),

  /** Name of an emoji, with or without colons; null if invalid. */
  emoji: (text: string): string | null => /^:?([\w+\-]{1,100}):?$/.exec(text)?.[1] ?? null,
};

type DateUnit = 'day' | 'week' | 'month' | 'year';

function splitWords(text: string): string[] {
  return text.split(/[\s,]+/, MAX_ARGUMENTS).filter((word) => word !== '');
}

/** Returns the words that follow a mark, each up to a blank or comma, or in quotes. */
function findMarkedNames(text: string, mark: '~' | '%'): string[] {
  const names: string[] = [];
  for (let at = 0; at < text.length && names.length < MAX_ARGUMENTS; at++) {
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

/** Adds to a UTC day; uses the last day of a shorter month. Returns null after the year 9999. */
function addToDate(today: Date, count: number, unit: DateUnit): string | null {
  const [year, month, date] = [today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate()];
  const days = { day: count, week: 7 * count, month: 0, year: 0 }[unit];
  const months = { day: 0, week: 0, month: count, year: 12 * count }[unit];
  const last = new Date(Date.UTC(year, month + months + 1, 0)).getUTCDate();
  const day = new Date(Date.UTC(year, month + months, Math.min(date, last) + days));
  return day.getUTCFullYear() > 9999 ? null : formatDay(day);
}

function formatDay(at: Date): string {
  return at.toISOString().slice(0, 10);
}
