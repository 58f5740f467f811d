import type { Visibility } from '@rookery/kernel';

/** How a fork shall be called and seen. Source: reference identity-and-import 10.2. */
export interface NewFork {
  readonly name?: string;
  readonly path?: string;
  readonly description?: string | null;
  readonly visibility?: Visibility;
}
