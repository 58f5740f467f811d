import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** A signed-in browser. It holds no secret: the browser keeps the token in a sealed cookie. Source: ADR 0207. */
@Entity('web_sessions')
@Index('ix_web_sessions_created_at', ['createdAt'])
@Index('ix_web_sessions_token_id', ['tokenId'])
@Index('ix_web_sessions_user_id', ['userId', 'createdAt'])
export class WebSession {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_web_sessions' })
  id: string;
  @ForeignKey('access_tokens', { name: 'fk_web_sessions_token_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  tokenId: number;
  @ForeignKey('users', { name: 'fk_web_sessions_user_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  userId: number;
  /** Address from which it was seen last, without port. */
  @Column({ type: 'text', nullable: true }) ip: string | null;
  /** Header User-Agent of the sign-in, shortened. */
  @Column({ type: 'text', nullable: true }) userAgent: string | null;
  /** Time of the last request for a page, recorded at most every ten minutes. */
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) lastSeenAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
}
