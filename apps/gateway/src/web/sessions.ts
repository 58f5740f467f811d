import { createHmac, randomBytes, timingSafeEqual, webcrypto } from 'node:crypto';
import { defaults, seal, unseal } from 'iron-webcrypto';

/** A signed-in browser. */
export interface Session {
  /** Unguessable, and new with every sign-in. */
  readonly id: string;
  readonly token: string;
  readonly username: string;
}

/** Units: milliseconds. */
const LIFETIME_MS = 14 * 24 * 3600_000;
const NAME = 'rookery_session';

/**
 * Keeps sessions in sealed cookies: nothing is stored on the server. A session is as good as its access token, which the
 * API checks with every request, so it ends when the token is revoked, expires, or its user is blocked.
 * Source: reference pages 2.
 */
export class Sessions {
  private readonly secret: string;
  private readonly name: string;

  /** Shape: `secret` has at least 32 characters; null for a random one, with which sessions end when the process does. */
  constructor(
    secret: string | null,
    private readonly isSecure: boolean,
  ) {
    this.secret = secret ?? randomBytes(32).toString('base64');
    // Browsers accept a cookie of this name only from this host itself, over TLS.
    this.name = isSecure ? `__Host-${NAME}` : NAME;
  }

  /** Returns the value of Set-Cookie for a new session. */
  async start(token: string, username: string): Promise<string> {
    const session: Session = { id: randomBytes(18).toString('base64url'), token, username };
    const sealed = await seal(webcrypto, session, this.secret, { ...defaults, ttl: LIFETIME_MS });
    return this.cookie(sealed, LIFETIME_MS / 1000);
  }

  /** Returns the value of Set-Cookie that ends the session. */
  end(): string {
    return this.cookie('', 0);
  }

  /** Reads the session from the header Cookie; null for none, or for one that is expired or was changed. */
  async read(header: string | undefined): Promise<Session | null> {
    const sealed = header && valueOf(header, this.name);
    if (!sealed) return null;
    try {
      return (await unseal(webcrypto, sealed, this.secret, { ...defaults, ttl: LIFETIME_MS })) as Session;
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

  private cookie(value: string, seconds: number): string {
    const secure = this.isSecure ? '; Secure' : '';
    return `${this.name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
  }
}

function valueOf(header: string, name: string): string | undefined {
  return header
    .split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1);
}
