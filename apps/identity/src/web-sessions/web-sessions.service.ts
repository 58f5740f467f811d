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
/** Rows per statement. */
const BATCH = 500;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const IS_LIVE = `s.created_at > now() - interval '${WEB_SESSION_DAYS} days'`;
const START = statement<{ digest: Buffer; ip: string | null; userAgent: string | null }, { id: string }>(
  'web-sessions-start',
  `with token as (select t.id, t.user_id from access_tokens t where t.digest = :digest and not t.revoked),
   surplus as (
     delete from web_sessions s using (
       select o.id from web_sessions o, token t where o.user_id = t.user_id
         order by o.created_at desc, o.id desc offset ${MOST_SESSIONS - 1}
     ) old where s.id = old.id
   )
   insert into web_sessions (token_id, user_id, ip, user_agent)
     select t.id, t.user_id, :ip, :userAgent from token t returning id`,
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
const LIST = statement<{ id: string }, Omit<ListedWebSession, 'is_current'>>(
  'web-sessions-list',
  `select s.id, t.name as token_name, s.ip, s.user_agent, to_json(s.created_at) #>> '{}' as created_at,
     to_json(s.last_seen_at) #>> '{}' as last_seen_at
   from web_sessions own join web_sessions s on s.user_id = own.user_id join access_tokens t on t.id = s.token_id
   where own.id = :id and ${IS_LIVE} and not t.revoked
     and coalesce(t.expires_on > (now() at time zone 'UTC')::date, true)
   order by s.last_seen_at desc, s.id`,
);
const END = statement<{ id: string; ended: string }, never>(
  'web-sessions-end',
  `delete from web_sessions s using web_sessions own where own.id = :id and s.id = :ended and s.user_id = own.user_id`,
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

  /** Returns the id of a new session; null if the token is unknown or revoked. */
  async start({ digest, ip, user_agent: userAgent }: StartWebSessionRequest): Promise<string | null> {
    if (!/^[0-9a-f]{64}$/.test(digest)) return null;
    const [started] = await this.db.run(START, {
      digest: Buffer.from(digest, 'hex'),
      ip: addressOf(ip),
      userAgent: userAgent?.slice(0, MAX_USER_AGENT) ?? null,
    });
    return started?.id ?? null;
  }

  /** Whether the session goes on. Its use is recorded. */
  async isLive(id: string, ip: string | null): Promise<boolean> {
    if (!UUID.test(id)) return false;
    const [found] = await this.db.run(CHECK, { id });
    if (found?.is_use_unrecorded) await this.db.run(RECORD_USE, { id, ip: addressOf(ip) });
    return found !== undefined;
  }

  /** All sessions of the user of a session whose tokens are valid, the one seen last first. */
  async list(id: string): Promise<ListedWebSession[]> {
    if (!UUID.test(id)) return [];
    return (await this.db.run(LIST, { id })).map((row) => ({ ...row, is_current: row.id === id }));
  }

  /** Ends a session of the same user. Sessions of other users stay. */
  async end(id: string, ended: string): Promise<void> {
    if (UUID.test(id) && UUID.test(ended)) await this.db.run(END, { id, ended });
  }

  @Job('remove-old-web-sessions', { cron: housekeepingCron })
  async removeOld(run?: Interruptible): Promise<void> {
    while ((await this.db.run(REMOVE_OLD, {})).length === BATCH) run?.signal.throwIfAborted();
  }
}

function addressOf(ip: string | null): string | null {
  return ip !== null && isIP(ip) ? ip : null;
}
