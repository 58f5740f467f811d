/**
 * Claims about the caller, signed by the gateway for one service. Carried in one header as
 * `<base64url(JSON)>.<key id>.<base64url(HMAC-SHA256)>`, with a key per audience (reference reliability 6.1).
 * The names are short because the claims travel with every request.
 */
export interface ContextClaims {
  /** Subject: user id, null for anonymous. */
  readonly sub: number | null;
  readonly usr: string | null;
  /** Token id and its scopes. */
  readonly tok: number | null;
  /** Id and project of the running job whose token is used. Absent otherwise. */
  readonly job?: readonly [id: number, projectId: number];
  readonly scp: readonly string[];
  readonly adm: boolean;
  readonly ext: boolean;
  readonly bot: boolean;
  /** The administrator behind `sudo` or an impersonation token. */
  readonly imp: number | null;
  /** The caller acts through `sudo`. Absent otherwise. */
  readonly sud?: true;
  /** Id of the user who created a bot. Absent for other callers. */
  readonly mkr?: number;
  /** The token was rotated by a request with this request's key: only that answer may be returned to the caller. */
  readonly rpl?: true;
  /** The client address of an anonymous caller, so that services can distinguish anonymous callers. */
  readonly adr?: string;
  /** The token that the client of a registry may use in place of its credential, if it asks for one. Source: ADR 0206. */
  readonly ctk?: string;
  /** Directory version and epoch. */
  readonly ver: number;
  readonly epo: string;
  /** Audience: the service that may accept it. */
  readonly aud: string;
  /** Method and raw path with query of the request, as sent upstream. */
  readonly req: string;
  readonly rid: string;
  /** Epoch milliseconds: issued, deadline. A context is accepted until 30 s after it was issued. */
  readonly iat: number;
  readonly ddl: number;
}

export const CONTEXT_HEADER = 'x-rookery-context';
/** Set by identity on answers to writes: the directory version of the write. Stripped by the gateway. */
export const DIRECTORY_VERSION_HEADER = 'x-rookery-directory-version';
export const REQUEST_ID_HEADER = 'x-request-id';
/** Prefix of our own headers; the gateway drops such headers from client requests. */
export const INTERNAL_HEADER_PREFIX = 'x-rookery-';
/** Names parameters that had no effect: the only header of ours that clients see. Source: reference identity-and-import 1.2. */
export const IGNORED_HEADER = 'x-rookery-ignored';
/** Identifies a write, so that it is executed once however often it is sent. */
export const IDEMPOTENCY_HEADER = 'idempotency-key';
/** Marks a replayed answer with the value `true`. */
export const REPLAYED_HEADER = 'idempotency-replayed';
/** Set to `1` if the client sent HEAD, which the gateway forwards as GET: the handler must not change anything. */
export const READ_ONLY_HEADER = 'x-rookery-look';
/**
 * The gateway sets it to `1` to ask, before the body is sent, whether a request with a streamed body may be made. The
 * service answers with 204 without calling the handler, or with the refusal.
 */
export const ADMISSION_HEADER = 'x-rookery-admission';
