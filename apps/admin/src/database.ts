import { directoryMigrations } from '@rookery/directory';
import type { MigrationClass } from '@rookery/persistence';
import { BroadcastMessage } from './broadcast-messages/broadcast-message.entity';
import { CreateBroadcastMessages1767225600000 } from './migrations/1767225600000-create-broadcast-messages';

export const entities = [BroadcastMessage];

export const migrations: readonly MigrationClass[] = [...directoryMigrations, CreateBroadcastMessages1767225600000];
