import { Module } from '@nestjs/common';
import { NamedPeople } from './named-people';

/** What Markdown says: the people and groups that it names, and the boxes of its lists. */
@Module({ providers: [NamedPeople], exports: [NamedPeople] })
export class MentionsModule {}
