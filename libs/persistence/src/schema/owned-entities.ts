import 'reflect-metadata';
import type { DynamicModule, Type } from '@nestjs/common';
import { MODULE_METADATA } from '@nestjs/common/constants';

const OWNED = Symbol('entities of a wing');

/**
 * Decorator for the module of a wing: the entities of the tables whose rows only that wing writes. There is no other
 * list: the entities of a service are those of its modules (`entitiesOfModuleTree`).
 */
export function Owns(...entities: readonly Type[]): ClassDecorator {
  return (module) => Reflect.defineMetadata(OWNED, entities, module);
}

/** The entities of a module and of all modules that it imports, each once. */
export function entitiesOfModuleTree(module: Type): readonly Type[] {
  const seen = new Set<unknown>();
  const owned = (one: Type | DynamicModule): readonly Type[] => {
    const wing = 'module' in one ? one.module : one;
    if (seen.has(wing)) return [];
    seen.add(wing);
    const imports = (Reflect.getMetadata(MODULE_METADATA.IMPORTS, wing) ?? []) as readonly (Type | DynamicModule)[];
    return [...((Reflect.getMetadata(OWNED, wing) ?? []) as readonly Type[]), ...imports.flatMap(owned)];
  };
  return [...new Set(owned(module))];
}
