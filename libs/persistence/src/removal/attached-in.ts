import 'reflect-metadata';
import type { DynamicModule, Type } from '@nestjs/common';
import { MODULE_METADATA } from '@nestjs/common/constants';
import { runningProcess } from '@rookery/platform';
import { declaredAttachments } from './attached-to';
import type { AttachedTable } from './attached-to';

const ATTACHED = Symbol('attachments of a wing');

/** Names the attachments of a wing above its module. A service finds them through its modules (`attachedTablesIn`). */
export function Attaches(...attachments: readonly AttachedTable<never>[]): ClassDecorator {
  return (module) => Reflect.defineMetadata(ATTACHED, attachments, module);
}

/**
 * The attachments of a module and of all modules that it imports, each once. Those of imported modules come first: so
 * rows that others refer to are removed last.
 */
export function attachedTablesIn<K>(module: Type): readonly AttachedTable<K>[] {
  const seen = new Set<unknown>();
  const found = (one: Type | DynamicModule): readonly AttachedTable<K>[] => {
    const wing = 'module' in one ? one.module : one;
    if (seen.has(wing)) return [];
    seen.add(wing);
    const imports = (Reflect.getMetadata(MODULE_METADATA.IMPORTS, wing) ?? []) as readonly (Type | DynamicModule)[];
    return [...imports.flatMap(found), ...((Reflect.getMetadata(ATTACHED, wing) ?? []) as readonly AttachedTable<K>[])];
  };
  return [...new Set(found(module))];
}

/**
 * Refuses attachments that no module of this service names. Does nothing if the process contains several services,
 * because the attachments of the others are loaded, too. Separate processes and the specs do the check.
 * Errors: a plain Error if an attachment is loaded but not named: its rows would never be removed.
 */
export function refuseUnreachableAttachments(reachable: readonly AttachedTable<never>[]): void {
  if (runningProcess()) return;
  const found = new Set<unknown>(reachable);
  const missing = declaredAttachments().filter((one) => !found.has(one));
  if (missing.length === 0) return;
  const tables = missing.map(({ table }) => table).join(', ');
  throw new Error(`no module of this service names the attachments of ${tables}: add them to @Attaches of their wing`);
}
