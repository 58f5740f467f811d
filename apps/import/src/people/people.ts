import { Injectable } from '@nestjs/common';
import { INTERNAL_PATHS, MAX_IMPORTED_PEOPLE } from '@rookery/contracts';
import type { ImportedOwner, ImportPeopleAnswer, ImportPeopleRequest, UpstreamPerson } from '@rookery/contracts';
import { InternalRoutes } from '@rookery/platform';
import type { InternalRouteClient } from '@rookery/platform';

/** Maximum wait for an answer, which may have to create all accounts. Units: ms. */
const MAX_WAIT_MS = 60_000;

/** Finds the owner of an object by its upstream author. */
export type OwnerOf = (person: UpstreamPerson) => ImportedOwner;

/** Finds the accounts that own objects of upstream users. Source: reference identity-and-import 6.7. */
@Injectable()
export class ImportPeopleClient {
  private readonly route: InternalRouteClient<ImportPeopleRequest, ImportPeopleAnswer>;

  constructor(routes: InternalRoutes) {
    const limits = { connections: 2, maxWaitMs: MAX_WAIT_MS };
    this.route = routes.createClient('identity', INTERNAL_PATHS.importPeople, limits);
  }

  /** Returns the local owner for each person. Errors: a plain Error if identity does not answer or find the import. */
  async findOwners(importKey: string, host: string, people: readonly UpstreamPerson[]): Promise<OwnerOf> {
    const distinct = [...new Map(people.map((person) => [person.id, person])).values()];
    const owners = new Map<number | null, ImportedOwner>();
    for (let at = 0; at < distinct.length; at += MAX_IMPORTED_PEOPLE) {
      const asked = distinct.slice(at, at + MAX_IMPORTED_PEOPLE);
      const answer = await this.route.ask({ import_key: importKey, host, people: asked });
      if (!answer.owners) throw new Error('identity has no project of the import');
      asked.forEach(({ id }, index) => owners.set(id, answer.owners![index]!));
    }
    return ({ id }) => owners.get(id)!;
  }
}
