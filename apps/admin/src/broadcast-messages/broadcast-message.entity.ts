import { Invalid } from '@rookery/kernel';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

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

/** Roles that a message may be meant for. Source: requirements 3 §4 Broadcast messages. */
export const TARGET_ACCESS_LEVELS = [10, 15, 20, 30, 40, 50] as const;

const HOUR_MS = 3_600_000;
const COLOUR = /^#(?:[0-9a-f]{3}){1,2}$/i;

/** What an administrator may say of a message; what is left out keeps its value, or has its default on creation. */
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

/** A banner or notification for everybody on the instance. Source: requirements 3 §2 Broadcast message. */
@Entity('broadcast_messages')
export class BroadcastMessage {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'BY DEFAULT' })
  id: number;

  @Column({ type: 'text' })
  message: string;

  @Column({ name: 'starts_at', type: 'timestamptz' })
  startsAt: Date;

  @Column({ name: 'ends_at', type: 'timestamptz' })
  endsAt: Date;

  /** Foreground colour. */
  @Column({ type: 'text', nullable: true })
  font: string | null;

  @Column({ name: 'target_access_levels', type: 'int', array: true })
  targetAccessLevels: number[];

  @Column({ name: 'target_path', type: 'text', nullable: true })
  targetPath: string | null;

  @Column({ name: 'broadcast_type', type: 'text' })
  broadcastType: BroadcastType;

  @Column({ type: 'text' })
  theme: Theme;

  @Column({ type: 'boolean' })
  dismissable: boolean;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Date;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt: Date;

  /** A new message: from now, for an hour, as a banner for everybody, unless the input says otherwise. */
  static write(input: BroadcastMessageInput, now: Date): BroadcastMessage {
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

  /** Errors: Invalid when the text is blank or the font is no colour. */
  change(input: BroadcastMessageInput, now: Date): void {
    this.message = input.message ?? this.message;
    this.startsAt = input.starts_at ?? this.startsAt;
    this.endsAt = input.ends_at ?? this.endsAt;
    this.font = input.font === undefined ? this.font : input.font || null;
    this.targetAccessLevels = [...(input.target_access_levels ?? this.targetAccessLevels)];
    this.targetPath = input.target_path === undefined ? this.targetPath : input.target_path;
    this.broadcastType = input.broadcast_type ?? this.broadcastType;
    this.theme = input.theme ?? this.theme;
    this.dismissable = input.dismissable ?? this.dismissable;
    this.updatedAt = now;
    this.validate();
  }

  /** Between its two instants; one that ends before it starts is never active. */
  isActive(now: Date): boolean {
    return this.startsAt <= now && now < this.endsAt;
  }

  private validate(): void {
    const problems: Record<string, string[]> = {};
    if (this.message.trim() === '') problems['message'] = ["can't be blank"];
    if (this.font !== null && !COLOUR.test(this.font)) problems['font'] = ['must be a valid color code'];
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
  }
}
