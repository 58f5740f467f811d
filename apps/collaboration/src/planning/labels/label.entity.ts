import type { NoteableType } from '@rookery/contracts';
import { Invalid, lengthProblems, assertAllUsed, keepFieldsWithProblems } from '@rookery/kernel';
import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { normalizeColour, DEFAULT_COLOUR, textColourOn } from './colours/colours';
import { renderLabelDescription } from './label-html';

/** Fields of a label. Omitted fields keep their values on update. */
export interface LabelInput {
  readonly name?: string;
  readonly color?: string;
  readonly description?: string | null;
  readonly archived?: boolean;
}

/** Maximum lengths. Units: characters. Source: reference work-tracking 9.4. */
const LONGEST_LABEL = 255;
const LONGEST_DESCRIPTION = 524_288;

/** Label for noteables of a project, or of a group and everything below it. Source: reference work-tracking 9.4. */
@Entity('labels')
@Check('ck_labels_one', 'num_nonnulls(project_id, group_id) = 1')
@Check('ck_labels_title', `char_length(title) between 1 and 255 and title not like '%,%'`)
@Check('ck_labels_description', 'char_length(description) <= 524288')
@Index('uq_labels_project_id_title', ['projectId', 'title'], { unique: true, where: 'project_id is not null' })
@Index('uq_labels_group_id_title', ['groupId', 'title'], { unique: true, where: 'group_id is not null' })
@Index('ix_labels_title', ['title'])
export class Label {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_labels',
  })
  id: number;
  @Column({ type: 'bigint', nullable: true }) projectId: number | null;
  @Column({ type: 'bigint', nullable: true }) groupId: number | null;
  @Column({ type: 'text' }) title: string;
  @Column({ type: 'text', nullable: true }) description: string | null;
  @Column({ type: 'text' }) descriptionHtml: string;
  @Column({ type: 'text' }) color: string;
  @Column({ type: 'text' }) textColor: string;
  @Column({ type: 'boolean', default: false }) archived: boolean;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;

  /** Creates a label. Errors: Invalid by field. */
  static create(input: LabelInput & Required<Pick<LabelInput, 'name'>>, now: Date): Label {
    const label = new Label();
    Object.assign(label, { projectId: null, groupId: null, description: null, archived: false, createdAt: now });
    label.change({ color: DEFAULT_COLOUR, ...input }, now);
    return label;
  }

  /** Changes the given fields. Errors: Invalid by field. */
  change(input: LabelInput, now: Date): void {
    const { name = this.title, color = this.color, description = this.description, ...others } = input;
    const { archived = this.archived, ...rest } = others;
    assertAllUsed(rest);
    const title = name.trim();
    const colour = normalizeColour(color);
    const problems = keepFieldsWithProblems({
      title: findLabelTitleProblems(title),
      color: colour === null ? ['must be a valid color code'] : [],
      description: lengthProblems(description ?? '', LONGEST_DESCRIPTION),
    });
    if (Object.keys(problems).length > 0 || colour === null) throw new Invalid(problems);
    const shown = {
      descriptionHtml: renderLabelDescription(description),
      color: colour,
      textColor: textColourOn(colour),
    };
    Object.assign(this, { title, description, archived, ...shown, updatedAt: now });
  }
}

/** Priority of a label in a project; the lowest number is the highest priority. */
@Entity('label_priorities')
@Check('ck_label_priorities_priority', 'priority >= 0')
@Index('ix_label_priorities_label_id', ['labelId'])
export class LabelPriority {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_label_priorities' }) projectId: number;
  @ForeignKey(() => Label, { name: 'fk_label_priorities_label_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_label_priorities' })
  labelId: number;
  @Column({ type: 'integer' }) priority: number;
}

/** Subscription of a user, who is notified when a noteable gets the label. */
@Entity('label_subscriptions')
@Index('ix_label_subscriptions_user_id', ['userId'])
export class LabelSubscription {
  @ForeignKey(() => Label, { name: 'fk_label_subscriptions_label_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_label_subscriptions' })
  labelId: number;
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_label_subscriptions' }) userId: number;
}

/** Label on a noteable of any kind. */
@Entity('label_links')
@Index('ix_label_links_label_id', ['labelId', 'noteableType', 'projectId', 'noteableId'])
@Index('ix_label_links_project_id_label_id', ['projectId', 'labelId', 'noteableType', 'noteableId'])
export class LabelLink {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_label_links' }) noteableId: number;
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_label_links' }) noteableType: NoteableType;
  @ForeignKey(() => Label, { name: 'fk_label_links_label_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_label_links' })
  labelId: number;
  /** Project of the noteable; null for noteables of groups. */
  @Column({ type: 'bigint', nullable: true }) projectId: number | null;
}

/** Returns the API's validation messages for the name of a label. */
export function findLabelTitleProblems(title: string): string[] {
  if (title === '') return ["can't be blank"];
  return [
    ...lengthProblems(title, LONGEST_LABEL),
    // A comma separates the names of a list.
    ...(title.includes(',') ? ['is invalid'] : []),
  ];
}
