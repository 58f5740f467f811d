import { randomBytes } from 'node:crypto';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What the clients of a project's feature flags identify themselves by. Source: reference packages-and-admin 9.3. */
@Entity('feature_flags_clients')
export class FeatureFlagsClient {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_feature_flags_clients' }) projectId: number;
  /** Kept as it is, since it is shown again. */
  @Column({ type: 'text' }) token: string;
  /** Rises with each change of a flag or a list of the project. */
  @Column({ type: 'bigint', default: 1 }) revision: number;
}

/** A new token; its beginning tells what it is for. */
export function newClientToken(): string {
  return `glffct-${randomBytes(15).toString('base64url')}`;
}
