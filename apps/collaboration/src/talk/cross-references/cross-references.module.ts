import { Module } from '@nestjs/common';
import { NotesModule } from '../notes/notes.module';
import { CrossReferences } from './cross-references';
import { CrossReferencesConsumer } from './cross-references.consumer';

/** Cross-references: system notes on noteables that other texts or commits refer to. */
@Module({
  imports: [NotesModule],
  controllers: [CrossReferencesConsumer],
  providers: [CrossReferences],
  exports: [CrossReferences],
})
export class CrossReferencesModule {}
