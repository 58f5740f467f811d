import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import type { ListedWebSession, StartWebSessionRequest } from '@rookery/contracts';
import { WEB_SESSION_DAYS } from '@rookery/contracts';
import { Job } from '@rookery/jobs';
import type { Interruptible } from '@rookery/jobs';
import { Database, statement } from '@rookery/persistence';
import { housekeepingCron } from '../identity.config';

/** Maximum number of sessions of a user. A new session replaces the oldest one. */
const MOST_SESSIONS = 100;
/** Maximum length of a stored User-Agent; the rest is cut off. Units: UTF-16 code units. */
const MAX_USER_AGENT = 300;
/** Maximum number of ended sessions that one statement deletes. */
const BATCH = 500;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const IS_LIVE = `s.created_at > now() - interval '${WEB_SESSION_DAYS} days'`;
const START = statement<{ id: string; digest: Buffer; ip: string | null; userAgent: string | null }, { id: string }>(
  'web-sessions-start',
  `with token as (select t.id, t.user_id from access_tokens t where t.digest = :digest and not t.revoked),
   surplus as (
     delete from web_sessions s using (
       select o.id from web_sessions o, token t where o.user_id = t.user_id
         order by o.created_at desc, o.id desc offset ${MOST_SESSIONS - 1}
     ) old where s.id = old.id
   )
   insert into web_sessions as s (id, token_id, user_id, ip, user_agent)
     select :id::uuid, t.id, t.user_id, :ip, :userAgent from token t
     on conflict (id) do update set token_id = s.token_id where s.token_id = excluded.token_id returning s.id`,
);
const CHECK = statement<{ id: string }, { is_use_unrecorded: boolean }>(
  'web-sessions-check',
  `select s.last_seen_at < now() - interval '10 minutes' as is_use_unrecorded from web_sessions s
   where s.id = :id and ${IS_LIVE}`,
);
const RECORD_USE = statement<{ id: string; ip: string | null }, never>(
  'web-sessions-record-use',
  'update web_sessions set last_seen_at = now(), ip = :ip where id = :id',
);
const SCOPES = statement<{ id: string }, { scopes: readonly string[] }>(
  'web-sessions-scopes',
  'select t.scopes from web_sessions s join access_tokens t on t.id = s.token_id where s.id = :id',
);
/**
 * Sessions that belong to a person: of the same user, and both by impersonation tokens of the same administrator or both by
 * none. Others who act as the user see nothing of each other.
 */
const OF_SAME_PERSON = `from web_sessions own join access_tokens own_token on own_token.id = own.token_id
   join web_sessions s on s.user_id = own.user_id join access_tokens t on t.id = s.token_id
     and t.impersonation = own_token.impersonation
     and (not t.impersonation or t.created_by_id is not distinct from own_token.created_by_id)`;
const LIST = statement<{ id: string }, Omit<ListedWebSession, 'is_current'>>(
  'web-sessions-list',
  `select s.id, t.name as token_name, s.ip, s.user_agent, to_json(s.created_at) #>> '{}' as created_at,
     to_json(s.last_seen_at) #>> '{}' as last_seen_at
   ${OF_SAME_PERSON}
   where own.id = :id and ${IS_LIVE} and not t.revoked
     and coalesce(t.expires_on > (now() at time zone 'UTC')::date, true)
   order by s.last_seen_at desc, s.id`,
);
const END = statement<{ id: string; ended: string }, never>(
  'web-sessions-end',
  `delete from web_sessions where id = (select s.id ${OF_SAME_PERSON} where own.id = :id and s.id = :ended)`,
);
const REMOVE_OLD = statement<Record<never, never>, { id: string }>(
  'web-sessions-remove-old',
  `delete from web_sessions where id in (
     select s.id from web_sessions s where not (${IS_LIVE}) order by s.created_at limit ${BATCH}) returning id`,
);

/** Sessions of browsers: start, check, list and end. Source: reference pages 2; ADR 0207. */
@Injectable()
export class WebSessionsService {
  constructor(private readonly db: Database) {}

  /** Starts a session, or finds that it has started. Returns whether it could: not for an unknown or revoked token. */
  async startSession({ id, digest, ip, user_agent: userAgent }: StartWebSessionRequest): Promise<boolean> {
    if (!UUID.test(id) || !/^[0-9a-f]{64}$/.test(digest)) return false;
    const started = await this.db.run(START, {
      id,
      digest: Buffer.from(digest, 'hex'),
      ip: validIpAddressOrNull(ip),
      userAgent: userAgent?.slice(0, MAX_USER_AGENT) ?? null,
    });
    return started.length > 0;
  }

  /** Whether the session goes on. Its use is recorded. */
  async isLive(id: string, ip: string | null): Promise<boolean> {
    if (!UUID.test(id)) return false;
    const [found] = await this.db.run(CHECK, { id });
    if (found?.is_use_unrecorded) await this.db.run(RECORD_USE, { id, ip: validIpAddressOrNull(ip) });
    return found !== undefined;
  }

  /**
   * Returns all sessions of the user of a session whose tokens are valid, the one seen last first. Returns null if the
   * token of the session may not read them.
   */
  async list(id: string): Promise<ListedWebSession[] | null> {
    if (!(await this.hasAnyScope(id, ['api', 'read_api']))) return null;
    return (await this.db.run(LIST, { id })).map((row) => ({ ...row, is_current: row.id === id }));
  }

  /** Ends a session of the same person; those of others stay. Returns whether the token of the session `id` may do so. */
  async endSession(id: string, ended: string): Promise<boolean> {
    if (id !== ended && !(await this.hasAnyScope(id, ['api']))) return false;
    if (UUID.test(id) && UUID.test(ended)) await this.db.run(END, { id, ended });
    return true;
  }

  private async hasAnyScope(sessionId: string, scopes: readonly string[]): Promise<boolean> {
    const [own] = UUID.test(sessionId) ? await this.db.run(SCOPES, { id: sessionId }) : [];
    return own?.scopes.some((scope) => scopes.includes(scope)) ?? false;
  }

  @Job('remove-old-web-sessions', { cron: housekeepingCron })
  async removeOld(run?: Interruptible): Promise<void> {
    while ((await this.db.run(REMOVE_OLD, {})).length === BATCH) run?.signal.throwIfAborted();
  }
}

function validIpAddressOrNull(ip: string | null): string | null {
  return ip !== null && isIP(ip) ? ip : null;
}
