import { createHash, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import type { Viewer } from '@rookery/kernel';
import { Unauthorized } from '@rookery/kernel';
import { Database, prepareStatement, Work } from '@rookery/persistence';
import type { RowOf, Tx } from '@rookery/persistence';
import type { FeatureFlagsClient } from './feature-flags-client.entity';
import { hasFeatureFlagsSql } from './feature-flags.policy';
import { createFeatureFlagsClientToken } from './feature-flags-client.entity';

type ClientRow = RowOf<FeatureFlagsClient, 'token' | 'revision'>;

const TOKEN = `insert into feature_flags_clients as c (project_id, token) values ($1, $2)
  on conflict (project_id) do update set token = c.token returning token`;
const RESET = `insert into feature_flags_clients (project_id, token) values ($1, $2)
  on conflict (project_id) do update set token = excluded.token returning token`;
const TOUCH = `insert into feature_flags_clients as c (project_id, token) values ($1, $2)
  on conflict (project_id) do update set revision = c.revision + 1`;
/**
 * Excludes projects that are deleted in the directory but not yet cleaned up here, and projects whose flags are
 * disabled.
 */
const CLIENT = prepareStatement(
  'feature_flags_client',
  `select c.token, c.revision from feature_flags_clients c
   where c.project_id = $1 and exists (select 1 from directory_projects p where p.id = c.project_id and ${hasFeatureFlagsSql('p')})`,
);

/** Tokens by which clients fetch the feature flags of a project. Source: reference packages-and-admin 9.3. */
@Injectable()
export class FeatureFlagsClientsService {
  constructor(
    private readonly work: Work,
    private readonly database: Database,
    private readonly directory: Directory,
  ) {}

  /** Returns the token of a project. The first call creates it. */
  show(projectId: number): Promise<{ readonly token: string }> {
    return this.work.run((tx) => storeFeatureFlagsClientToken(tx, TOKEN, projectId));
  }

  /** Replaces the token. The previous token becomes invalid. */
  reset(projectId: number): Promise<{ readonly token: string }> {
    return this.work.run((tx) => storeFeatureFlagsClientToken(tx, RESET, projectId));
  }

  /**
   * Returns the revision of a project's flags if the token is right and the flags are enabled. Errors: Unauthorized,
   * Unavailable.
   */
  async findRevision(viewer: Viewer, projectId: number | undefined, token: string | undefined): Promise<number> {
    if (projectId === undefined || token === undefined) throw new Unauthorized();
    await this.directory.requireFresh(viewer);
    const [client] = await this.database.prepared<ClientRow>(CLIENT, [projectId]);
    if (!client || !timingSafeEqual(hashToken(client.token), hashToken(token))) throw new Unauthorized();
    return client.revision;
  }
}

async function storeFeatureFlagsClientToken(
  tx: Tx,
  sql: string,
  projectId: number,
): Promise<{ readonly token: string }> {
  const [client] = await tx.query<{ token: string }>(sql, [projectId, createFeatureFlagsClientToken()]);
  return client!;
}

/** Hashes the token, so that compared buffers always have equal length. */
function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/**
 * Increments the revision of a project's flags, so that clients fetch them again after the commit. Must be called
 * before anything else is locked: it serializes changes of the same project.
 */
export async function incrementFeatureFlagsRevision(tx: Tx, projectId: number): Promise<void> {
  await tx.query(TOUCH, [projectId, createFeatureFlagsClientToken()]);
}

/** Deletes the tokens of deleted projects. */
export async function dropFeatureFlagsClients(tx: Tx, projectIds: readonly number[]): Promise<void> {
  await tx.query('delete from feature_flags_clients where project_id = any($1::bigint[])', [projectIds]);
}
