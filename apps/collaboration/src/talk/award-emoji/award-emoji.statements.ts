import type { JsonPageRow, PageRequest } from '@rookery/kernel';
import { isUsualPage, CachedStatements, ListQuery } from '@rookery/persistence';
import type { Statement } from '@rookery/persistence';
import { jsonArraySql } from '../../base/noteables/json.shape';
import type { ShapeSql } from '../../base/noteables/json.shape';
import type { NoteableKind } from '../../base/noteables/noteable-kinds';
import { READER, READS_INTERNAL } from '../notes/note-statement';
import type { ReaderParams } from '../notes/note-statement';
import { isNamedNoteableVisibleSql, noteableStatementName } from '../notes/notes.statements';
import { awardShape } from './award-emoji.shape';

/** Parameters of all statements. `note` is null for the noteable itself. */
export interface AwardedParams extends ReaderParams {
  readonly note: number | null;
}

/** Parameters of each statement. */
interface AwardStatementParams {
  readonly hold: AwardedParams;
  readonly one: AwardedParams & { readonly award: number };
  readonly create: AwardedParams & { readonly name: string };
  readonly remove: AwardedParams & { readonly award: number };
}

/** Rows of each statement. */
interface AwardStatementRows {
  readonly hold: { readonly id: number };
  readonly one: OneAwardRow;
  readonly create: NewAwardRow;
  readonly remove: { readonly id: number };
}

interface AwardTargetRow {
  readonly id: number | null;
  readonly hidden: boolean;
}

interface OneAwardRow extends AwardTargetRow {
  readonly user_id: number | null;
  readonly json: string | null;
}

interface NewAwardRow extends AwardTargetRow {
  readonly noteable_id: number;
  readonly system: boolean;
  readonly locked: boolean;
  readonly award_id: number | null;
  readonly created_at: Date;
  readonly json: string | null;
}

/** Target of emoji: the noteable, or a note on it. */
export type AwardTarget = 'noteable' | 'note';

/** SQL for the number that an emoji adds to a vote counter of its noteable. */
const voteIncrementSql = (award: string, emoji: string): string =>
  `case when ${award}.name = '${emoji}' then 1 else 0 end`;

/**
 * Statements on emoji of one kind of noteable, or of its notes. Each returns a row if the noteable is visible, with `id` and
 * `hidden` of the target, like statements on notes. Source: reference work-tracking 9.6.
 */
export class AwardStatements {
  private readonly kept = new CachedStatements();
  private readonly award: ShapeSql;
  private readonly name: string;
  private readonly visible: string;
  private readonly type: string;

  constructor(
    private readonly kind: NoteableKind,
    by: 'id' | 'iid',
    private readonly on: AwardTarget,
    externalUrl: string,
  ) {
    this.name = noteableStatementName(kind, by, on === 'note' ? 'note_awards' : 'awards');
    this.visible = isNamedNoteableVisibleSql(kind, by);
    this.award = awardShape.toSql({ externalUrl });
    this.type = on === 'note' ? 'Note' : kind.type;
  }

  /** Selects a page of emoji, oldest first. */
  pageStatement(page: PageRequest, values: AwardedParams): Statement<AwardTargetRow & JsonPageRow> {
    const name = isUsualPage(page) ? `${this.name}_page_${page.perPage}` : null;
    return this.kept.findOrCompose(name, values, () =>
      new ListQuery<never>({
        name: 'awards',
        from: 'award_emoji w',
        carries: 'w.*',
        joins: 'left join directory_users u on u.id = w.user_id',
        values,
      })
        .where(`w.awardable_id = t.id and w.awardable_type = '${this.type}' and not t.hidden`)
        .orderBy([['w.id', 'asc']])
        .jsonSql(page, {
          rows: (from, order) => jsonArraySql(this.award, from, order),
          extraColumns: 't.id, t.hidden',
          from: `from ${this.targetSql()} t`,
        }),
    );
  }

  /** Returns one of the other statements. */
  statement<N extends keyof AwardStatementParams>(
    name: N,
    values: AwardStatementParams[N],
  ): Statement<AwardStatementRows[N]> {
    return this.kept.findOrCompose(`${this.name}_${name}`, values, () => ({ text: this.composeSql(name), values }));
  }

  private composeSql(name: keyof AwardStatementParams): string {
    switch (name) {
      case 'hold':
        return `select i.id from ${this.kind.table} i where ${this.visible} for no key update of i`;
      case 'one':
        return `select t.id, t.hidden, w.user_id, case when w.id is not null then ${this.award.sql} end as json
          from ${this.targetSql()} t
          left join award_emoji w on w.id = :award::bigint and w.awardable_id = t.id and w.awardable_type = '${this.type}'
          left join directory_users u on u.id = w.user_id`;
      case 'create':
        return this.insertAwardSql();
      case 'remove':
        return this.deleteAwardSql();
    }
  }

  /** FROM item for the target of the emoji: no row if the noteable is not visible. */
  private targetSql(): string {
    const { table, type } = this.kind;
    const noteable = 'i.id as noteable_id, i.discussion_locked is true as locked';
    if (this.on === 'noteable') {
      return `(select i.id, false as hidden, false as system, ${noteable} from ${table} i where ${this.visible})`;
    }
    return `(select n.id, n.internal and not ${READS_INTERNAL} as hidden, n.system, ${noteable} from ${table} i
      left join notes n on n.id = :note::bigint and n.noteable_id = i.id and n.noteable_type = '${type}'
      where ${this.visible})`;
  }

  /**
   * Inserts an emoji; `json` is null if the user has already awarded it or may not. The statement `hold` has locked the
   * noteable, so that its deletion and that of its notes run before or after, and its votes are counted exactly.
   */
  private insertAwardSql(): string {
    const parent = this.kind.parent === 'project' ? ':parent::bigint' : 'null::bigint';
    return `with t as materialized (select * from ${this.targetSql()} t), w as (
      insert into award_emoji (awardable_type, awardable_id, noteable_type, noteable_id, project_id, user_id, name)
      select '${this.type}', t.id, '${this.kind.type}', t.noteable_id, ${parent}, ${READER.viewer}, :name::text
      from t where t.id is not null and not t.hidden and not t.system and (not t.locked or ${READER.isMember})
      on conflict do nothing
      returning *
    )${this.updateVotesSql('+')}
    select t.id, t.hidden, t.noteable_id, t.system, t.locked, w.id as award_id, w.created_at,
      case when w.id is not null then ${this.award.sql} end as json
    from t left join w on true left join directory_users u on u.id = w.user_id`;
  }

  /** Deletes an emoji. Returns a row if it existed. The statement `hold` has locked the noteable. */
  private deleteAwardSql(): string {
    return `with t as materialized (select * from ${this.targetSql()} t), w as (
      delete from award_emoji w using t
      where w.id = :award::bigint and w.awardable_id = t.id and w.awardable_type = '${this.type}' returning w.*
    )${this.updateVotesSql('-')}
    select w.id from w`;
  }

  /** Common table expression that updates the vote counters. Noteables have them, notes do not. */
  private updateVotesSql(sign: '+' | '-'): string {
    if (this.on === 'note') return '';
    return `, counted as (
      ${this.kind.writes.update} upvotes_count = i.upvotes_count ${sign} ${voteIncrementSql('w', 'thumbsup')},
        downvotes_count = i.downvotes_count ${sign} ${voteIncrementSql('w', 'thumbsdown')}
      from w where i.id = w.awardable_id and w.name in ('thumbsup', 'thumbsdown'))`;
  }
}
