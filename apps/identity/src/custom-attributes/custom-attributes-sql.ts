import type { Filter } from '@rookery/persistence';

export type AttributedKind = 'user' | 'group' | 'project';

/** Column of the owner's id in `custom_attributes`. */
export const OWNER_COLUMNS: Readonly<Record<AttributedKind, string>> = {
  user: 'user_id',
  group: 'namespace_id',
  project: 'project_id',
};

/**
 * SQL for `with_custom_attributes`: a JSON value `[{"key":…,"value":…}]`, ordered by key. `idSql` is an SQL expression.
 * For administrators only. Source: reference identity-and-import 2.9.
 */
export function customAttributesSql(kind: AttributedKind, idSql: string): string {
  return `coalesce((select json_agg(json_build_object('key', ca.key, 'value', ca.value) order by ca.key)
    from custom_attributes ca where ca.${OWNER_COLUMNS[kind]} = ${idSql}), '[]')`;
}

/**
 * Filters a list by rows that have all the given attributes with exactly these values. No attribute has the value null,
 * so a filter by null matches nothing. For administrators only; the filter of other callers is ignored. Source:
 * reference identity-and-import 2.9.
 */
export function customAttributesFilter(
  kind: AttributedKind,
  idSql: string,
): Filter<Readonly<Record<string, string | null>>> {
  const column = OWNER_COLUMNS[kind];
  return (wanted, bind) => {
    const conditions = Object.entries(wanted).map(([key, value]) => {
      const [name, text] = [bind(key), `${bind(value)}::text`];
      // Uses the index on key and digest, because values may be longer than an index entry.
      return `${idSql} in (select ca.${column} from custom_attributes ca
        where ca.${column} is not null and ca.key = ${name} and md5(ca.value) = md5(${text}) and ca.value = ${text})`;
    });
    return conditions.length > 0 && conditions.join(' and ');
  };
}
