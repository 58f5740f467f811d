/** Limit of levels in a tree of epics. Source: reference work-tracking 5.7. */
export const MOST_LEVELS = 7;

/**
 * Limits of the epics and issues below an epic that are read for its dates; the nearest are read first. Source:
 * reference work-tracking 5.5.
 */
const MOST_EPICS = 2_500;
const MOST_ISSUES = 5_000;

/**
 * FROM item of one row: the start and due dates that the epic `i` inherits from its child epics and from the milestones
 * of its issues. A child passes on its fixed date if that is in use, else the date that it inherits itself.
 * Dates are computed on each read, so that a change of an issue, milestone or tree writes no dates and locks no
 * ancestor. `offset 0` makes PostgreSQL look up each link, issue and milestone by its key. While tables are young and
 * have no statistics, a join would read all issues once per epic. Access to groups of confidential children is checked
 * once per group, not once per child.
 * `readsConfidential` and `readsConfidentialInChildGroup` are boolean SQL. Dates of confidential children count only for readers who
 * may see them: in the group of `i` by the first, in the group `c.group_id` by the second.
 * Source: reference work-tracking 5.5.
 */
export function inheritedEpicDatesSql(readsConfidential: string, readsConfidentialInChildGroup: string): string {
  return `(with recursive below (id, starts, ends, start_on, due_on, level, gates) as (
      select i.id, true, true, null::date, null::date, 1, '{}'::bigint[]
      union all
      select c.id, b.starts and not c.start_is_fixed, b.ends and not c.due_is_fixed,
        case when b.starts and c.start_is_fixed then c.start_fixed_on end,
        case when b.ends and c.due_is_fixed then c.due_fixed_on end, b.level + 1,
        case when c.confidential and c.group_id <> i.group_id then b.gates || c.group_id else b.gates end
      from below b join epics c on c.parent_id = b.id
      where (b.starts or b.ends) and b.level < ${MOST_LEVELS}
        and (not c.confidential or c.group_id <> i.group_id or ${readsConfidential})
    ), near as materialized (
      select * from below limit ${MOST_EPICS}
    ), shut as materialized (
      select array_agg(c.group_id) as groups from (select distinct unnest(gates) as group_id from near) c
      where not ${readsConfidentialInChildGroup}
    ), seen as (
      select b.* from near b cross join shut where shut.groups is null or not b.gates && shut.groups
    )
    select least((select min(b.start_on) from seen b), min(m.start_on) filter (where l.starts)) as start_on,
      greatest((select max(b.due_on) from seen b), max(m.due_on) filter (where l.ends)) as due_on
    from (select b.starts, b.ends, l.issue_id from seen b
        cross join lateral (select l.issue_id from epic_issues l where l.epic_id = b.id offset 0) l limit ${MOST_ISSUES}) l
      cross join lateral (select s.milestone_id from issues s where s.id = l.issue_id offset 0) s
      cross join lateral (select m.start_on, m.due_on from milestones m where m.id = s.milestone_id offset 0) m) inherited`;
}
