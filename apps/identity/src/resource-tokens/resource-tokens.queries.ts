import { Injectable } from '@nestjs/common';
import type { Page, PageRequest } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { ListStatement } from '../listing/list-statement';
import { narrowTokens, TOKEN_COLUMNS, tokenOrder } from '../tokens/access-tokens.queries';
import type { TokenFilters } from '../tokens/token-filters';
import type { Resource } from './resource';
import type { ResourceTokenRow } from './resource-token-row';

const SHOWN = `${TOKEN_COLUMNS}, (select m.access_level from members m where m.user_id = t.user_id
    and m.source_type = case t.resource_type when 'group' then 'namespace' else 'project' end
    and m.source_id = t.resource_id) as member_level`;

/** Reads of tokens of one group or project; those of groups below are not among them. Source: reference identity-and-import 4.9. */
@Injectable()
export class ResourceTokensQueries {
  constructor(private readonly db: Database) {}

  page(resource: Resource, filters: TokenFilters, request: PageRequest): Promise<Page<ResourceTokenRow>> {
    const statement = new ListStatement();
    statement.where(`t.resource_type = '${resource.type}' and t.resource_id = ${statement.bind(resource.id)}`);
    narrowTokens(statement, filters);
    const show = (ids: string) =>
      `select ${SHOWN} from (${ids}) cut join access_tokens t on t.id = cut.id order by cut.position`;
    return statement.page<ResourceTokenRow>(
      this.db,
      { name: 'resource-tokens', from: 'access_tokens t', key: 't.id', order: tokenOrder(filters.sort), show },
      request,
    );
  }

  async one(
    resource: Resource,
    tokenId: number | null,
    runner: Pick<Tx, 'query'> = this.db,
  ): Promise<ResourceTokenRow | null> {
    const rows = await runner.query<ResourceTokenRow>(
      `select ${SHOWN} from access_tokens t where t.id = $1 and t.resource_type = $2 and t.resource_id = $3`,
      [tokenId, resource.type, resource.id],
    );
    return rows[0] ?? null;
  }

  /** Whether the token is one of a group or project, be it this or another. */
  async isOfBot(tokenId: number | null): Promise<boolean> {
    const rows = await this.db.query(`select 1 from access_tokens where id = $1 and resource_id is not null`, [
      tokenId,
    ]);
    return rows.length > 0;
  }
}
