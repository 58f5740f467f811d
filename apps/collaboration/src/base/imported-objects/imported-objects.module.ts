import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { attachedImportedObjects, ImportedObject } from './imported-object.entity';

/** Upstream ids of imported objects, by which a repeated import finds them. */
@Owns(ImportedObject)
@Attaches(attachedImportedObjects)
@Module({})
export class ImportedObjectsModule {}
