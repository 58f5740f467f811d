import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** What projects are about. The counters are kept by the database (ADR 0120). */
@Entity('topics')
export class Topic {
  @PrimaryGeneratedColumn('identity', { type: 'bigint' }) id: number;
  @Column('bigint') organization_id: number;
  /** Unique within an organization, ignoring case. */
  @Column('text') name: string;
  /** null: the name is shown in its place. */
  @Column('text', { nullable: true }) title: string | null;
  @Column('text', { nullable: true }) description: string | null;
  @Column('text', { nullable: true }) avatar_url: string | null;
  @Column('integer') total_projects_count: number;
  /** Of projects that are not private; the order of the list. */
  @Column('integer') open_projects_count: number;
  @Column('timestamptz') created_at: Date;
  @Column('timestamptz') updated_at: Date;
}
