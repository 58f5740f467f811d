import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { ObjectImporters } from './object-importers';
import { attachedImportedObjects, ImportedObject } from './imported-object.entity';

/** Upstream ids of imported objects, by which a repeated import finds them, and the importers of their kinds. */
@Owns(ImportedObject)
@Attaches(attachedImportedObjects)
@Module({ providers: [ObjectImporters], exports: [ObjectImporters] })
export class ImportedObjectsModule {}
