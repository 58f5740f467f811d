import { Invalid, lengthProblems, assertAllUsed, keepFieldsWithProblems } from '@rookery/kernel';
import { Check, Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn } from 'typeorm';
import { badgeUrlProblems } from './badge-url';

/** Fields of a badge. Omitted fields keep their values on update. */
export interface BadgeInput {
  readonly name?: string | null;
  readonly link_url?: string;
  readonly image_url?: string;
}

/** Units: characters. Source: reference identity-and-import 8. */
const LONGEST_NAME = 255;

/** A linked image on the page of a project or group. Source: requirements 2 §2 Badge. */
@Entity('badges')
@Check('ck_badges_one', 'num_nonnulls(project_id, namespace_id) = 1')
@Index('ix_badges_namespace_id', ['namespaceId', 'createdAt', 'id'], { where: 'namespace_id is not null' })
@Index('ix_badges_project_id', ['projectId', 'createdAt', 'id'], { where: 'project_id is not null' })
export class Badge {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_badges',
  })
  id: number;
  @ForeignKey('projects', { name: 'fk_badges_project_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint', nullable: true })
  projectId: number | null;
  @ForeignKey('namespaces', { name: 'fk_badges_namespace_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint', nullable: true })
  namespaceId: number | null;
  @Column({ type: 'text', nullable: true }) name: string | null;
  @Column({ type: 'text' }) linkUrl: string;
  @Column({ type: 'text' }) imageUrl: string;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;

  get kind(): 'project' | 'group' {
    return this.projectId === null ? 'group' : 'project';
  }

  /** Creates a badge. Errors: Invalid by field. */
  static create(input: BadgeInput & Required<Pick<BadgeInput, 'link_url' | 'image_url'>>, now: Date): Badge {
    const badge = new Badge();
    badge.projectId = null;
    badge.namespaceId = null;
    badge.name = null;
    badge.createdAt = now;
    badge.change(input, now);
    return badge;
  }

  /** Changes the given fields. Errors: Invalid by field. */
  change({ name = this.name, link_url, image_url, ...rest }: BadgeInput, now: Date): void {
    assertAllUsed(rest);
    const problems = keepFieldsWithProblems({
      link_url: link_url === undefined ? [] : badgeUrlProblems(link_url),
      image_url: image_url === undefined ? [] : badgeUrlProblems(image_url),
      name: lengthProblems(name ?? '', LONGEST_NAME),
    });
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
    this.name = name;
    this.linkUrl = link_url ?? this.linkUrl;
    this.imageUrl = image_url ?? this.imageUrl;
    this.updatedAt = now;
  }
}
