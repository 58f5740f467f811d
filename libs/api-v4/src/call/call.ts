import type { PageRequest, Viewer } from '@rookery/kernel';
import { PreconditionFailed } from '@rookery/kernel';
import type { StreamedBody } from './streamed-body';

/** No declared parameters. */
export type NoParams = Record<never, never>;

/** How a keyset list goes on. Shape: `cursor` is the decoded content of an opaque cursor, written by `keysetPage`. */
export interface KeysetRequest {
  readonly perPage: number;
  readonly cursor: Readonly<Record<string, unknown>> | null;
  readonly idAfter: number | null;
  readonly idBefore: number | null;
}

/** An uploaded part with a file name. Bounds: never larger than the body limit of its endpoint. */
export interface UploadedFile {
  readonly filename: string;
  /** As the client said it; empty when it did not. */
  readonly mediaType: string;
  readonly bytes: Buffer;
}

/**
 * One request as a handler sees it: no HTTP. Parameters are coerced and declared, the parent is visible, the
 * permission is granted.
 * Shape: `within` is the parent's scope; `page` is the asked page (defaults when the endpoint has no pages).
 */
export interface Call<P = NoParams, W = undefined, V extends Viewer = Viewer> {
  readonly params: P;
  readonly viewer: V;
  readonly within: W;
  readonly page: PageRequest;
  /** Set when the client asked for `pagination=keyset` on an endpoint that has it. */
  readonly keyset: KeysetRequest | null;
  readonly files: Readonly<Record<string, UploadedFile>>;
  /** `If-Unmodified-Since`, to whole seconds. */
  readonly unmodifiedSince: Date | null;
  /** A browser asks (`Accept` names HTML), or somebody only looks (HEAD): nothing may come of the request by itself. */
  readonly isBrowsed: boolean;
  /** The versions of a file that the caller has: its bytes need not be read then. `If-None-Match`. */
  readonly knownVersions: ReadonlySet<string>;
  readonly requestId: string;
}

/** A call whose endpoint declares `body: streamedBody(…)`. */
export interface StreamedCall<P = NoParams, W = undefined, V extends Viewer = Viewer> extends Call<P, W, V> {
  readonly body: StreamedBody;
}

/**
 * Errors: PreconditionFailed when the record changed after the time that the caller named. Compared in whole seconds,
 * as HTTP dates have no more. Source: reference identity-and-import 1.4.
 */
export function checkUnmodifiedSince(call: Pick<Call, 'unmodifiedSince'>, updatedAt: Date): void {
  if (call.unmodifiedSince === null) return;
  if (Math.floor(updatedAt.getTime() / 1000) > Math.floor(call.unmodifiedSince.getTime() / 1000)) {
    throw new PreconditionFailed();
  }
}

/** Who does it and in which project or group: what changes of collections ask for. */
export function by<W>({ viewer, within }: Pick<Call<unknown, W>, 'viewer' | 'within'>) {
  return { actorId: viewer.userId, within };
}

/** The same for a deletion that honours `If-Unmodified-Since`. */
export function ifUnmodified<W>(call: Pick<Call<unknown, W>, 'viewer' | 'within' | 'unmodifiedSince'>) {
  return { ...by(call), unchanged: (updatedAt: Date): void => checkUnmodifiedSince(call, updatedAt) };
}
