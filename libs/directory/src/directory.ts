import { Inject, Injectable } from '@nestjs/common';
import type { GroupScope, NamespaceFacts, ProjectScope, ScopeResolver } from '@rookery/api-v4';
import type { Viewer } from '@rookery/kernel';
import { maySee, Unavailable } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { Decisions } from './decisions';
import { groupIn, namespaceOfRow, projectIn, projectOfRow, userOf } from './directory-rows';
import type { DirectoryUserRow, FlatRow, ProjectFacts } from './directory-rows';
import {
  GROUP_LEVELS,
  NAMESPACES_BY_ID,
  PROJECT_LEVELS,
  PROJECTS_BY_ID,
  SETTLED,
  USERS_BY_ID,
  USERS_BY_USERNAME,
} from './lookup-statements';
import { groupStatement, projectStatement } from './scope-statements';

/** Effects without a request need a copy at most this old. Units: ms. Source: reliability-and-security 4.2, 7. */
export const SETTLED_MS = 5000;

/**
 * What this service knows about people, groups and projects, and who holds what level where. It answers from the
 * service's own copy, and only when the copy has seen everything that the request's version asks for; otherwise it
 * waits, then asks identity, then refuses. Lookups by id embed facts and decide nothing; they take the copy as it is.
 *
 * Errors: Unavailable (503, Retry-After) when nothing fresh enough can be had in time.
 * Source: architecture 5; reliability-and-security 4.2; ADR 0042.
 */
@Injectable()
export class Directory implements ScopeResolver {
  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(Decisions) private readonly decisions: Decisions,
  ) {}

  /** Shape: an id or a full path, compared without case; null = missing or invisible. */
  async project(ref: number | string, viewer: Viewer): Promise<ProjectScope | null> {
    const from = projectStatement(ref);
    const project = from && (await this.decisions.about(viewer, { from, asked: { project: ref }, read: projectIn }));
    return project && maySee(viewer, project.visibility, project.level) ? project : null;
  }

  /** Shape: an id or a full path, compared without case; null = missing, invisible or a user namespace. */
  async group(ref: number | string, viewer: Viewer): Promise<GroupScope | null> {
    const from = groupStatement(ref);
    const group = from && (await this.decisions.about(viewer, { from, asked: { group: ref }, read: groupIn }));
    return group && maySee(viewer, group.visibility, group.level) ? group : null;
  }

  /** Resolves once statements over the copy may decide for this viewer: lists that cross projects await it first. */
  fresh(viewer: Viewer): Promise<void> {
    return this.decisions.fresh(viewer);
  }

  /** Missing ids are missing in the answer. Shape: `through` as in `settled`. */
  async users(
    ids: readonly number[],
    through: Pick<Tx, 'prepared'> = this.database,
  ): Promise<ReadonlyMap<number, DirectoryUserRow>> {
    return byId((await this.rows(USERS_BY_ID, ids, through)).map((row) => userOf(row)));
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
   * For effects without a request. Shape: `through` is the transaction of the effect, which then needs no second
   * connection. Errors: Unavailable unless the copy was current at most 5 s ago.
   */
  async settled(through: Pick<Tx, 'prepared'> = this.database): Promise<void> {
    const [state] = await through.prepared<{ settled: boolean }>(SETTLED, [SETTLED_MS]);
    if (state?.settled !== true) throw new Unavailable('directory');
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

/** Ids beyond what a number holds exactly match nothing. */
function isId(id: number): boolean {
  return Number.isSafeInteger(id) && id > 0;
}

function byId<T extends { readonly id: number }>(rows: readonly T[]): ReadonlyMap<number, T> {
  return new Map(rows.map((row) => [row.id, row]));
}
