import { Invalid, lengthProblems, assertAllUsed, keepFieldsWithProblems } from '@rookery/kernel';
import { Check, Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { normalizeColour, textColourOn } from '../../planning/labels/colours/colours';

/** Fields of an epic. Omitted fields keep their values on update. Days are `YYYY-MM-DD`. */
export interface EpicInput {
  readonly title?: string | undefined;
  readonly description?: string | null | undefined;
  readonly confidential?: boolean | undefined;
  readonly color?: string | undefined;
  readonly start_date_is_fixed?: boolean | undefined;
  readonly start_date_fixed?: string | null | undefined;
  readonly due_date_is_fixed?: boolean | undefined;
  readonly due_date_fixed?: string | null | undefined;
  /** Closing a closed epic or reopening an open one changes nothing. */
  readonly state_event?: 'close' | 'reopen' | undefined;
}

/** Units: characters. Source: requirements 1 §8; reference work-tracking 5.5. */
const LONGEST_TITLE = 255;
const LONGEST_DESCRIPTION = 1_048_576;
/** Default colour. Source: reference work-tracking 5.4. */
const EPIC_COLOUR = '#1068bf';

/** Refusals: a child that is not confidential below a confidential epic, and the reverse. */
export const CONFIDENTIAL_CHILDREN_ONLY = 'A confidential epic takes confidential child epics only';
export const CONFIDENTIAL_PARENT = 'A non-confidential epic cannot be assigned to a confidential parent epic';

/** An epic: a goal of a group to which issues of many projects belong. Source: reference work-tracking 5. */
@Entity('epics')
@Check('ck_epics_title', 'char_length(title) between 1 and 255')
@Check('ck_epics_description', 'char_length(description) <= 1048576')
@Check('ck_epics_state', `state in ('opened', 'closed')`)
@Check('ck_epics_closed', `(state = 'closed') = (closed_at is not null)`)
@Check('ck_epics_notes_counts', 'public_notes_count >= 0 and internal_notes_count >= 0 and system_notes_count >= 0')
@Unique('uq_epics_group_id_iid', ['groupId', 'iid'])
@Index('ix_epics_group_id_created_at', { synchronize: false })
@Index('ix_epics_group_id_updated_at', { synchronize: false })
@Index('ix_epics_group_id_title', { synchronize: false })
@Index('ix_epics_parent_id', ['parentId', 'relativePosition', 'id'], { where: 'parent_id is not null' })
@Index('ix_epics_author_id', ['authorId', 'groupId', 'id'])
@Index('ix_epics_closed_by_id', ['closedById'], { where: 'closed_by_id is not null' })
export class Epic {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_epics',
  })
  id: number;
  @Column({ type: 'bigint' }) groupId: number;
  /** Number in the group. */
  @Column({ type: 'bigint' }) iid: number;
  @Column({ type: 'bigint' }) authorId: number;
  /** The parent epic. Only statements of `epicTree` write it. */
  @ForeignKey('epics', { name: 'fk_epics_parent_id', onDelete: 'SET NULL' })
  @Column({ type: 'bigint', nullable: true, update: false })
  parentId: number | null;
  /** Position among the children of its parent, lowest first. */
  @Column({ type: 'bigint', default: 0, update: false }) relativePosition: number;
  @Column({ type: 'text' }) title: string;
  @Column({ type: 'text', nullable: true }) description: string | null;
  /** Last editor of the title. */
  @Column({ type: 'bigint', nullable: true }) titleEditedById: number | null;
  /** Last editor of the description. */
  @Column({ type: 'bigint', nullable: true }) editedById: number | null;
  @Column({ type: 'text', default: 'opened' }) state: 'opened' | 'closed';
  @Column({ type: 'boolean', default: false }) confidential: boolean;
  @Column({ type: 'boolean', nullable: true }) discussionLocked: boolean | null;
  @Column({ type: 'text' }) color: string;
  @Column({ type: 'text' }) textColor: string;
  /** Calendar days, `YYYY-MM-DD`. A fixed day is kept while it is not in use. */
  @Column({ type: 'boolean', default: false }) startIsFixed: boolean;
  @Column({ type: 'date', nullable: true }) startFixedOn: string | null;
  @Column({ type: 'boolean', default: false }) dueIsFixed: boolean;
  @Column({ type: 'date', nullable: true }) dueFixedOn: string | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) closedAt: Date | null;
  @Column({ type: 'bigint', nullable: true }) closedById: number | null;
  @Column({ type: 'integer', default: 0 }) publicNotesCount: number;
  @Column({ type: 'integer', default: 0 }) internalNotesCount: number;
  @Column({ type: 'integer', default: 0 }) systemNotesCount: number;
  @Column({ type: 'integer', default: 0 }) upvotesCount: number;
  @Column({ type: 'integer', default: 0 }) downvotesCount: number;
  @Column({ type: 'text', default: 'none' }) importedFrom: string;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;

  /** Creates an epic. Errors: Invalid by field. */
  static create(input: EpicInput & { readonly title: string }, by: ChangeAuthor & { readonly groupId: number }): Epic {
    const epic = new Epic();
    const dates = { startIsFixed: false, startFixedOn: null, dueIsFixed: false, dueFixedOn: null };
    const open = {
      parentId: null,
      relativePosition: 0,
      description: null,
      state: 'opened',
      confidential: false,
      closedAt: null,
      closedById: null,
    };
    Object.assign(epic, { groupId: by.groupId, authorId: by.actorId, ...open, ...dates, createdAt: by.at });
    epic.change({ color: EPIC_COLOUR, ...input }, by);
    return Object.assign(epic, { titleEditedById: null, editedById: null, updatedAt: by.at });
  }

  /** Applies the input; returns the columns that changed. Errors: Invalid by field. */
  change(input: EpicInput, by: ChangeAuthor): ReadonlySet<keyof Epic> {
    const {
      title: newTitle = this.title,
      description = this.description,
      confidential = this.confidential,
      ...others
    } = input;
    const { color = this.color, start_date_is_fixed: startIsFixed = this.startIsFixed, ...dates } = others;
    const { start_date_fixed: startFixedOn = this.startFixedOn, due_date_fixed: dueFixedOn = this.dueFixedOn } = dates;
    const { start_date_fixed: _, due_date_fixed: __, due_date_is_fixed: dueIsFixed = this.dueIsFixed, ...last } = dates;
    const { state_event, ...rest } = last;
    assertAllUsed(rest);
    const colour = normalizeColour(color);
    const title = newTitle.trim();
    const problems = keepFieldsWithProblems({
      title: title === '' ? ["can't be blank"] : lengthProblems(title, LONGEST_TITLE),
      description: lengthProblems(description ?? '', LONGEST_DESCRIPTION),
      color: colour === null ? ['must be a valid color code'] : [],
    });
    if (Object.keys(problems).length > 0 || colour === null) throw new Invalid(problems);
    const shown = { color: colour, textColor: textColourOn(colour) };
    const next = { title, description, confidential, ...shown, startIsFixed, startFixedOn, dueIsFixed, dueFixedOn };
    const edited = {
      ...(title === this.title ? {} : { titleEditedById: by.actorId }),
      ...(description === this.description ? {} : { editedById: by.actorId }),
    };
    return this.assignChangedFields({ ...next, ...edited, ...this.stateFieldsAfter(state_event, by) }, by);
  }

  private stateFieldsAfter(event: EpicInput['state_event'], { actorId, at }: ChangeAuthor): Partial<Epic> {
    if (event === 'close' && this.state === 'opened') return { state: 'closed', closedAt: at, closedById: actorId };
    if (event === 'reopen' && this.state === 'closed') return { state: 'opened', closedAt: null, closedById: null };
    return {};
  }

  private assignChangedFields(next: Partial<Epic>, { at }: ChangeAuthor): ReadonlySet<keyof Epic> {
    const names = Object.keys(next) as (keyof Epic)[];
    const changed = new Set(names.filter((name) => this[name] !== next[name]));
    if (changed.size > 0) Object.assign(this, next, { updatedAt: at });
    return changed;
  }
}

/** Author and time of a write. Units: `at` is the time of the database. */
export interface ChangeAuthor {
  readonly actorId: number;
  readonly at: Date;
}
