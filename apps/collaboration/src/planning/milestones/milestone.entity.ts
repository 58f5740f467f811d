import { Invalid, lengthProblems, assertAllUsed, keepFieldsWithProblems } from '@rookery/kernel';
import { Check, Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

/** Fields of a milestone. Omitted fields keep their values on update. Days are `YYYY-MM-DD`. */
export interface MilestoneInput {
  readonly title?: string;
  readonly description?: string | null;
  readonly start_date?: string | null;
  readonly due_date?: string | null;
  /** Has no effect if the milestone is already in that state. */
  readonly state_event?: 'close' | 'activate';
}

/** Maximum lengths. Units: characters. Source: reference work-tracking 9.5. */
const LONGEST_TITLE = 255;
const LONGEST_DESCRIPTION = 524_288;

/** Milestone of a project, or of a group and everything below it. Source: reference work-tracking 9.5. */
@Entity('milestones')
@Check('ck_milestones_one', 'num_nonnulls(project_id, group_id) = 1')
@Check('ck_milestones_title', 'char_length(title) between 1 and 255')
@Check('ck_milestones_description', 'char_length(description) <= 524288')
@Check('ck_milestones_state', `state in ('active', 'closed')`)
@Check('ck_milestones_dates', 'start_on < due_on')
@Index('uq_milestones_project_id_title', ['projectId', 'title'], { unique: true, where: 'project_id is not null' })
@Index('uq_milestones_group_id_title', ['groupId', 'title'], { unique: true, where: 'group_id is not null' })
@Index('uq_milestones_project_id_iid', ['projectId', 'iid'], { unique: true, where: 'project_id is not null' })
@Index('uq_milestones_group_id_iid', ['groupId', 'iid'], { unique: true, where: 'group_id is not null' })
@Index('ix_milestones_project_id_due_on', { synchronize: false })
@Index('ix_milestones_group_id_due_on', { synchronize: false })
@Index('ix_milestones_title', ['title'])
export class Milestone {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_milestones',
  })
  id: number;
  @Column({ type: 'bigint', nullable: true }) projectId: number | null;
  @Column({ type: 'bigint', nullable: true }) groupId: number | null;
  /** Number within the project or group. */
  @Column({ type: 'bigint' }) iid: number;
  @Column({ type: 'text' }) title: string;
  @Column({ type: 'text', nullable: true }) description: string | null;
  @Column({ type: 'text', default: 'active' }) state: 'active' | 'closed';
  /** Calendar days, `YYYY-MM-DD`. */
  @Column({ type: 'date', nullable: true }) startOn: string | null;
  @Column({ type: 'date', nullable: true }) dueOn: string | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;

  /** Creates a milestone. Errors: Invalid by field. */
  static create(input: MilestoneInput & Required<Pick<MilestoneInput, 'title'>>, now: Date): Milestone {
    const milestone = new Milestone();
    const empty = { projectId: null, groupId: null, description: null, startOn: null, dueOn: null };
    Object.assign(milestone, { ...empty, state: 'active', createdAt: now });
    milestone.change(input, now);
    return milestone;
  }

  /** Changes the given fields. Errors: Invalid by field. */
  change(input: MilestoneInput, now: Date): void {
    const {
      title: newTitle = this.title,
      description = this.description,
      start_date = this.startOn,
      ...others
    } = input;
    const { due_date = this.dueOn, state_event, ...rest } = others;
    assertAllUsed(rest);
    const title = newTitle.trim();
    const state = state_event === undefined ? this.state : STATES[state_event];
    const next = { title, description, state, startOn: start_date, dueOn: due_date };
    const problems = findMilestoneProblems(next);
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
    if (Object.entries(next).every(([name, value]) => this[name as keyof typeof next] === value)) return;
    Object.assign(this, { ...next, updatedAt: now });
  }
}

const STATES = { close: 'closed', activate: 'active' } as const;
type ValidatedFields = Pick<Milestone, 'title' | 'description' | 'startOn' | 'dueOn'>;

/** Returns the API's validation messages by field. */
function findMilestoneProblems({ title, description, startOn, dueOn }: ValidatedFields): Record<string, string[]> {
  const isBackwards = startOn !== null && dueOn !== null && dueOn <= startOn;
  return keepFieldsWithProblems({
    title: title === '' ? ["can't be blank"] : lengthProblems(title, LONGEST_TITLE),
    description: lengthProblems(description ?? '', LONGEST_DESCRIPTION),
    due_date: isBackwards ? ['must be greater than start date'] : [],
  });
}
