import { Invalid, lengthProblems, assertAllUsed, keepFieldsWithProblems } from '@rookery/kernel';
import { Check, Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

export const BROADCAST_TYPES = ['banner', 'notification'] as const;
export type BroadcastType = (typeof BROADCAST_TYPES)[number];

export const THEMES = [
  'indigo',
  'light-indigo',
  'blue',
  'light-blue',
  'green',
  'light-green',
  'red',
  'light-red',
  'dark',
  'light',
] as const;
export type Theme = (typeof THEMES)[number];

/** Access levels that a message can be restricted to. Source: requirements 3 §4 Broadcast messages. */
export const TARGET_ACCESS_LEVELS = [10, 15, 20, 30, 40, 50] as const;

/** Units: characters. Bounds the cost of matching a page path against all targets. */
const LONGEST_TARGET_PATH = 255;
const HOUR_MS = 3_600_000;
const COLOUR = /^#(?:[0-9a-f]{3}){1,2}$/i;

/** Fields of a broadcast message. On update omitted fields keep their values; on creation they have defaults. */
export interface BroadcastMessageInput {
  readonly message?: string;
  readonly starts_at?: Date;
  readonly ends_at?: Date;
  readonly font?: string | null;
  readonly target_access_levels?: readonly number[];
  readonly target_path?: string | null;
  readonly broadcast_type?: BroadcastType;
  readonly theme?: Theme;
  readonly dismissable?: boolean;
}

/** A banner or notification for all users of the instance. Source: requirements 3 §2 Broadcast message. */
@Entity('broadcast_messages')
@Check('ck_broadcast_messages_type', `broadcast_type in ('banner', 'notification')`)
export class BroadcastMessage {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_broadcast_messages',
  })
  id: number;
  @Column({ type: 'text' }) message: string;
  @Column({ type: 'timestamptz', precision: 3 }) startsAt: Date;
  @Column({ type: 'timestamptz', precision: 3 }) endsAt: Date;
  /** Foreground colour. */
  @Column({ type: 'text', nullable: true }) font: string | null;
  @Column({ type: 'integer', array: true, default: () => `'{}'` }) targetAccessLevels: number[];
  @Column({ type: 'text', nullable: true }) targetPath: string | null;
  @Column({ type: 'text' }) broadcastType: BroadcastType;
  @Column({ type: 'text' }) theme: Theme;
  @Column({ type: 'boolean', default: false }) dismissable: boolean;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;

  /** Creates a message. Defaults: a banner for all users, active from now for one hour. */
  static create(input: BroadcastMessageInput, now: Date): BroadcastMessage {
    const message = new BroadcastMessage();
    message.startsAt = now;
    message.endsAt = new Date(now.getTime() + HOUR_MS);
    message.font = '#FFFFFF';
    message.targetAccessLevels = [];
    message.targetPath = null;
    message.broadcastType = 'banner';
    message.theme = 'indigo';
    message.dismissable = false;
    message.createdAt = now;
    message.change(input, now);
    return message;
  }

  /** Changes the given fields. Errors: Invalid for a blank text, an invalid colour, or a path that is too long. */
  change(input: BroadcastMessageInput, now: Date): void {
    const { message, starts_at, ends_at, font, target_access_levels, target_path, ...others } = input;
    const { broadcast_type, theme, dismissable, ...rest } = others;
    assertAllUsed(rest);
    this.message = message ?? this.message;
    this.startsAt = starts_at ?? this.startsAt;
    this.endsAt = ends_at ?? this.endsAt;
    this.font = font === undefined ? this.font : font || null;
    this.targetAccessLevels = [...(target_access_levels ?? this.targetAccessLevels)];
    this.targetPath = target_path === undefined ? this.targetPath : target_path;
    this.broadcastType = broadcast_type ?? this.broadcastType;
    this.theme = theme ?? this.theme;
    this.dismissable = dismissable ?? this.dismissable;
    this.updatedAt = now;
    this.validate();
  }

  /** Whether `now` is between start and end. A message that ends before it starts is never active. */
  isActive(now: Date): boolean {
    return this.startsAt <= now && now < this.endsAt;
  }

  private validate(): void {
    const problems = keepFieldsWithProblems({
      message: this.message.trim() === '' ? ["can't be blank"] : [],
      font: this.font === null || COLOUR.test(this.font) ? [] : ['must be a valid color code'],
      target_path: lengthProblems(this.targetPath ?? '', LONGEST_TARGET_PATH),
    });
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
  }
}
