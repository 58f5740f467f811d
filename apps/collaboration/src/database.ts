import { directoryMigrations } from '@rookery/directory';
import type { MigrationClass } from '@rookery/persistence';
import { plumbingMigrations } from '@rookery/persistence';
import { Issue, IssueAssignee } from './issues/issue.entity';
import { CreateIssues1767225600000 } from './migrations/1767225600000-create-issues';
import { CreateNotes1767225700000 } from './migrations/1767225700000-create-notes';
import { CreateTodos1767225820000 } from './migrations/1767225820000-create-todos';
import { CreateActivityEvents1767225820001 } from './migrations/1767225820001-create-activity-events';
import { CreateMails1767225820002 } from './migrations/1767225820002-create-mails';
import { CreateUserDepartures1767225830024 } from './migrations/1767225830024-create-user-departures';
import { CreateAccountMails1767225830022 } from './migrations/1767225830022-create-account-mails';
import { Note } from './notes/note.entity';

/** Every entity of the service, by name. */
export const entities = [Issue, IssueAssignee, Note];

/** Every migration of the service, in order. */
export const migrations: readonly MigrationClass[] = [
  ...plumbingMigrations,
  ...directoryMigrations,
  CreateIssues1767225600000,
  CreateNotes1767225700000,
  CreateTodos1767225820000,
  CreateActivityEvents1767225820001,
  CreateMails1767225820002,
  CreateAccountMails1767225830022,
  CreateUserDepartures1767225830024,
];
