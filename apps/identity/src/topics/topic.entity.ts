import { assertAllUsed } from '@rookery/kernel';
import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

/** Fields of a topic. Omitted fields keep their values on update. */
export interface TopicInput {
  readonly name?: string;
  /** Blank: the name is shown instead. */
  readonly title?: string;
  readonly description?: string | null;
}

/**
 * A subject of projects. Names are unique within an organization, ignoring case. Triggers maintain the counters (ADR
 * 0110).
 */
@Entity('topics')
@Check('ck_topics_counts', '(total_projects_count >= open_projects_count) and (open_projects_count >= 0)')
@Index('ix_topics_open_projects_count', { synchronize: false })
@Index('ix_topics_unused', ['id'], { where: 'total_projects_count = 0' })
@Index('uq_topics_name', { synchronize: false })
export class Topic {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_topics',
  })
  id: number;
  @Column({ type: 'bigint', default: 1 }) organizationId: number;
  @Column({ type: 'text' }) name: string;
  /** null: the name is shown instead. */
  @Column({ type: 'text', nullable: true }) title: string | null;
  @Column({ type: 'text', nullable: true }) description: string | null;
  @Column({ type: 'text', nullable: true }) avatarUrl: string | null;
  @Column({ type: 'integer', default: 0 }) totalProjectsCount: number;
  /** Number of projects that are not private. Topics are listed in this order. */
  @Column({ type: 'integer', default: 0 }) openProjectsCount: number;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;

  static create(input: TopicInput & Required<Pick<TopicInput, 'name' | 'title'>>, now: Date): Topic {
    const topic = new Topic();
    topic.description = null;
    topic.avatarUrl = null;
    topic.createdAt = now;
    topic.change(input, now);
    return topic;
  }

  change(input: TopicInput, now: Date): void {
    const { name = this.name, title = this.title, description = this.description, ...rest } = input;
    assertAllUsed(rest);
    this.name = name;
    this.title = title?.trim() === '' ? null : title;
    this.description = description;
    this.updatedAt = now;
  }
}

/** The assignment of a topic to a project. */
@Entity('project_topics')
@Index('ix_project_topics_topic_id', ['topicId', 'projectId'])
export class ProjectTopic {
  @ForeignKey('projects', { name: 'fk_project_topics_project_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_project_topics' })
  projectId: number;
  @ForeignKey('topics', { name: 'fk_project_topics_topic_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_project_topics' })
  topicId: number;
  @Column({ type: 'integer' }) position: number;
  /** Whether the project is not private. Maintained by a trigger. */
  @Column({ type: 'boolean' }) isOpen: boolean;
}
