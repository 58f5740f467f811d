import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { NoteableFinders } from './noteable-finders';
import { NoteableKinds, noteables } from './noteable-kinds';
import type { NoteableKind } from './noteable-kinds';
import { UserAgentDetailsQueries } from './user-agent-details.queries';

/** Noteables: the kinds, their read permissions, and the texts that effects read. */
@Module({})
export class NoteablesModule {
  static forRoot(kinds: readonly NoteableKind[]): DynamicModule {
    const families = (Object.keys(noteables) as (keyof typeof noteables)[]).map((verb) => ({
      provide: noteables[verb].token,
      useValue: kinds.flatMap(({ events }) => events[verb] ?? []),
    }));
    return {
      module: NoteablesModule,
      global: true,
      providers: [
        { provide: NoteableKinds, useValue: new NoteableKinds(kinds) },
        NoteableFinders,
        UserAgentDetailsQueries,
        ...families,
      ],
      exports: [NoteableKinds, NoteableFinders, UserAgentDetailsQueries, ...families.map(({ provide }) => provide)],
    };
  }
}
