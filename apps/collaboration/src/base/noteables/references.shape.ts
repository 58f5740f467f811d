import { json, beginJsonShape } from './json.shape';

/** Identifiers of a noteable kind in paths, web URLs and texts. */
export interface ReferenceFormat {
  /** Column shown to users and used in paths. */
  readonly shownId: 'id' | 'iid' | 'sha';
  /** Part of the web path between the full path of the project and the shown id: `/-/issues/`. */
  readonly webPath: string;
  /** Prefix of the shown id in a reference: `#`. The short reference of a commit, its sha, has none. */
  readonly sigil: string;
}

/** Text expression over `row` for the web path of a noteable: `group/project/-/issues/7`. */
export function webPathSql({ webPath, shownId }: ReferenceFormat, fullPath: string, row = 'i'): string {
  return `${fullPath} || '${webPath}' || ${row}.${shownId}`;
}

/** The column that identifies a noteable of a kind in statements. */
export function keyColumn({ shownId }: Pick<ReferenceFormat, 'shownId'>): 'id' | 'iid' {
  return shownId === 'iid' ? 'iid' : 'id';
}

/** The iid of the row `i`, null for kinds without one. */
export function iidSql({ shownId }: Pick<ReferenceFormat, 'shownId'>): string {
  return shownId === 'iid' ? 'i.iid' : 'null::bigint';
}

interface ReferencesSql {
  readonly as: ReferenceFormat;
  readonly fullPath: string;
  /** Path of the row's parent relative to the requested project or group, a text expression; undefined if it is the parent. */
  readonly seenAs?: string | undefined;
}

/** Short, relative and full reference of the row `i`. Source: reference work-tracking 0.15, 9.1. */
export const referencesShape = beginJsonShape<ReferencesSql>('References').fields({
  short: [json.prefixed, ({ as }) => ({ prefix: as.sigil, sql: `i.${as.shownId}` })],
  relative: [
    json.prefixed,
    ({ as, seenAs }) =>
      seenAs === undefined
        ? { prefix: as.sigil, sql: `i.${as.shownId}` }
        : { prefix: '', sql: `${seenAs} || '${as.sigil}' || i.${as.shownId}` },
  ],
  full: [json.token, ({ as, fullPath }) => `${fullPath} || '${as.sigil}' || i.${as.shownId}`],
});
