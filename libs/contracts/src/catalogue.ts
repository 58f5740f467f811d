import * as admin from './admin.events';
import * as collaboration from './collaboration.events';
import type { EventDefinition } from './event';
import * as identity from './identity.events';
import * as packages from './package.events';

/** Every event of the platform, by subject. The samples, the AsyncAPI document and docs/events.md derive from it. */
export const EVENTS: ReadonlyMap<string, EventDefinition> = new Map(
  [identity, collaboration, packages, admin]
    .flatMap((module) => Object.values(module))
    .filter((value): value is EventDefinition & { of: never } => typeof value === 'object' && 'subject' in value)
    .map((definition) => [definition.subject, definition as EventDefinition]),
);
