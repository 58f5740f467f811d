import type { IncomingHttpHeaders } from 'node:http';
import { Dispatcher, errors } from 'undici';
import type { Pool } from 'undici';
import type { LocalCall, LocalCaller, LocalRequest } from './neighbours';

/**
 * The way to a service that may be in this process. Its requests are local calls where the service accepts them, and
 * use the pool otherwise. Source: ADR 0199.
 */
export class ServiceConnection extends Dispatcher {
  /** Functions that abort the running local calls. */
  private readonly running = new Set<(reason: Error) => void>();
  private isDestroyed = false;

  constructor(
    private readonly pool: Pool,
    private readonly accept: (request: LocalRequest) => LocalCall | null,
  ) {
    super();
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const request = this.isDestroyed ? null : toLocalRequest(options);
    const call = request && this.accept(request);
    if (!call) return this.pool.dispatch(options, handler);
    call(this.toLocalCaller(handler), null);
    return true;
  }

  /** Aborts the running calls, as a pool does. */
  override async destroy(): Promise<void> {
    this.isDestroyed = true;
    for (const abort of this.running) abort(new errors.ClientDestroyedError());
    await this.pool.destroy();
  }

  private toLocalCaller(handler: Dispatcher.DispatchHandler): LocalCaller {
    let ended = (): void => undefined;
    return {
      onConnect: (abort) => {
        this.running.add(abort);
        ended = () => void this.running.delete(abort);
        handler.onConnect?.((reason) => abort(reason ?? new errors.RequestAbortedError()));
      },
      onHeaders: (status, headers, resume, reason) => {
        const raw = headers.map((text) => Buffer.from(text, 'latin1'));
        handler.onHeaders?.(status, raw, resume, reason);
      },
      onData: (chunk) => handler.onData?.(chunk) ?? true,
      onComplete: () => {
        ended();
        handler.onComplete?.([]);
      },
      onError: (error) => {
        ended();
        handler.onError?.(error);
      },
    };
  }
}

/**
 * Returns a request without a streamed body; null for others. `headers` must be an object, as internal clients send it.
 */
function toLocalRequest({ method, path, headers, body }: Dispatcher.DispatchOptions): LocalRequest | null {
  if (body !== null && body !== undefined && typeof body !== 'string') return null;
  return { method, url: path, headers: headers as IncomingHttpHeaders, body: body ?? null };
}
