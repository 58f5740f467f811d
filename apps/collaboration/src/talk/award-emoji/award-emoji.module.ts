import { Module } from '@nestjs/common';
import { Attaches, Owns } from '@rookery/persistence';
import { MentionsModule } from '../mentions/mentions.module';
import { NotesModule } from '../notes/notes.module';
import { AwardQuickActions } from './award-quick-actions';
import { AwardEmoji } from './award-emoji.entity';
import { AwardEmojiService } from './award-emoji.service';
import { AwardRemovalConsumer } from './award-removal.consumer';
import { attachedAwards } from './award-removal';

/** Emoji on noteables of every kind and on their notes. */
@Owns(AwardEmoji)
@Attaches(attachedAwards)
@Module({
  imports: [MentionsModule, NotesModule],
  controllers: [AwardRemovalConsumer],
  providers: [AwardQuickActions, AwardEmojiService],
  exports: [AwardEmojiService],
})
export class AwardEmojiModule {}
