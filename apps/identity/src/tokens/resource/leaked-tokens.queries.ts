import { Injectable } from '@nestjs/common';
import { Database } from '@rookery/persistence';
import { directlyReachedNamespacesSql, directlyReachedProjectsSql } from '../../directory/reach/reach-sql';
import { digestTokenSecret } from '../token-terms';

const USER = 't.user_id';
const ANY_LEVEL = '5';

/** Finds tokens by their plaintext, for revocation. Source: reference identity-and-import 2.1. */
@Injectable()
export class LeakedTokensQueries {
  constructor(private readonly db: Database) {}

  /**
   * Returns the id of the token if it is active and its holder belongs to the top-level group or to a group or project
   * below it, as a member or by an invited group. Returns null for all other tokens.
   */
  async findReaching(groupId: number, plaintext: string): Promise<number | null> {
    const rows = await this.db.query<{ id: number }>(
      `select t.id from access_tokens t
       where t.digest = $1 and not t.revoked
         and (t.expires_on is null or t.expires_on > (statement_timestamp() at time zone 'UTC')::date)
         and (exists (select 1 from (${directlyReachedNamespacesSql(USER, ANY_LEVEL)}) reached
             join namespace_ancestors a on a.namespace_id = reached.id and a.ancestor_id = $2)
           or exists (select 1 from (${directlyReachedProjectsSql(USER, ANY_LEVEL)}) reached
             join projects p on p.id = reached.id
             join namespace_ancestors a on a.namespace_id = p.namespace_id and a.ancestor_id = $2))`,
      [digestTokenSecret(plaintext), groupId],
    );
    return rows[0]?.id ?? null;
  }
}
