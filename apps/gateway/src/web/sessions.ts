import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual, webcrypto } from 'node:crypto';
import { WEB_SESSION_DAYS } from '@rookery/contracts';
import type { ListedWebSession } from '@rookery/contracts';
import { defaults, seal, unseal } from 'iron-webcrypto';
import { LRUCache } from 'lru-cache';
import type { IdentityClient } from '../auth/identity-client';

/** A signed-in browser. */
export interface Session {
  /** Id of the session in identity: unguessable, and new with every sign-in. */
  readonly id: string;
  readonly token: string;
  readonly username: string;
}

/** Units: milliseconds. */
const LIFETIME_MS = WEB_SESSION_DAYS * 24 * 3600_000;
const MAX_UNSEALED = 1000;
/** Units: milliseconds. */
const UNSEALED_MS = 600_000;
const NAME = 'rookery_session';

/** Facts of a browser's request that calls to identity need. `deadline` is a time in ms since the epoch. */
export interface BrowserRequest {
  /** Client address without port. */
  readonly address: string;
  readonly userAgent: string | null;
  /** Deadline of its request. Units: epoch milliseconds. */
  readonly deadline: number;
}

/** Calls of identity that sessions need. */
type WebSessionCalls = Pick<IdentityClient, 'startWebSession' | 'isWebSessionLive' | 'webSessions' | 'endWebSession'>;

/**
 * Keeps sessions: the token in a sealed cookie, the rest in identity. A session ends when a person ends it, or when its
 * access token is revoked, expires, or its user is blocked: the API checks the token with every request.
 * Errors: Unavailable without an answer of identity. Source: reference pages 2; ADR 0207.
 */
export class Sessions {
  private readonly secret: string;
  /** Sessions by their sealed cookies: unsealing one takes longer than rendering a page. */
  private readonly unsealed = new LRUCache<string, Session>({ max: MAX_UNSEALED, ttl: UNSEALED_MS });
  private readonly name: string;

  /** `secret` has at least 32 characters. If it is null, the secret is random and sessions end with the process. */
  constructor(
    private readonly stored: WebSessionCalls,
    secret: string | null,
    private readonly isSecure: boolean,
  ) {
    this.secret = secret ?? randomBytes(32).toString('base64');
    // Browsers accept a cookie of this name only from this host itself, over TLS.
    this.name = isSecure ? `__Host-${NAME}` : NAME;
  }

  /**
   * Returns the value of Set-Cookie for a new session; null if the token has been revoked meanwhile. The session that the
   * browser had ends.
   */
  async start(user: Omit<Session, 'id'>, browser: BrowserRequest, former: Session | null): Promise<string | null> {
    const { address, userAgent, deadline } = browser;
    const digest = createHash('sha256').update(user.token).digest('hex');
    const id = randomUUID();
    const started = { id, digest, ip: address, user_agent: userAgent };
    if (!(await this.stored.startWebSession(started, deadline))) return null;
    if (former) await this.stored.endWebSession(former.id, former.id, deadline);
    const session: Session = { id, ...user };
    const sealed = await seal(webcrypto, session, this.secret, { ...defaults, ttl: LIFETIME_MS });
    return this.renderCookie(sealed, LIFETIME_MS / 1000);
  }

  /** Whether a session goes on. */
  isLive({ id }: Session, { address, deadline }: BrowserRequest): Promise<boolean> {
    return this.stored.isWebSessionLive({ id, ip: address }, deadline);
  }

  /** All sessions of the user of a session, the one seen last first. Returns null if its token may not read them. */
  list({ id }: Session, { deadline }: BrowserRequest): Promise<readonly ListedWebSession[] | null> {
    return this.stored.webSessions(id, deadline);
  }

  /** Ends a session, or another one of the same user. Returns whether its token may do so. */
  end({ id }: Session, { deadline }: BrowserRequest, ended: string): Promise<boolean> {
    return this.stored.endWebSession(id, ended, deadline);
  }

  /** Returns the value of Set-Cookie that removes the cookie. */
  expiredCookie(): string {
    return this.renderCookie('', 0);
  }

  /** Reads the session from the header Cookie; null for none, or for one that is expired or was changed. */
  async readSession(header: string | undefined): Promise<Session | null> {
    const sealed = header && cookieValue(header, this.name);
    if (!sealed) return null;
    const known = this.unsealed.get(sealed);
    if (known) return known;
    try {
      const session = (await unseal(webcrypto, sealed, this.secret, { ...defaults, ttl: LIFETIME_MS })) as Session;
      this.unsealed.set(sealed, session);
      return session;
    } catch {
      return null;
    }
  }

  /** The token that a form of this session must carry. */
  formToken({ id }: Session): string {
    return createHmac('sha256', this.secret).update(`form ${id}`).digest('base64url');
  }

  isFormToken(session: Session, sent: string): boolean {
    const [own, given] = [Buffer.from(this.formToken(session)), Buffer.from(sent)];
    return own.length === given.length && timingSafeEqual(own, given);
  }

  private renderCookie(value: string, maxAgeSeconds: number): string {
    const secure = this.isSecure ? '; Secure' : '';
    return `${this.name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
  }
}

function cookieValue(header: string, name: string): string | undefined {
  return header
    .split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1);
}
