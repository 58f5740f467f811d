import { Inject, Injectable } from '@nestjs/common';
import type { DirectoryKind, DomainEvent } from '@rookery/contracts';
import { Unavailable } from '@rookery/kernel';
import { asHopedSql, HeadWatch, HISTORY, prepared } from '@rookery/persistence';
import type { Head, LastStatement, Tx } from '@rookery/persistence';
import { LOGGED_KINDS, WRITE_CHANGES } from './change-states';
import { BELONGINGS, SUBTREE } from './subtree.queries';

type LoggedKind = DirectoryKind | 'token';
type Pending = ReadonlyMap<LoggedKind, Set<number>>;

/**
 * Takes the lock that all committing changes wait for. So the statements after it keep their plan: PostgreSQL would plan
 * the writing of states anew each time, which costs three times as much as doing it. Source: ADR 0041.
 */
const COUNT = `update directory_head set version = version + 1 where history in ('', ${HISTORY})
   returning version, epoch, awaited, set_config('plan_cache_mode', 'force_generic_plan', true)`;
const NEXT_VERSION = prepared('directory_next_version', COUNT);
/** The same, sent with the commit: refused where ids have to be looked at first. $1 patience. */
const LAST_VERSION = prepared(
  'directory_last_version',
  `with counted as (${COUNT})
   select version, epoch, ${asHopedSql('(select from counted where awaited is null) as free', '$1')} as is_as_hoped
   from (values (1)) as always left join counted on true`,
);

/** Ids above `floors` are new, and wait until `services` have said which they have seen. */
interface Counted extends Head {
  readonly awaited: { readonly services: readonly string[]; readonly floors: Readonly<Record<string, number>> } | null;
}

/**
 * Writes the directory's change log in the transaction of the change itself. Use cases name what they changed; just
 * before the commit the version is counted up once, and the states as they are then are written under it.
 *
 * The order matters: counting first takes the lock that all committing changes share, so the states that are read
 * after it contain every change of a lower version. Both leave with the commit where nothing else has to be told then, so
 * that the lock is held for no turn of this process. Source: reference reliability 4.2; ADR 0041.
 */
@Injectable()
export class ChangeLog {
  private readonly pending = new WeakMap<Tx, Pending>();
  private readonly made = new WeakMap<Tx, Head>();

  constructor(@Inject(HeadWatch) private readonly watch: HeadWatch) {}

  /** This user, namespace, project, membership or share is new, changed or gone in this transaction. */
  record(tx: Tx, kind: DirectoryKind, ...ids: readonly number[]): void {
    this.note(tx, kind, ids);
  }

  /** The state of these access tokens changed; gateways drop what they hold of them. */
  recordToken(tx: Tx, ...tokenIds: readonly number[]): void {
    this.note(tx, 'token', tokenIds);
  }

  /** A group's path, name or place changed, and with it that of everything below; call it after the change. */
  async recordSubtree(tx: Tx, namespaceId: number): Promise<void> {
    const rows = await tx.prepared<{ id: number }>(SUBTREE, [namespaceId]);
    this.note(
      tx,
      'namespace',
      rows.map((row) => row.id),
    );
  }

  /**
   * The thing goes (or goes to somebody else) with all that belongs to it: groups and projects below, memberships,
   * shares, tokens. Call it before the rows are deleted.
   */
  async recordWithBelongings(tx: Tx, kind: 'user' | 'namespace' | 'project', id: number): Promise<void> {
    const rows = await tx.prepared<{ kind: LoggedKind; id: number }>(BELONGINGS[kind], [id]);
    this.note(tx, kind, [id]);
    for (const row of rows) this.note(tx, row.kind, [row.id]);
  }

  /**
   * Emits an event with the version that this transaction makes of the directory, so that effects wait until their copy
   * has seen the change. Call it after what the event tells of was recorded. Source: ADR 0171.
   */
  emit(tx: Tx, event: DomainEvent): void {
    // Steps run in turn: the one that is asked for by an earlier step comes after the version was written.
    tx.beforeCommit(async () => tx.lastly(async () => tx.emit({ ...event, seen: this.versionOf(tx) ?? undefined })));
  }

  /** The version that a transaction made; null before its commit or when it changed nothing. */
  versionOf(tx: Tx): Head | null {
    return this.made.get(tx) ?? null;
  }

  private note(tx: Tx, kind: LoggedKind, ids: readonly number[]): void {
    if (ids.length === 0) return;
    const pending = this.pending.get(tx) ?? this.begin(tx);
    const known = pending.get(kind);
    for (const id of ids) known?.add(id);
  }

  private begin(tx: Tx): Pending {
    const pending: Pending = new Map([...LOGGED_KINDS, 'token' as const].map((kind) => [kind, new Set<number>()]));
    this.pending.set(tx, pending);
    tx.lastly(() => this.write(tx, pending), this.last(tx, pending));
    return pending;
  }

  private async write(tx: Tx, pending: Pending): Promise<void> {
    this.pending.delete(tx);
    // Sent together: all that commits waits here, so the answer to the first is not waited for. The second still reads later.
    const counting = tx.prepared<Counted>(NEXT_VERSION, []);
    const writing = tx.prepared(WRITE_CHANGES, valuesOf(pending));
    // Without a version of its own it fails too, which says less than the first.
    writing.catch(() => undefined);
    const [counted] = await counting;
    if (!counted || hasNewIds(pending, counted)) throw new Unavailable('restored');
    await writing;
    this.tell(tx, counted);
  }

  /** As `write`. Where a new id may have been given before, it is not as hoped, and `write` says so. */
  private last(tx: Tx, pending: Pending): LastStatement {
    return {
      statement: (patienceMs) => ({ ...LAST_VERSION, values: [patienceMs] }),
      follow: () => ({ ...WRITE_CHANGES, values: valuesOf(pending) }),
      done: ([counted]) => this.tell(tx, counted as Head),
    };
  }

  private tell(tx: Tx, { version, epoch }: Head): void {
    const head = { version, epoch };
    this.made.set(tx, head);
    tx.afterCommit(() => this.watch.moved(head));
  }
}

function valuesOf(pending: Pending): number[][] {
  return [...pending.values()].map((ids) => [...ids]);
}

/** After a restore an id that looks new may have been given before. */
function hasNewIds(pending: Pending, { awaited }: Counted): boolean {
  if (!awaited) return false;
  return [...pending].some(([kind, ids]) => [...ids].some((id) => id > (awaited.floors[kind] ?? 0)));
}
