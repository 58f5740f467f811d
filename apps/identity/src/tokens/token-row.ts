import type { AccessToken } from './access-token.entity';

/** A token as the statements of this room read it. */
export interface TokenRow extends AccessToken {
  readonly active: boolean;
}
/** A token just made; the only time that its secret is shown. */
export interface NewTokenRow extends TokenRow {
  readonly token: string;
}
