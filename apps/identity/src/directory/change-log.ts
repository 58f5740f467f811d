import { Inject, Injectable } from '@nestjs/common';
import type { DirectoryKind, DomainEvent } from '@rookery/contracts';
import { Unavailable } from '@rookery/kernel';
import { requireRowsInTimeSql, HeadWatch, HISTORY, prepareStatement } from '@rookery/persistence';
import type { LogHead, LastStatement, Tx } from '@rookery/persistence';
import { LOGGED_KINDS, WRITE_CHANGES } from './change-states';
import { BELONGINGS, MARKED_ABOVE, PROJECTS_BELOW, SUBTREE } from './subtree.queries';

type LoggedKind = DirectoryKind | 'token';
type PendingChanges = ReadonlyMap<LoggedKind, Set<number>>;

/**
 * Takes the lock that serializes all commits that change the directory. It also sets a generic plan for the following
 * statements: PostgreSQL would otherwise plan the write of states each time, which takes three times as long as running
 * it. Source: ADR 0041.
 */
const COUNT = `update directory_head set version = version + 1 where history in ('', ${HISTORY})
   returning version, epoch, awaited, set_config('plan_cache_mode', 'force_generic_plan', true)`;
const NEXT_VERSION = prepareStatement('directory_next_version', COUNT);
/** Takes the version together with the commit. It fails while ids have to be checked. $1 is the longest wait. */
const LAST_VERSION = prepareStatement(
  'directory_last_version',
  `with counted as (${COUNT})
   select version, epoch, ${requireRowsInTimeSql('(select from counted where awaited is null) as free', '$1')} as is_as_hoped
   from (values (1)) as always left join counted on true`,
);

/** Ids above `floors` are new. They may not be committed until all `services` have reported the ids they have seen. */
interface IncrementedHeadRow extends LogHead {
  readonly awaited: { readonly services: readonly string[]; readonly floors: Readonly<Record<string, number>> } | null;
}

/**
 * Writes the directory's change log in the transaction of the change itself. Use cases record which rows they changed;
 * just before the commit the version is incremented once, and the states at that moment are written under it.
 *
 * The order matters: incrementing first takes the lock that all such commits share, so the states that are read after
 * it contain every change of a lower version. If nothing else needs the version, both statements are sent together with
 * the commit, so that the lock is not held during a turn of this process. Source: reference reliability 4.2; ADR 0041.
 */
@Injectable()
export class ChangeLog {
  private readonly pending = new WeakMap<Tx, PendingChanges>();
  private readonly heads = new WeakMap<Tx, LogHead>();

  constructor(@Inject(HeadWatch) private readonly watch: HeadWatch) {}

  /**
   * Records that this user, namespace, project, membership or share is created, changed or deleted in this transaction.
   */
  recordChange(tx: Tx, kind: DirectoryKind, ...ids: readonly number[]): void {
    this.addPendingIds(tx, kind, ids);
  }

  /** Records that these access tokens changed, so that gateways drop their leases. */
  recordToken(tx: Tx, ...tokenIds: readonly number[]): void {
    this.addPendingIds(tx, 'token', tokenIds);
  }

  /**
   * Records a group whose path, name or parent changed, with all namespaces below it. Must be called after the change.
   */
  async recordSubtree(tx: Tx, namespaceId: number): Promise<void> {
    const rows = await tx.prepared<{ id: number }>(SUBTREE, [namespaceId]);
    this.addPendingIds(
      tx,
      'namespace',
      rows.map((row) => row.id),
    );
  }

  /** Records the projects below a group: they are read-only while a group above is marked for deletion. */
  async recordProjectsBelow(tx: Tx, namespaceId: number): Promise<void> {
    const rows = await tx.prepared<{ id: number }>(PROJECTS_BELOW, [namespaceId]);
    this.addPendingIds(
      tx,
      'project',
      rows.map((row) => row.id),
    );
  }

  /**
   * Records the projects below a moved group, if a group above is marked for deletion. `above` has the ids of the
   * groups above it before and after the move.
   */
  async recordMovedProjects(tx: Tx, namespaceId: number, above: readonly number[]): Promise<void> {
    const marked = await tx.prepared(MARKED_ABOVE, [above]);
    if (marked.length > 0) await this.recordProjectsBelow(tx, namespaceId);
  }

  /**
   * Records a row that is deleted (or changes its owner) with its dependents: groups and projects below, memberships,
   * shares, tokens. Must be called before the rows are deleted.
   */
  async recordWithBelongings(tx: Tx, kind: 'user' | 'namespace' | 'project', id: number): Promise<void> {
    const rows = await tx.prepared<{ kind: LoggedKind; id: number }>(BELONGINGS[kind], [id]);
    this.addPendingIds(tx, kind, [id]);
    for (const row of rows) this.addPendingIds(tx, row.kind, [row.id]);
  }

  /**
   * Emits an event with the directory version that this transaction creates, so that effects wait until their copy has
   * reached it. Must be called after the changes of the event are recorded. Source: ADR 0171.
   */
  emit(tx: Tx, event: DomainEvent): void {
    // Steps run in order, and a step that an earlier step adds runs last, so the version is written by then.
    tx.beforeCommit(async () =>
      tx.beforeCommitLast(async () => tx.emit({ ...event, seen: this.versionOf(tx) ?? undefined })),
    );
  }

  /** Returns the version that a transaction created. Returns null before its commit and when it changed nothing. */
  versionOf(tx: Tx): LogHead | null {
    return this.heads.get(tx) ?? null;
  }

  private addPendingIds(tx: Tx, kind: LoggedKind, ids: readonly number[]): void {
    if (ids.length === 0) return;
    const pending = this.pending.get(tx) ?? this.startPendingChanges(tx);
    const known = pending.get(kind);
    for (const id of ids) known?.add(id);
  }

  private startPendingChanges(tx: Tx): PendingChanges {
    const pending: PendingChanges = new Map(
      [...LOGGED_KINDS, 'token' as const].map((kind) => [kind, new Set<number>()]),
    );
    this.pending.set(tx, pending);
    tx.beforeCommitLast(() => this.writePendingChanges(tx, pending), this.createLastStatement(tx, pending));
    return pending;
  }

  private async writePendingChanges(tx: Tx, pending: PendingChanges): Promise<void> {
    this.pending.delete(tx);
    // Both statements are sent without waiting for the first answer, because all other commits wait for the lock. The
    // second still reads after the first.
    const counting = tx.prepared<IncrementedHeadRow>(NEXT_VERSION, []);
    const written = tx.prepared(WRITE_CHANGES, listChangedIdsByKind(pending));
    // Without a new version the second statement fails too. Its error is less specific than that of the first.
    written.catch(() => undefined);
    const [counted] = await counting;
    if (!counted || hasPossiblyReissuedIds(pending, counted)) throw new Unavailable('restored');
    await written;
    this.recordHead(tx, counted);
  }

  /**
   * The statements of `writePendingChanges`, sent with the commit. When a new id may collide with one issued before,
   * the first is refused, and `writePendingChanges` reports the error.
   */
  private createLastStatement(tx: Tx, pending: PendingChanges): LastStatement {
    return {
      statement: (patienceMs) => ({ ...LAST_VERSION, values: [patienceMs] }),
      follow: () => ({ ...WRITE_CHANGES, values: listChangedIdsByKind(pending) }),
      done: ([counted]) => this.recordHead(tx, counted as LogHead),
    };
  }

  private recordHead(tx: Tx, { version, epoch }: LogHead): void {
    const head = { version, epoch };
    this.heads.set(tx, head);
    tx.afterCommit(() => this.watch.recordMove(head));
  }
}

function listChangedIdsByKind(pending: PendingChanges): number[][] {
  return [...pending.values()].map((ids) => [...ids]);
}

/** Whether the transaction creates ids that may have been issued before the database was restored. */
function hasPossiblyReissuedIds(pending: PendingChanges, { awaited }: IncrementedHeadRow): boolean {
  if (!awaited) return false;
  return [...pending].some(([kind, ids]) => [...ids].some((id) => id > (awaited.floors[kind] ?? 0)));
}
