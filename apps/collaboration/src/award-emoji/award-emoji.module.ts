import { Module } from '@nestjs/common';
import { NotesModule } from '../notes/notes.module';
import { AwardEmojiService } from './award-emoji.service';
import { AwardRemovalConsumer } from './award-removal.consumer';

/** Emoji that people give to things of every kind and to notes on them. */
@Module({
  imports: [NotesModule],
  controllers: [AwardRemovalConsumer],
  providers: [AwardEmojiService],
  exports: [AwardEmojiService],
})
export class AwardEmojiModule {}
