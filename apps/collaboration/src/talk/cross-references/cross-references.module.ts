import { Module } from '@nestjs/common';
import { NotesModule } from '../notes/notes.module';
import { CrossReferences } from './cross-references';
import { CrossReferencesConsumer } from './cross-references.consumer';

/** That things name each other: written on the one that was named. */
@Module({
  imports: [NotesModule],
  controllers: [CrossReferencesConsumer],
  providers: [CrossReferences],
})
export class CrossReferencesModule {}
