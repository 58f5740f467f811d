import { Injectable } from '@nestjs/common';
import type { ImportedKind, ImportedObject, UnimportedObject } from '@rookery/contracts';
import type { ProjectFacts } from '@rookery/directory';
import type { Tx } from '@rookery/persistence';

/** Objects of one kind that an import sends. `importType` is the kind of the upstream host. */
export interface ReceivedObjects<K extends ImportedKind = ImportedKind> {
  readonly importType: string;
  readonly objects: readonly ImportedObject<K>[];
}

/** Objects that are ready to be written. `write` returns the skipped objects. `finish` runs after the commit. */
export interface PreparedObjects {
  write(tx: Tx, project: ProjectFacts): Promise<readonly UnimportedObject[]>;
  finish?(): Promise<void>;
}

/** Imports objects of one kind. `prepare` reads the git repository before the transaction that writes the objects. */
export interface ObjectImporter<K extends ImportedKind = ImportedKind> {
  prepare(project: ProjectFacts, sent: ReceivedObjects<K>): Promise<PreparedObjects>;
}

/** Importers that wings declare for their kinds of objects. */
@Injectable()
export class ObjectImporters {
  private readonly importers = new Map<ImportedKind, ObjectImporter>();

  /** Adds the importer of a kind at start-up. */
  declare<K extends ImportedKind>(kind: K, importer: ObjectImporter<K>): void {
    this.importers.set(kind, importer as unknown as ObjectImporter);
  }

  /** Returns the importer of a kind, or null for a kind without one. */
  findImporter(kind: ImportedKind): ObjectImporter | null {
    return this.importers.get(kind) ?? null;
  }
}
