import type { TokenHolder } from '@rookery/contracts';

/** Version and epoch of identity's change log. */
export interface DirectoryMark {
  readonly version: number;
  readonly epoch: string;
}

/** The authenticated sender of a request. `holder` is null for an anonymous caller. */
export interface Caller {
  readonly holder: TokenHolder | null;
  readonly mark: DirectoryMark;
  /** Id of the administrator behind a sudo, or behind the impersonation token that the sudo came with. */
  readonly actingFor?: number;
  /** The token is revoked. Its caller may only repeat the rotation that revoked it, to read that answer again. */
  readonly isReplayOnly?: true;
}

/** The facts about a request that authentication needs. Units: `deadline` in epoch milliseconds. */
export interface CallerRequest {
  readonly address: string;
  readonly deadline: number;
  /** Registers a function that runs when the client has gone. */
  readonly onGone: (leave: () => void) => void;
  /** True at rotation endpoints, where identity must see that a revoked token is presented. */
  readonly isRotating: boolean;
  /** Idempotency key of a rotation; empty otherwise. */
  readonly key: string;
}
