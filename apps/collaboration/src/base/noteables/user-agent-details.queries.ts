import { Injectable } from '@nestjs/common';
import { NotFound } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { Database, prepareStatement } from '@rookery/persistence';
import { parentIdColumnSql } from './noteable-kinds';
import { cachePerNoteableKindAndColumn, requireNoteableReader } from './reader';
import type { NoteableReference } from './reader';
import type { UserAgentDetail } from './user-agent-detail';

const READER = { viewer: '$3::bigint', isMember: '$4::boolean', readsConfidential: '$5::boolean' };

// `$5` needs a use in every statement so that PostgreSQL can infer its type: kinds without confidential noteables ignore it.
const selectUserAgentDetail = cachePerNoteableKindAndColumn((kind, by) =>
  prepareStatement(
    `origins_of_${kind.table}_by_${by}`,
    `select i.user_agent, i.ip_address from ${kind.table} i
     where ${parentIdColumnSql(kind)} = $1::bigint and i.${by} = $2::bigint and $5::boolean is not null
       and ${kind.visibleSql(READER)}`,
  ),
);

/** Reads the user agent and IP address of the request that created a noteable, for kinds that store them. Source: reference work-tracking 9.1, 9.2. */
@Injectable()
export class UserAgentDetailsQueries {
  constructor(private readonly database: Database) {}

  /** Errors: NotFound of the noteable; NotFound if neither value is stored. */
  async find(viewer: Viewer, on: NoteableReference): Promise<UserAgentDetail> {
    const { viewerId, isMember, readsConfidential } = requireNoteableReader(viewer, on);
    const values = [on.parent.id, on.named, viewerId, isMember, readsConfidential];
    const [row] = await this.database.prepared<UserAgentDetail>(selectUserAgentDetail(on), values);
    if (!row) throw new NotFound(on.kind.resource);
    return requireUserAgentDetail(row);
  }
}

/** Returns the detail unchanged. Errors: NotFound if both values are null. */
export function requireUserAgentDetail(origin: UserAgentDetail): UserAgentDetail {
  if (origin.user_agent === null && origin.ip_address === null) throw new NotFound('UserAgentDetail');
  return origin;
}
