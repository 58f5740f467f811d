import type { ResourceType } from '../tokens/access-token.entity';
import type { NewTokenRow, TokenRow } from '../tokens/token-row';

/** A token of the bot of a group or project. */
export interface ResourceTokenRow extends TokenRow {
  readonly resource_type: ResourceType;
  readonly resource_id: number;
  readonly access_level: number;
  /** The level that the bot has there now; null when it is no member any more. */
  readonly member_level: number | null;
}
export type NewResourceTokenRow = ResourceTokenRow & NewTokenRow;
