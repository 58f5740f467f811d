import { json, jsonShape } from './json.shape';

/** How things of a kind are named: in paths, on their pages and in texts. */
export interface ShownAs {
  /** Column that paths and people name a thing by. */
  readonly shownId: 'id' | 'iid';
  /** Between the full path of the project and the shown id: `/-/issues/`. */
  readonly webPath: string;
  /** Before the shown id in a reference: `#`. */
  readonly sigil: string;
}

/** The path of a thing's page: `group/project/-/issues/7`. Shape: a text expression over the row `i`, or another. */
export function webPathSql({ webPath, shownId }: ShownAs, fullPath: string, row = 'i'): string {
  return `${fullPath} || '${webPath}' || ${row}.${shownId}`;
}

/** The number in its scope of the row `i`, null for kinds that have none. */
export function iidSql({ shownId }: Pick<ShownAs, 'shownId'>): string {
  return shownId === 'iid' ? 'i.iid' : 'null::bigint';
}

interface ReferencesSql {
  readonly as: ShownAs;
  readonly fullPath: string;
  /** The place of the row as seen from where it is asked for, a text expression; nothing there itself. */
  readonly seenAs?: string | undefined;
}

/** A reference in its three lengths, over the row `i`. Source: reference work-tracking 0.15, 9.1. */
export const referencesShape = jsonShape<ReferencesSql>('References').fields({
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
