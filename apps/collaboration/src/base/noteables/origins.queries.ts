import { Injectable } from '@nestjs/common';
import { NotFound } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { Database, prepared } from '@rookery/persistence';
import { parentSql } from './noteable-kinds';
import { perNaming, readerOfNamed } from './reader';
import type { NamedNoteable } from './reader';
import type { ToldOrigin } from './written-from';

const READER = { viewer: '$3::bigint', isMember: '$4::boolean', readsConfidential: '$5::boolean' };

// PostgreSQL wants a type of every value, and not every kind has confidential things.
const find = perNaming((kind, by) =>
  prepared(
    `origins_of_${kind.table}_by_${by}`,
    `select i.user_agent, i.ip_address from ${kind.table} i
     where ${parentSql(kind)} = $1::bigint and i.${by} = $2::bigint and $5::boolean is not null
       and ${kind.visibleSql(READER)}`,
  ),
);

/** With what and from where things were made, of kinds that keep it. Source: reference work-tracking 9.1, 9.2. */
@Injectable()
export class OriginsQueries {
  constructor(private readonly database: Database) {}

  /** Errors: NotFound of the thing, and where neither is known. */
  async of(viewer: Viewer, on: NamedNoteable): Promise<ToldOrigin> {
    const { viewerId, isMember, readsConfidential } = readerOfNamed(viewer, on);
    const values = [on.parent.id, on.named, viewerId, isMember, readsConfidential];
    const [row] = await this.database.prepared<ToldOrigin>(find(on), values);
    if (!row) throw new NotFound(on.kind.resource);
    return known(row);
  }
}

/** Errors: NotFound where neither is known. */
export function known(origin: ToldOrigin): ToldOrigin {
  if (origin.user_agent === null && origin.ip_address === null) throw new NotFound('UserAgentDetail');
  return origin;
}
