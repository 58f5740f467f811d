import { findClosingReferences } from '../../../talk/mentions/closing-references';
import { findReferences, REFERENCES_PER_TEXT } from '../../../talk/mentions/references';
import type { Reference } from '../../../talk/mentions/references';
import { ISSUE_SHOWN_AS } from '../issue.shape';

/** Reference of a text to an issue. */
export interface IssueReference extends Pick<Reference, 'path' | 'number'> {
  /** Whether the text closes the issue by a closing pattern. */
  readonly closes: boolean;
}

/**
 * Finds the issues that texts mention or close, each once. `webUrl` is the URL of the instance. Bounds: 50 issues.
 * Source: reference work-tracking 2.7.
 */
export function findIssueReferences(texts: readonly string[], webUrl: string): IssueReference[] {
  const found = new Map<string, IssueReference>();
  const add = ({ path, number }: Reference, closes: boolean): void => {
    const key = `${path?.toLowerCase() ?? ''}#${number}`;
    if (!found.has(key) && found.size < REFERENCES_PER_TEXT) found.set(key, { path, number, closes });
  };
  for (const text of texts) for (const one of findClosingReferences(text, webUrl)) add(one, true);
  for (const text of texts) for (const one of findReferences(text, [ISSUE_SHOWN_AS.sigil])) add(one, false);
  return [...found.values()];
}

/** Parameters of `NAMED_ISSUES_SQL`. A null namespace or path is that of the text's project. */
export interface NamedIssuesParams {
  readonly namespaces: readonly (string | null)[];
  readonly paths: readonly (string | null)[];
  readonly numbers: readonly number[];
  readonly closes: readonly boolean[];
}

/** A path without a slash names a project in the namespace of the text's project. */
export function toNamedIssuesParams(references: readonly IssueReference[]): NamedIssuesParams {
  const places = references.map(({ path }) => {
    const slash = path?.lastIndexOf('/') ?? -1;
    return { namespace: path?.slice(0, Math.max(0, slash)) || null, path: path?.slice(slash + 1) ?? null };
  });
  return {
    namespaces: places.map(({ namespace }) => namespace),
    paths: places.map(({ path }) => path),
    numbers: references.map(({ number }) => number),
    closes: references.map(({ closes }) => closes),
  };
}

/**
 * FROM items for the issues `i` that references name, with `r.closes` and `r.place`, the position of the reference from
 * 1 on. `own` is the row of the text's project in `directory_projects`.
 */
export const NAMED_ISSUES_SQL = `unnest(:namespaces::text[], :paths::text[], :numbers::bigint[], :closes::boolean[])
    with ordinality as r (namespace, path, number, closes, place)
  join directory_namespaces home on home.id = case when r.namespace is null then own.namespace_id
    else (select n.id from directory_namespaces n where lower(n.full_path) = lower(r.namespace)) end
  join directory_projects p on p.namespace_id = home.id and lower(p.path) = lower(coalesce(r.path, own.path))
  join issues i on i.project_id = p.id and i.iid = r.number`;
