/** So many levels a tree of epics has. Source: reference work-tracking 5.7. */
export const MOST_LEVELS = 7;

/**
 * What the children of the row `i` and the milestones of issues say of its days: a FROM item of one row. A child says its
 * fixed day where that counts, else what is said of it. All is looked up whenever it is shown, so that nothing that
 * changes an issue, a milestone or a tree has to know of days, and no change holds what stands above it. Each issue and
 * milestone is looked up by its key, by `offset 0`: as long as tables are young and nothing is known of their size, a join
 * would read all issues once an epic.
 * Shape: `readsConfidential` and `readsElsewhere` are boolean SQL: days of confidential children `c` count for those alone
 * who may know of them, in the group of `i` and in others.
 * Source: reference work-tracking 5.5.
 */
export function inheritedDaysSql(readsConfidential: string, readsElsewhere: string): string {
  return `(with recursive below (id, starts, ends, start_on, due_on, level) as (
      select i.id, true, true, null::date, null::date, 1
      union all
      select c.id, b.starts and not c.start_is_fixed, b.ends and not c.due_is_fixed,
        case when b.starts and c.start_is_fixed then c.start_fixed_on end,
        case when b.ends and c.due_is_fixed then c.due_fixed_on end, b.level + 1
      from below b join epics c on c.parent_id = b.id
      where (b.starts or b.ends) and b.level < ${MOST_LEVELS} and (not c.confidential or case when c.group_id = i.group_id then ${readsConfidential} else ${readsElsewhere} end)
    )
    select least(min(b.start_on), min(m.start_on) filter (where b.starts)) as start_on,
      greatest(max(b.due_on), max(m.due_on) filter (where b.ends)) as due_on
    from below b cross join lateral (select min(m.start_on) as start_on, max(m.due_on) as due_on
      from epic_issues l
      cross join lateral (select s.milestone_id from issues s where s.id = l.issue_id offset 0) s
      cross join lateral (select m.start_on, m.due_on from milestones m where m.id = s.milestone_id offset 0) m
      where l.epic_id = b.id) m) inherited`;
}
