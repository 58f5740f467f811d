import { Inject, Injectable } from '@nestjs/common';
import type { DecidedBy, GroupScope, NamespaceFacts, ProjectScope, ScopeResolver } from '@rookery/api-v4';
import type { Viewer } from '@rookery/kernel';
import { maySee, Unavailable } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { CopyProgress } from './copy/copy-progress';
import type { Position } from './copy/copy-progress';
import { Decisions } from './decisions/decisions';
import { groupIn, namespaceOfRow, projectIn, projectOfRow, userOf } from './copy/directory-rows';
import type { DirectoryUserRow, FlatRow, ProjectFacts } from './copy/directory-rows';
import {
  GROUP_LEVELS,
  LIVING,
  NAMESPACES_BY_ID,
  NO_MORE_LOST,
  PROJECT_LEVELS,
  PROJECTS_BY_ID,
  SETTLED,
  UNKNOWN_BOTS,
  USERS_BY_ID,
  USERS_BY_USERNAME,
} from './sql/lookup-statements';
import { groupStatement, projectStatement } from './sql/scope-statements';

/** An event, by what its cause had seen of the directory. Shape: `time` in ISO 8601; events of old have no `seen`. */
export interface Caused {
  readonly time: string;
  readonly seen?: Position;
}

/** Effects without a request need a copy at most this old. Units: ms. Source: reference reliability 4.2, 7. */
export const SETTLED_MS = 5000;
/**
 * A copy that no effect needed for a while may be older. Identity is asked at once then, and the effect waits in place.
 * Units: ms.
 */
const RENEWAL_MS = 1000;

/**
 * What this service knows about people, groups and projects, and who holds what level where. It answers from the
 * service's own copy, and only when the copy has seen everything that the request's version asks for; otherwise it
 * waits, then asks identity, then refuses. Lookups by id embed facts and decide nothing; they take the copy as it is.
 *
 * Errors: Unavailable (503, Retry-After) when nothing fresh enough can be had in time.
 * Source: reference reliability 4.2; docs/architecture.md 4; ADR 0042.
 */
@Injectable()
export class Directory implements ScopeResolver {
  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(Decisions) private readonly decisions: Decisions,
    @Inject(CopyProgress) private readonly progress: CopyProgress,
  ) {}

  /** Shape: an id or a full path, compared without case; null = missing or invisible. */
  async project(ref: number | string, viewer: Viewer, by: DecidedBy = 'whichever'): Promise<ProjectScope | null> {
    const from = projectStatement(ref);
    const asked = by === 'copy' ? null : { project: ref };
    const project = from && (await this.decisions.about(viewer, { from, asked, read: projectIn }));
    return project && maySee(viewer, project.visibility, project.level) ? project : null;
  }

  /** Shape: an id or a full path, compared without case; null = missing, invisible or a user namespace. */
  async group(ref: number | string, viewer: Viewer, by: DecidedBy = 'whichever'): Promise<GroupScope | null> {
    const from = groupStatement(ref);
    const asked = by === 'copy' ? null : { group: ref };
    const group = from && (await this.decisions.about(viewer, { from, asked, read: groupIn }));
    return group && maySee(viewer, group.visibility, group.level) ? group : null;
  }

  /** Resolves once statements over the copy may decide for this viewer: lists that cross projects await it first. */
  fresh(viewer: Viewer): Promise<void> {
    return this.decisions.fresh(viewer);
  }

  /** Null when identity stands at the viewer's version, or cannot be asked: then what they were refused stays so. */
  newest(viewer: Viewer): Promise<Position | null> {
    return this.decisions.newest(viewer);
  }

  /** Missing ids are missing in the answer. Shape: `through` as in `settled`. */
  async users(
    ids: readonly number[],
    through: Pick<Tx, 'prepared'> = this.database,
  ): Promise<ReadonlyMap<number, DirectoryUserRow>> {
    return byId((await this.rows(USERS_BY_ID, ids, through)).map((row) => userOf(row)));
  }

  /**
   * Of these the ones that the viewer may know of: the bot of a token is named after it, and after the group or project
   * that it belongs to. Shape: `through` as in `settled`; `groups` those whose members the viewer is shown. Errors:
   * Unavailable where the copy must judge that and has not reached the viewer's version; whoever awaits `fresh` before is
   * spared it.
   */
  async knownTo(
    viewer: Viewer,
    users: readonly DirectoryUserRow[],
    through: Pick<Tx, 'prepared'> = this.database,
    groups: readonly number[] = [],
  ): Promise<DirectoryUserRow[]> {
    const bots = users.filter(({ kind, id }) => kind === 'project_bot' && id !== viewer.userId).map(({ id }) => id);
    if (bots.length === 0 || viewer.isAdmin) return [...users];
    const { version, epoch } = viewer.directory;
    const values = [bots, viewer.userId, viewer.isAdmin, viewer.isExternal, epoch, version, groups];
    const rows = await through.prepared<{ id: number; is_reached: boolean }>(UNKNOWN_BOTS, values);
    if (rows.some((row) => !row.is_reached)) throw new Unavailable('directory behind');
    return users.filter(({ id }) => !rows.some((row) => row.id === id));
  }

  /** Shape: keys are lower-cased usernames; `through` as in `settled`. */
  async usersByUsername(
    names: readonly string[],
    through: Pick<Tx, 'prepared'> = this.database,
  ): Promise<ReadonlyMap<string, DirectoryUserRow>> {
    const wanted = names.filter((name) => !name.includes('\0')).map((name) => name.toLowerCase());
    const rows = wanted.length === 0 ? [] : await through.prepared<FlatRow>(USERS_BY_USERNAME, [wanted]);
    return new Map(rows.map((row) => userOf(row)).map((user) => [user.username.toLowerCase(), user]));
  }

  async projects(ids: readonly number[]): Promise<ReadonlyMap<number, ProjectFacts>> {
    return byId((await this.rows(PROJECTS_BY_ID, ids)).map((row) => projectOfRow(row)));
  }

  async namespaces(ids: readonly number[]): Promise<ReadonlyMap<number, NamespaceFacts>> {
    return byId((await this.rows(NAMESPACES_BY_ID, ids)).map((row) => namespaceOfRow(row)));
  }

  /** Levels as the copy has them now, 0 for strangers and people who are not active; every asked id is answered. */
  levelsInProject(
    projectId: number,
    userIds: readonly number[],
    through: Pick<Tx, 'prepared'> = this.database,
  ): Promise<ReadonlyMap<number, number>> {
    return this.levels(PROJECT_LEVELS, projectId, userIds, through);
  }

  levelsInGroup(namespaceId: number, userIds: readonly number[]): Promise<ReadonlyMap<number, number>> {
    return this.levels(GROUP_LEVELS, namespaceId, userIds, this.database);
  }

  /**
   * For what nobody asked for just now. Shape: `through` is the transaction of the effect, which then needs no second
   * connection. Errors: Unavailable unless the copy was current at most 5 s ago.
   */
  async settled(through: Pick<Tx, 'prepared'> = this.database): Promise<void> {
    await this.settledFor(through, []);
  }

  /**
   * For effects of events. Errors: Unavailable unless the copy was current at most 5 s ago and has seen what the causes
   * of all events had seen; the consumer tries again in a moment. Source: ADR 0171.
   */
  async settledFor(through: Pick<Tx, 'prepared'>, events: readonly Caused[]): Promise<void> {
    this.progress.used();
    if (await isSettled(through, events)) return;
    await this.progress.renewal(RENEWAL_MS);
    if (!(await isSettled(through, events))) throw new Unavailable('directory behind');
  }

  /**
   * For effects that destroy what is said to be gone. Shape: `ids` are those of the events. Errors: Unavailable while the
   * copy may be behind; a plain Error, which ends as a dead letter, when the copy still knows one of them: then the event
   * is forged or mistaken. Source: ADR 0171.
   */
  async gone(
    through: Pick<Tx, 'prepared'>,
    kind: keyof typeof LIVING,
    events: readonly Caused[],
    ids: readonly number[],
  ): Promise<void> {
    await this.settledFor(through, events);
    const found = await through.prepared<{ id: number }>(LIVING[kind], [ids]);
    if (found.length > 0) throw new Error(`refused: ${kind} ${found.map((row) => row.id).join(', ')} is not gone`);
    await through.prepared(NO_MORE_LOST, [kind, ids]);
  }

  private async levels(
    statement: typeof PROJECT_LEVELS,
    id: number,
    userIds: readonly number[],
    through: Pick<Tx, 'prepared'>,
  ): Promise<ReadonlyMap<number, number>> {
    const levels = new Map(userIds.map((userId) => [userId, 0]));
    const known = userIds.filter(isId);
    if (!isId(id) || known.length === 0) return levels;
    const rows = await through.prepared<{ user_id: number; level: number }>(statement, [id, known]);
    for (const row of rows) levels.set(row.user_id, row.level);
    return levels;
  }

  private async rows(
    statement: typeof USERS_BY_ID,
    ids: readonly number[],
    through: Pick<Tx, 'prepared'> = this.database,
  ): Promise<FlatRow[]> {
    const known = ids.filter(isId);
    return known.length === 0 ? [] : through.prepared<FlatRow>(statement, [known]);
  }
}

/** Per epoch the highest version and the latest time. */
function seenBy(events: readonly Caused[]): [epochs: string[], versions: number[], times: string[]] {
  const newest = new Map<string, { version: number; time: string }>();
  for (const { seen, time } of events) {
    if (!seen) continue;
    const known = newest.get(seen.epoch) ?? { version: seen.version, time };
    const version = Math.max(known.version, seen.version);
    newest.set(seen.epoch, { version, time: known.time > time ? known.time : time });
  }
  const values = [...newest.values()];
  return [[...newest.keys()], values.map((one) => one.version), values.map((one) => one.time)];
}

/** Ids beyond what a number holds exactly match nothing. */
function isId(id: number): boolean {
  return Number.isSafeInteger(id) && id > 0;
}

function byId<T extends { readonly id: number }>(rows: readonly T[]): ReadonlyMap<number, T> {
  return new Map(rows.map((row) => [row.id, row]));
}

async function isSettled(through: Pick<Tx, 'prepared'>, events: readonly Caused[]): Promise<boolean> {
  const [state] = await through.prepared<{ settled: boolean }>(SETTLED, [SETTLED_MS, ...seenBy(events)]);
  return state?.settled === true;
}
