import { randomBytes } from 'node:crypto';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Token by which clients of a project's feature flags authenticate. Source: reference packages-and-admin 9.3. */
@Entity('feature_flags_clients')
export class FeatureFlagsClient {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_feature_flags_clients' }) projectId: number;
  /** Stored in plain text, because the API shows it again. */
  @Column({ type: 'text' }) token: string;
  /** Increases with each change of a flag or user list of the project. */
  @Column({ type: 'bigint', default: 1 }) revision: number;
}

/** Returns a random token. Its prefix identifies the kind of token. */
export function createFeatureFlagsClientToken(): string {
  return `glffct-${randomBytes(15).toString('base64url')}`;
}
