import { AsyncLocalStorage } from 'node:async_hooks';
import type { ContextClaims } from '@rookery/contracts';
import { LocalResponse } from './local-response';
import type { LocalCall, LocalCaller, LocalRequest, Neighbour, Neighbours } from './neighbours';

/** Answers one local call. A handler that rejects gives no answer. */
export type LocalHandler = (response: LocalResponse, claims: ContextClaims | null) => Promise<void>;

/** The shutdown of a service, as far as its local calls take part. */
interface ShutdownSteps {
  addStep(phase: 'stop-accepting' | 'drain', name: string, step: () => Promise<void>): void;
}

/** Bytes that a caller gets at once; a slow caller pauses between them. Units: bytes. */
const CHUNK = 64 * 1024;

/** The error that undici reports if a connection ends before the whole answer has arrived. */
class IncompleteAnswerError extends Error {
  readonly code = 'UND_ERR_SOCKET';
}

/**
 * Answers the calls of neighbours, as an HTTP server answers requests. A call runs in the asynchronous context of this
 * service: nothing that the caller keeps there, such as its lane and the rights of its request, reaches this service.
 * Source: ADR 0199.
 */
export class LocalServer implements Neighbour {
  private readonly runInServiceContext = AsyncLocalStorage.snapshot();
  private inFlight = 0;
  private resolveDrained = (): void => undefined;

  /**
   * `find` returns the handler of a request, or null for requests that need HTTP. `onFailure` gets unexpected errors.
   */
  constructor(
    private readonly find: (request: LocalRequest) => LocalHandler | null,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  /** Registers the service until it stops accepting requests; its shutdown then waits for the running calls. */
  listen(service: string, neighbours: Neighbours, shutdown: ShutdownSteps): void {
    const remove = neighbours.register(service, this);
    shutdown.addStep('stop-accepting', 'local calls', () => Promise.resolve(remove()));
    shutdown.addStep('drain', 'local calls in flight', async () => {
      if (this.inFlight > 0) await new Promise<void>((resolve) => (this.resolveDrained = resolve));
    });
  }

  accept(request: LocalRequest): LocalCall | null {
    const handler = this.find(request);
    return handler && ((caller, claims) => void this.callHandler(handler, caller, claims));
  }

  private async callHandler(handler: LocalHandler, caller: LocalCaller, claims: ContextClaims | null): Promise<void> {
    const response = new LocalResponse();
    const state = { aborted: null as Error | null, isRunning: false, hasFailed: false };
    /** Ends a call without its whole answer. The caller gets one error, as from a connection that ended. */
    const failCall = (error: Error): void => {
      if (state.hasFailed) return;
      state.hasFailed = true;
      response.destroy();
      if (state.isRunning) caller.onError(error);
    };
    caller.onConnect((reason = new Error('aborted')) => {
      if (response.closed) return;
      state.aborted = reason;
      failCall(reason);
    });
    if (state.aborted !== null) return caller.onError(state.aborted);
    state.isRunning = true;
    this.inFlight += 1;
    response.once('close', () => {
      if (response.destroyed) failCall(new IncompleteAnswerError('the answer is not whole'));
    });
    const handled = this.runInServiceContext(handler, response, claims)
      .catch((error: unknown) => this.onFailure(error))
      .finally(() => response.abandon());
    // The caller continues in its own asynchronous context.
    if (await response.isAnswered) deliverResponse(response, caller, failCall);
    await handled;
    if (!response.closed) await response.whenClosed();
    this.inFlight -= 1;
    if (this.inFlight === 0) this.resolveDrained();
  }
}

/** Hands an answer to its caller, no faster than the caller takes it. A failing caller loses the rest. */
function deliverResponse(response: LocalResponse, caller: LocalCaller, failCall: (error: Error) => void): void {
  let isPaused = false;
  const send = (): void => {
    while (!isPaused && response.writableLength > 0) {
      isPaused = !caller.onData(response.takeBytes(CHUNK));
      if (response.closed) return;
    }
    if (response.writableLength > 0) return;
    response.finish();
    caller.onComplete();
  };
  const resume = (): void => {
    if (!isPaused || response.closed) return;
    isPaused = false;
    runOrFail(send);
  };
  const runOrFail = (step: () => void): void => {
    try {
      step();
    } catch (error) {
      failCall(error as Error);
    }
  };
  runOrFail(() => {
    caller.onHeaders(response.statusCode, response.headers, resume, response.reason);
    if (!response.closed) send();
  });
}
