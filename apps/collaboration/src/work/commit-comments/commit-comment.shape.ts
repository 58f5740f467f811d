import { withDescription, json, beginJsonShape } from '../../base/noteables/json.shape';
import { personShape } from '../../base/noteables/person.shape';

const positionLineSql = (side: 'old' | 'new'): string => `(p.shown->>'${side}_line')::integer`;

/**
 * A comment on a commit. The SQL uses the aliases `n` (notes), `a` (the author in directory_users, may be missing) and
 * `p` (note_positions, may be missing). Source: reference repositories 4.6.
 */
export const commitCommentShape = beginJsonShape<{ readonly externalUrl: string }>('CommitComment').fields({
  note: [json.text, () => 'n.body'],
  path: [
    withDescription(json.textOrNull, 'Path of the file; null for a comment on the whole commit.'),
    () => 'p.new_path',
  ],
  line: [
    withDescription(json.intOrNull, 'New number of the line, or the old one of a removed line.'),
    () => `coalesce(${positionLineSql('new')}, ${positionLineSql('old')})`,
  ],
  line_type: [
    withDescription(
      json.choiceOrNull('new', 'old'),
      'Whether the line is added (`new`) or removed (`old`); null for others.',
    ),
    () =>
      `case when ${positionLineSql('old')} is null and ${positionLineSql('new')} is not null then 'new'
        when ${positionLineSql('new')} is null and ${positionLineSql('old')} is not null then 'old' end`,
  ],
  author: [json.objectWhen(personShape), (sql) => ({ of: { ...sql, user: 'a' }, when: 'a.id is not null' })],
  created_at: [json.instant, () => 'n.created_at'],
});
