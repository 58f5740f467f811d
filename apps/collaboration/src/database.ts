import { directoryMigrations } from '@rookery/directory';
import { instanceMigrations } from '@rookery/instance';
import { jobMigrations } from '@rookery/jobs';
import type { MigrationClass } from '@rookery/persistence';
import { plumbingMigrations } from '@rookery/persistence';
import { ActivityEvent } from './activity/activity-event.entity';
import { AwardEmoji } from './award-emoji/award-emoji.entity';
import { IssueCount } from './issues/counting/issue-count.entity';
import { Issue, IssueAssignee } from './issues/issue.entity';
import { Label, LabelLink, LabelPriority, LabelSubscription } from './labels/label.entity';
import { ResourceLabelEvent } from './labels/labelling/label-event.entity';
import { CreateIssues1767225600000 } from './migrations/1767225600000-create-issues';
import { CreateNotes1767225700000 } from './migrations/1767225700000-create-notes';
import { CreateTodos1767225820000 } from './migrations/1767225820000-create-todos';
import { CreateActivityEvents1767225820001 } from './migrations/1767225820001-create-activity-events';
import { CreateMails1767225820002 } from './migrations/1767225820002-create-mails';
import { CreateUserDepartures1767225830024 } from './migrations/1767225830024-create-user-departures';
import { CreateAccountMails1767225830022 } from './migrations/1767225830022-create-account-mails';
import { GeneralizeNamedMails1767225830025 } from './migrations/1767225830025-generalize-named-mails';
import { CreateLabels1767225830100 } from './migrations/1767225830100-create-labels';
import { CreateResourceLabelEvents1767225830101 } from './migrations/1767225830101-create-resource-label-events';
import { AddThreadsToNotes1767225830200 } from './migrations/1767225830200-add-threads-to-notes';
import { CreateAwardEmoji1767225830201 } from './migrations/1767225830201-create-award-emoji';
import { CreateSubscriptions1767225830202 } from './migrations/1767225830202-create-subscriptions';
import { CreateIssueCounts1767225840010 } from './migrations/1767225840010-create-issue-counts';
import { CreateMilestones1767225850000 } from './migrations/1767225850000-create-milestones';
import { ResourceMilestoneEvent } from './milestones/assigning/milestone-event.entity';
import { Milestone } from './milestones/milestone.entity';
import { Note, NoteCreation } from './notes/note.entity';
import { AccountMail } from './notifications/account-mails/account-mail.entity';
import { Mail, MailAllowance, NotificationSetting, Participant } from './notifications/mail.entity';
import { UserDeparture } from './removal/user-departure.entity';
import { Subscription } from './subscriptions/subscription.entity';
import { Todo } from './todos/todo.entity';

/** Every entity of the service, by name. */
export const entities = [
  AccountMail,
  ActivityEvent,
  AwardEmoji,
  Issue,
  IssueAssignee,
  IssueCount,
  Label,
  LabelLink,
  LabelPriority,
  LabelSubscription,
  Mail,
  MailAllowance,
  Milestone,
  Note,
  NoteCreation,
  NotificationSetting,
  Participant,
  ResourceLabelEvent,
  ResourceMilestoneEvent,
  Subscription,
  Todo,
  UserDeparture,
];

/** Every migration of the service, in order. */
export const migrations: readonly MigrationClass[] = [
  ...plumbingMigrations,
  ...directoryMigrations,
  ...jobMigrations,
  ...instanceMigrations,
  CreateIssues1767225600000,
  CreateNotes1767225700000,
  CreateTodos1767225820000,
  CreateActivityEvents1767225820001,
  CreateMails1767225820002,
  CreateAccountMails1767225830022,
  CreateUserDepartures1767225830024,
  GeneralizeNamedMails1767225830025,
  CreateLabels1767225830100,
  CreateResourceLabelEvents1767225830101,
  AddThreadsToNotes1767225830200,
  CreateAwardEmoji1767225830201,
  CreateSubscriptions1767225830202,
  CreateIssueCounts1767225840010,
  CreateMilestones1767225850000,
];
