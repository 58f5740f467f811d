import type { PageRequest, Viewer } from '@rookery/kernel';
import { PreconditionFailed } from '@rookery/kernel';
import type { StreamedBody } from './streamed-body';

/** No declared parameters. */
export type NoParams = Record<never, never>;

/** Position in a keyset list. `cursor` is the decoded content of an opaque cursor, which `keysetPage` writes. */
export interface KeysetRequest {
  readonly perPage: number;
  readonly cursor: Readonly<Record<string, unknown>> | null;
  readonly idAfter: number | null;
  readonly idBefore: number | null;
}

/** An uploaded part with a file name. Bounds: never larger than the body limit of its endpoint. */
export interface UploadedFile {
  readonly filename: string;
  /** As the client sent it; empty without one. */
  readonly mediaType: string;
  readonly bytes: Buffer;
}

/**
 * One authorized request as a handler sees it, without HTTP. Parameters are declared and coerced, the parent is visible
 * to the viewer, and the permission is granted. `within` is the parent's scope. `page` is the requested page, or the
 * default page if the endpoint has no pages.
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
  /**
   * The request comes from a browser (`Accept` names HTML) or reads only headers (HEAD): the handler must not change
   * anything.
   */
  readonly isWriteForbidden: boolean;
  /** The request reads only headers (HEAD). */
  readonly isHead: boolean;
  /** Versions of the file that the caller already has (`If-None-Match`). Their bytes need not be read. */
  readonly knownVersions: ReadonlySet<string>;
  readonly requestId: string;
}

/** A call whose endpoint declares `body: streamedBody(…)`. */
export interface StreamedCall<P = NoParams, W = undefined, V extends Viewer = Viewer> extends Call<P, W, V> {
  readonly body: StreamedBody;
  /** Resolves once the answer was written to its end (true) or its connection closed before (false). Never rejects. */
  readonly answered: Promise<boolean>;
}

/**
 * Checks `If-Unmodified-Since`. Errors: PreconditionFailed when the record changed after that time, compared in whole
 * seconds like all HTTP dates. Source: reference identity-and-import 1.4.
 */
export function checkUnmodifiedSince(call: Pick<Call, 'unmodifiedSince'>, updatedAt: Date): void {
  if (call.unmodifiedSince === null) return;
  if (Math.floor(updatedAt.getTime() / 1000) > Math.floor(call.unmodifiedSince.getTime() / 1000)) {
    throw new PreconditionFailed();
  }
}

/** Returns the actor and the parent of a change, as changes of collections take them. */
export function actorAndParent<W>({ viewer, within }: Pick<Call<unknown, W>, 'viewer' | 'within'>) {
  return { actorId: viewer.userId, within };
}

/** Returns the same as `actorAndParent` for a deletion, plus the check of `If-Unmodified-Since`. */
export function actorParentAndPrecondition<W>(call: Pick<Call<unknown, W>, 'viewer' | 'within' | 'unmodifiedSince'>) {
  return { ...actorAndParent(call), unchanged: (updatedAt: Date): void => checkUnmodifiedSince(call, updatedAt) };
}
