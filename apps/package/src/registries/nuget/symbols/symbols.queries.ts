import { Injectable } from '@nestjs/common';
import { NotFound } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { INSTALLABLE_STATUSES, literalListSql } from '../../../packages/package-types';
import { createNugetPlaceStatement, NugetPlaces } from '../nuget-places';
import type { NugetPlace } from '../nuget-places';

/** A file of symbols. `sha256` and `size` are those of its archive, `symbol_size` that of the inflated file. */
export interface SymbolRow {
  readonly sha256: string;
  readonly size: number;
  readonly created_at: Date;
  readonly entry_name: string;
  readonly signature: string;
  readonly symbol_size: number;
}

/** A request of a debugger. `name` and `signature` are in lower case. */
export interface SymbolQuery {
  readonly name: string;
  readonly signature: string;
  readonly checksums: readonly string[];
}

const SYMBOL = createNugetPlaceStatement<SymbolQuery, SymbolRow>(
  'symbol',
  (scope) =>
    `select f.sha256, f.size, f.created_at, s.entry_name, s.signature, s.size as symbol_size
     from ${scope}
     join nuget_symbols s on s.project_id = scope.id and s.signature = :signature and s.name_key = :name
       and s.checksum = any(:checksums::text[])
     join package_files f on f.id = s.file_id and not f.is_pending_destruction
     join packages p on p.id = f.package_id and p.status in (${literalListSql(INSTALLABLE_STATUSES)})
     order by s.file_id desc limit 1`,
);

/** Files of symbols of a project, or of the projects in a group whose packages the viewer may read. */
@Injectable()
export class SymbolsQueries {
  constructor(private readonly places: NugetPlaces) {}

  /** The newest file with this name, signature and one of the checksums. Errors: NotFound. */
  async show(place: NugetPlace, viewer: Viewer, asked: SymbolQuery): Promise<SymbolRow> {
    const [found] = await this.places.readRows(SYMBOL, place, viewer, asked);
    if (!found) throw new NotFound('Symbol');
    return found;
  }
}
