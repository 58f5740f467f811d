import { Inject, Injectable } from '@nestjs/common';
import type { DecisionSource, GroupScope, NamespaceFacts, ProjectScope, ScopeResolver } from '@rookery/api-v4';
import type { Viewer } from '@rookery/kernel';
import { maySee, Unavailable } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { DirectoryCopyProgress } from './copy/copy-progress';
import { IdentityClient } from './copy/identity-client';
import type { Position } from './copy/copy-progress';
import { DirectoryDecisions } from './decisions/decisions';
import { toGroup, namespaceOfRow, toProject, projectOfRow, toDirectoryUser } from './copy/directory-rows';
import type { DirectoryUserRow, FlatRow, ProjectFacts } from './copy/directory-rows';
import {
  GROUP_LEVELS,
  EXISTING,
  NAMESPACES_BY_ID,
  UNLIST_LOST,
  PROJECT_LEVELS,
  PROJECTS_BY_ID,
  SETTLED,
  UNKNOWN_BOTS,
  USERS_BY_ID,
  USERS_BY_USERNAME,
} from './sql/lookup-statements';
import { groupStatement, projectStatement } from './sql/scope-statements';

/** An event with the directory position that its cause had seen. `time` is in ISO 8601. Old events have no `seen`. */
export interface EventCause {
  readonly time: string;
  readonly seen?: Position;
}

/** Largest age of the copy for effects, which have no request. Units: ms. Source: reference reliability 4.2, 7. */
export const MAX_EFFECT_LAG_MS = 5000;
/**
 * Time for which an effect waits for a current copy. The copy may be older when no effect needed it for a while;
 * identity is then asked at once. Units: ms.
 */
const RENEWAL_MS = 1000;

/**
 * Users, groups, projects and access levels, from the service's own copy of identity's directory. Decisions need a copy
 * that has seen the request's version; otherwise the directory waits, then asks identity, then refuses. Lookups by id
 * are for display and not for decisions; they use the copy at any version.
 *
 * Errors: Unavailable (503, Retry-After) without a sufficiently new answer in time.
 * Source: reference reliability 4.2; docs/architecture.md 4; ADR 0042.
 */
@Injectable()
export class Directory implements ScopeResolver {
  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(DirectoryDecisions) private readonly decisions: DirectoryDecisions,
    @Inject(DirectoryCopyProgress) private readonly progress: DirectoryCopyProgress,
    @Inject(IdentityClient) private readonly identity: IdentityClient,
  ) {}

  /**
   * Finds a project that the viewer may see. `ref` is an id or a full path, ignoring case. Returns null for a missing
   * or invisible project.
   */
  async findProject(
    ref: number | string,
    viewer: Viewer,
    by: DecisionSource = 'whichever',
  ): Promise<ProjectScope | null> {
    const from = projectStatement(ref);
    const asked = by === 'copy' ? null : { project: ref };
    const project = from && (await this.decisions.decideQuestion(viewer, { from, asked, read: toProject }));
    return project && maySee(viewer, project.visibility, project.level) ? project : null;
  }

  /**
   * Finds a group that the viewer may see. `ref` is an id or a full path, ignoring case; null = missing, invisible or a
   * user namespace.
   */
  async findGroup(ref: number | string, viewer: Viewer, by: DecisionSource = 'whichever'): Promise<GroupScope | null> {
    const from = groupStatement(ref);
    const asked = by === 'copy' ? null : { group: ref };
    const group = from && (await this.decisions.decideQuestion(viewer, { from, asked, read: toGroup }));
    return group && maySee(viewer, group.visibility, group.level) ? group : null;
  }

  /**
   * Finds a project that the viewer may see by a full path that it had formerly. Only identity knows these paths, so
   * there are none while it does not answer.
   */
  async formerProject(fullPath: string, viewer: Viewer): Promise<ProjectScope | null> {
    const id = await this.identity.formerProject(fullPath).catch(unavailableAsNull);
    // Resolved in any case, so that a hidden project at a new path takes as long as a path that never existed.
    return this.findProject(id ?? 0, viewer);
  }

  /** Waits until statements over the copy may decide for this viewer. Lists across projects await it first. */
  requireFresh(viewer: Viewer): Promise<void> {
    return this.decisions.requireFresh(viewer);
  }

  /**
   * Returns identity's version of the directory if it is newer than the one that the viewer's request requires; null otherwise,
   * or if identity cannot be asked.
   */
  newestPosition(viewer: Viewer): Promise<Position | null> {
    return this.decisions.newestPosition(viewer);
  }

  /**
   * Returns users by id, without missing ones. `through` is the caller's transaction, which then needs no second
   * connection.
   */
  async findUsers(
    ids: readonly number[],
    through: Pick<Tx, 'prepared'> = this.database,
  ): Promise<ReadonlyMap<number, DirectoryUserRow>> {
    return mapById((await this.readRowsByIds(USERS_BY_ID, ids, through)).map((row) => toDirectoryUser(row)));
  }

  /**
   * Filters users to those that the viewer may know about. Bots of tokens are hidden if their group or project is,
   * because their names contain its name. Bots of `groups` are visible in any case. `through` is the caller's
   * transaction, which then needs no second connection.
   * Errors: Unavailable if bots must be checked and the copy has not reached the viewer's version; await `requireFresh`
   * first to avoid it.
   */
  async filterVisible(
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

  /**
   * Returns users by username in lower case, without missing ones. `through` is the caller's transaction, which then
   * needs no second connection.
   */
  async usersByUsername(
    names: readonly string[],
    through: Pick<Tx, 'prepared'> = this.database,
  ): Promise<ReadonlyMap<string, DirectoryUserRow>> {
    const wanted = names.filter((name) => !name.includes('\0')).map((name) => name.toLowerCase());
    const rows = wanted.length === 0 ? [] : await through.prepared<FlatRow>(USERS_BY_USERNAME, [wanted]);
    return new Map(rows.map((row) => toDirectoryUser(row)).map((user) => [user.username.toLowerCase(), user]));
  }

  /** Returns projects by id, without missing ones. */
  async findProjects(
    ids: readonly number[],
    through?: Pick<Tx, 'prepared'>,
  ): Promise<ReadonlyMap<number, ProjectFacts>> {
    return mapById((await this.readRowsByIds(PROJECTS_BY_ID, ids, through)).map((row) => projectOfRow(row)));
  }

  /**
   * Returns a project that another service asks about; null if it is missing. The asking service may have a newer copy, so a
   * missing project is looked up again after identity was asked for changes. Bounds: waits a second for identity.
   */
  async findProjectForService(id: number): Promise<ProjectFacts | null> {
    const known = (await this.findProjects([id])).get(id);
    if (known || !isValidId(id)) return known ?? null;
    this.progress.recordUse();
    await this.progress.renewHead(RENEWAL_MS);
    return (await this.findProjects([id])).get(id) ?? null;
  }

  /** Returns namespaces by id, without missing ones. */
  async findNamespaces(ids: readonly number[]): Promise<ReadonlyMap<number, NamespaceFacts>> {
    return mapById((await this.readRowsByIds(NAMESPACES_BY_ID, ids)).map((row) => namespaceOfRow(row)));
  }

  /**
   * Returns access levels by user id from the copy as it is: 0 for users without a level and for users who are not
   * active.
   */
  levelsInProject(
    projectId: number,
    userIds: readonly number[],
    through: Pick<Tx, 'prepared'> = this.database,
  ): Promise<ReadonlyMap<number, number>> {
    return this.readLevels(PROJECT_LEVELS, projectId, userIds, through);
  }

  /** Returns access levels in a group, as `levelsInProject`. */
  levelsInGroup(namespaceId: number, userIds: readonly number[]): Promise<ReadonlyMap<number, number>> {
    return this.readLevels(GROUP_LEVELS, namespaceId, userIds, this.database);
  }

  /**
   * Checks that the copy is current, for work without a request. `through` is the transaction of the effect, which then
   * needs no second connection. Errors: Unavailable unless the copy was current at most 5 s ago.
   */
  async assertCurrent(through: Pick<Tx, 'prepared'> = this.database): Promise<void> {
    await this.assertCurrentFor(through, []);
  }

  /**
   * Checks that the copy is current, for effects of events. Errors: Unavailable unless the copy was current at most 5 s
   * ago and has reached the positions that the causes of all events had seen; the consumer then retries. Source: ADR
   * 0171.
   */
  async assertCurrentFor(through: Pick<Tx, 'prepared'>, events: readonly EventCause[]): Promise<void> {
    this.progress.recordUse();
    if (await hasCopySeenEvents(through, events)) return;
    await this.progress.renewHead(RENEWAL_MS);
    if (!(await hasCopySeenEvents(through, events))) throw new Unavailable('directory behind');
  }

  /**
   * Checks that users, groups or projects are really deleted, for effects that delete their data. `ids` are those of
   * the events. Errors: Unavailable while the copy may be late; a plain Error, which ends as a dead letter, when the
   * copy still has one of them: then the event is forged or wrong. Source: ADR 0171.
   */
  async assertDeleted(
    through: Pick<Tx, 'prepared'>,
    kind: keyof typeof EXISTING,
    events: readonly EventCause[],
    ids: readonly number[],
  ): Promise<void> {
    await this.assertCurrentFor(through, events);
    const found = await through.prepared<{ id: number }>(EXISTING[kind], [ids]);
    if (found.length > 0) throw new Error(`refused: ${kind} ${found.map((row) => row.id).join(', ')} is not gone`);
    await through.prepared(UNLIST_LOST, [kind, ids]);
  }

  private async readLevels(
    statement: typeof PROJECT_LEVELS,
    id: number,
    userIds: readonly number[],
    through: Pick<Tx, 'prepared'>,
  ): Promise<ReadonlyMap<number, number>> {
    const levels = new Map(userIds.map((userId) => [userId, 0]));
    const known = userIds.filter(isValidId);
    if (!isValidId(id) || known.length === 0) return levels;
    const rows = await through.prepared<{ user_id: number; level: number }>(statement, [id, known]);
    for (const row of rows) levels.set(row.user_id, row.level);
    return levels;
  }

  private async readRowsByIds(
    statement: typeof USERS_BY_ID,
    ids: readonly number[],
    through: Pick<Tx, 'prepared'> = this.database,
  ): Promise<FlatRow[]> {
    const known = ids.filter(isValidId);
    return known.length === 0 ? [] : through.prepared<FlatRow>(statement, [known]);
  }
}

/** Returns the highest version and the latest time of each epoch. */
function newestPositionsByEpoch(
  events: readonly EventCause[],
): [epochs: string[], versions: number[], times: string[]] {
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

/** Whether an id can exist: numbers that are not exact match nothing. */
function isValidId(id: number): boolean {
  return Number.isSafeInteger(id) && id > 0;
}

function mapById<T extends { readonly id: number }>(rows: readonly T[]): ReadonlyMap<number, T> {
  return new Map(rows.map((row) => [row.id, row]));
}

async function hasCopySeenEvents(through: Pick<Tx, 'prepared'>, events: readonly EventCause[]): Promise<boolean> {
  const [state] = await through.prepared<{ settled: boolean }>(SETTLED, [
    MAX_EFFECT_LAG_MS,
    ...newestPositionsByEpoch(events),
  ]);
  return state?.settled === true;
}

function unavailableAsNull(error: unknown): null {
  if (error instanceof Unavailable) return null;
  throw error;
}
