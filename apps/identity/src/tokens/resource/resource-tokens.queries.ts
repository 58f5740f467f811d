import { Injectable } from '@nestjs/common';
import type { Page, PageRequest } from '@rookery/kernel';
import type { SqlReader } from '@rookery/persistence';
import { Database, ListQuery } from '@rookery/persistence';
import { TOKEN_COLUMNS, TOKEN_FILTERS, tokenOrder } from '../access-tokens.queries';
import type { TokenFilters } from '../access-tokens.queries';
import type { Resource } from './resource';
import type { ResourceType, NewTokenRow, TokenRow } from '../access-token.entity';

/** A token of the bot of a group or project. */
export interface ResourceTokenRow extends TokenRow {
  readonly resource_type: ResourceType;
  readonly resource_id: number;
  readonly access_level: number;
  /** The present level of the bot there; null when it is not a member any more. */
  readonly member_level: number | null;
}
export type NewResourceTokenRow = ResourceTokenRow & NewTokenRow;

const SHOWN = `${TOKEN_COLUMNS}, (select m.access_level from members m where m.user_id = t.user_id
    and m.source_type = case t.resource_type when 'group' then 'namespace' else 'project' end
    and m.source_id = t.resource_id) as member_level`;

/**
 * Reads of tokens of one group or project, without those of groups below. Source: reference identity-and-import 4.9.
 */
@Injectable()
export class ResourceTokensQueries {
  constructor(private readonly db: Database) {}

  list(resource: Resource, filters: TokenFilters, request: PageRequest): Promise<Page<ResourceTokenRow>> {
    return tokensQuery(resource)
      .narrow(TOKEN_FILTERS, filters)
      .orderBy(tokenOrder(filters.sort))
      .readPage(this.db, request);
  }

  async findToken(
    resource: Resource,
    tokenId: number | null,
    reads: SqlReader = this.db,
  ): Promise<ResourceTokenRow | null> {
    const found = await tokensQuery(resource)
      .where((bind) => `t.id = ${bind(tokenId)}`)
      .readOne(reads);
    return found ?? null;
  }

  /** Whether the token belongs to any group or project. */
  async isOfBot(tokenId: number | null): Promise<boolean> {
    const rows = await this.db.query(`select 1 from access_tokens where id = $1 and resource_id is not null`, [
      tokenId,
    ]);
    return rows.length > 0;
  }
}

function tokensQuery({ type, id }: Resource): ListQuery<ResourceTokenRow> {
  return new ListQuery<ResourceTokenRow>({ name: 'resource-tokens', from: 'access_tokens t', columns: SHOWN }).where(
    (bind) => `t.resource_type = '${type}' and t.resource_id = ${bind(id)}`,
  );
}
