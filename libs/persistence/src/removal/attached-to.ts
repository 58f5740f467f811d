import { prepareStatement } from '../sql/prepared';
import type { PreparedStatement } from '../sql/prepared';
import type { Tx } from '../work/work';
import { chunkSql, DEPARTURE_CHUNK, REMOVAL_CHUNK, runInChunks } from './chunks';

/** Noteables of one type that were deleted. `projectId` is null for noteables of groups. */
export interface DeletedNoteables {
  readonly type: string;
  readonly rows: readonly { readonly id: number; readonly projectId: number | null }[];
}

/** The kinds of parents whose deletion deletes attached rows. */
export type DeletedKind = 'noteable' | 'project' | 'group';

/** The two columns that name a noteable. With `drop`, that removes the rows instead of the generated statement. */
type NoteableColumns =
  | { readonly type: string; readonly id: string }
  | {
      readonly type: string;
      readonly id: string;
      readonly because: string;
      drop?(tx: Tx, deleted: DeletedNoteables): Promise<void>;
    };

/** The column that names a project or group. With `because`, other code removes the rows. */
type ParentColumn = string | { readonly column: string; readonly because: string };

/**
 * A column that names a user, and its fate when that user is removed.
 * - `delete`: the row is the user's own and is deleted. `where` lists conditions, one for each statement, for tables
 *   whose indexes are partial.
 * - `ghost-or-null`: the ghost user takes the place; null with `hard_delete`.
 * - `ghost-or-delete`: the ghost user takes the place; the row is deleted with `hard_delete`, if `deletedWhere` holds.
 * - `ghost`: the ghost user takes the place; `because` describes the result of `hard_delete`.
 * - `hook`: `statements` delete the user's own rows, and `because` gives the reason why a generated one cannot. They
 *   run before the generated ones, since they may lock noteables. Like generated ones, they take the user as $1, change
 *   at most `DEPARTURE_CHUNK` rows and return one row for each.
 *
 * `alsoSets` are further assignments of the hand-over.
 */
export type UserColumn<K = unknown> = { readonly column: string } & (
  | { readonly onRemoval: 'delete'; readonly where?: readonly string[] }
  | { readonly onRemoval: 'ghost-or-null' }
  | { readonly onRemoval: 'ghost-or-delete'; readonly alsoSets?: string; readonly deletedWhere?: string }
  | { readonly onRemoval: 'ghost'; readonly alsoSets?: string; readonly where?: string; readonly because: string }
  | { readonly onRemoval: 'hook'; readonly because: string; statements(context: K): readonly PreparedStatement[] }
);

/** The columns of a table that name noteables, projects, groups and users. */
export interface AttachedRows<K = unknown> {
  readonly table: string;
  /** The primary key, or `ctid` where that has several columns. `id` unless named. */
  readonly key?: string;
  /** Lasting names of the effects that remove rows (`drop-pins`). `drop-<table>` unless named. */
  readonly effect?: string | Partial<Record<DeletedKind, string>>;
  /** Parents whose deletion a consumer of the wing handles; it calls `drop`. No consumer is generated for them. */
  readonly consumedInWing?: readonly ('project' | 'group')[];
  readonly noteable?: NoteableColumns;
  readonly project?: ParentColumn;
  readonly group?: ParentColumn;
  /** A collection of these rows that drops more than the rows, such as their counters. */
  readonly through?: { drop(tx: Tx, kind: 'project' | 'group', ids: readonly number[]): Promise<void> };
  readonly users?: readonly UserColumn<K>[];
  /** Other columns that name something, each with the reason why nothing happens to it. */
  readonly stays?: Readonly<Record<string, string>>;
}

/**
 * Steps of a user's removal. `own`: rows of the user are deleted. `named`: columns get the ghost user or null.
 * `written`: the ghost user becomes the author. `dropWritten`: in place of `written` with `hard_delete`.
 */
export type DepartureStep = 'own' | 'named' | 'written' | 'dropWritten';

const declared: AttachedTable[] = [];

/** Every attachment that this process has loaded. */
export function declaredAttachments(): readonly AttachedTable[] {
  return declared;
}

/**
 * Declares what happens to the rows of a table when a noteable, project, group or user is removed. The declaration is
 * in the wing that owns the table and is named by `@Attaches` above that wing's module. `K` is the context that hooks
 * get from the service. Every generated statement needs an index.
 */
export function declareAttachedTable<K = unknown>(rows: AttachedRows<K>): AttachedTable<K> {
  const attachment = new AttachedTable(rows);
  declared.push(attachment);
  return attachment;
}

/** A table whose rows belong to projects, groups, users or noteables and are removed with them: its declaration, with the statements made from it. */
export class AttachedTable<K = unknown> {
  readonly table: string;
  private readonly ofNoteables: PreparedStatement | null;
  private readonly ofParents: Readonly<Record<'project' | 'group', PreparedStatement | null>>;

  constructor(readonly rows: AttachedRows<K>) {
    this.table = rows.table;
    const { noteable } = rows;
    this.ofNoteables =
      noteable && !('because' in noteable)
        ? this.prepareChunkDeletion('noteable', `${noteable.type} = $1 and ${noteable.id} = any($2::bigint[])`)
        : null;
    this.ofParents = { project: this.prepareParentDeletion('project'), group: this.prepareParentDeletion('group') };
  }

  /** Whether this declaration deletes rows of deleted parents. */
  isDroppedWith(kind: DeletedKind): boolean {
    if (kind !== 'noteable') return this.ofParents[kind] !== null;
    const { noteable } = this.rows;
    return this.ofNoteables !== null || (noteable !== undefined && 'drop' in noteable);
  }

  /** The lasting name of the effect that deletes rows of deleted parents. */
  effectName(kind: DeletedKind): string {
    const { effect, table } = this.rows;
    return (typeof effect === 'string' ? effect : effect?.[kind]) ?? `drop-${table.replaceAll('_', '-')}`;
  }

  /** Deletes the rows of deleted projects or groups. Errors: a plain Error if the declaration names no such column. */
  async deleteRows(tx: Tx, kind: 'project' | 'group', ids: readonly number[]): Promise<void> {
    const statement = this.ofParents[kind];
    if (!statement) throw new Error(`${this.table} has no rows that are deleted with a ${kind}`);
    await (this.rows.through?.drop(tx, kind, ids) ?? runInChunks(tx, statement, [ids]));
  }

  /** Deletes the rows of deleted noteables. */
  async dropOfNoteables(tx: Tx, deleted: DeletedNoteables): Promise<void> {
    const { noteable } = this.rows;
    if (noteable && 'drop' in noteable) await noteable.drop?.(tx, deleted);
    if (this.ofNoteables) await runInChunks(tx, this.ofNoteables, [deleted.type, deleted.rows.map(({ id }) => id)]);
  }

  /** Whether a user column has a hook. */
  get hasHook(): boolean {
    return this.rows.users?.some(({ onRemoval }) => onRemoval === 'hook') ?? false;
  }

  /**
   * Statements of one step of a user's removal. Values: $1 the user; in `named` and `written` $2 the ghost user or null.
   * Bounds: each changes at most `DEPARTURE_CHUNK` rows and returns one row for each.
   */
  departureStatements(step: DepartureStep, context: K): readonly PreparedStatement[] {
    const hooks = (this.rows.users ?? []).filter((user) => user.onRemoval === 'hook');
    return [
      ...(step === 'own' ? hooks.flatMap((user) => user.statements(context)) : []),
      ...this.createDepartureStatements(step),
    ];
  }

  /** The generated statements, for checks of their plans. */
  allStatements(): readonly PreparedStatement[] {
    const { project, group } = this.ofParents;
    const steps: readonly DepartureStep[] = ['own', 'named', 'written', 'dropWritten'];
    return [
      ...[this.ofNoteables, project, group].filter((one) => one !== null),
      ...steps.flatMap((step) => this.createDepartureStatements(step)),
    ];
  }

  private createDepartureStatements(step: DepartureStep): readonly PreparedStatement[] {
    return (this.rows.users ?? []).flatMap((user): readonly PreparedStatement[] => {
      switch (user.onRemoval) {
        case 'delete':
          return step === 'own'
            ? (user.where ?? [null]).map((where, at) => this.prepareUserDeletion(user.column, where, at))
            : [];
        case 'ghost-or-null':
          return step === 'named' ? [this.handOverToGhost(user)] : [];
        case 'ghost':
          return step === 'written' ? [this.handOverToGhost(user)] : [];
        case 'ghost-or-delete':
          if (step === 'written') return [this.handOverToGhost(user)];
          return step === 'dropWritten' ? [this.prepareUserDeletion(user.column, user.deletedWhere ?? null, 0)] : [];
        case 'hook':
          return [];
      }
    });
  }

  private prepareParentDeletion(kind: 'project' | 'group'): PreparedStatement | null {
    const column = this.rows[kind];
    return typeof column === 'string' ? this.prepareChunkDeletion(column, `${column} = any($1::bigint[])`) : null;
  }

  private prepareChunkDeletion(name: string, where: string): PreparedStatement {
    const chunk = chunkSql({ table: this.table, key: this.keyColumn, where, limit: REMOVAL_CHUNK });
    return prepareStatement(`removal_${this.table}_${name}`, `delete from ${this.table} where ${chunk} returning 1`);
  }

  private prepareUserDeletion(column: string, where: string | null, at: number): PreparedStatement {
    const name = `removal_${this.table}_${column}_delete${at === 0 ? '' : `_${at}`}`;
    return prepareStatement(name, `delete from ${this.table} where ${this.userChunkSql(column, where)} returning 1`);
  }

  private handOverToGhost(user: {
    readonly column: string;
    readonly alsoSets?: string;
    readonly where?: string;
  }): PreparedStatement {
    const set = [`${user.column} = $2::bigint`, ...(user.alsoSets ? [user.alsoSets] : [])].join(', ');
    const where = this.userChunkSql(user.column, user.where ?? null);
    return prepareStatement(
      `removal_${this.table}_${user.column}_hand_over`,
      `update ${this.table} set ${set} where ${where} returning 1`,
    );
  }

  private userChunkSql(column: string, where: string | null): string {
    const all = `${column} = $1::bigint${where ? ` and ${where}` : ''}`;
    return chunkSql({ table: this.table, key: this.keyColumn, where: all, limit: DEPARTURE_CHUNK, isLocked: true });
  }

  private get keyColumn(): string {
    return this.rows.key ?? 'id';
  }
}
